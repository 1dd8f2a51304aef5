"""The reference of the errors, from the error tree and the statuses of the front door."""

from __future__ import annotations

import re
from collections.abc import Iterator

from docs.generator.markdown import GENERATED, pages, table
from plastic_memories import errors
from plastic_memories.http.envelope import http_status

_LINE = re.compile(r"[├└]── (\w+)\s+(.+)$")
_INTRODUCTION = """# Errors

A failure has the status of its kind, and a body that never changes its shape:

```json
{"ok": false, "request_id": "…", "error": {"code": "not_found", "message": "…", "detail": null}}
```

Programs look at `code`: it is stable. People read `message`: it may be reworded, and never
repeats a secret. `detail` says more where there is more to say. The Python client raises one
class for each code."""

_DETAIL = {
    "validation_error": "list of {loc, msg, type}; what was sent is not repeated",
    "judge_deny": (
        "{reason, category}: `credential`, `payment`, `gov_id`, `contact`, `empty` or `loop`"
    ),
    "conflict_requires_supersedes": (
        "{type, active_memory_id, active_content, candidate_content}: confirm again with "
        "`supersedes_id` set to the active one"
    ),
    "payload_too_large": "{limit}, in bytes",
    "rate_limited": "{seconds}, and the header `Retry-After`",
    "unauthorized": "header `WWW-Authenticate: Bearer`; decided before the body is looked at",
    "method_not_allowed": "header `Allow`",
    "invalid_setting": "never sent: it stops the start with one line, exit status 1",
}

_ELSEWHERE = """## Elsewhere

- **Command line:** one line on standard error that ends in the code, exit status 1; 2 for a
  command line that was not understood.
- **`WS /ws/events`** closes with 4400 (bad request), 4401 (no key, or a wrong one), 4403 (not
  allowed), 4408 (the listener was too slow; come back with `resume_from`), 4429 (too many
  sockets or wrong keys), 4503 (events are switched off or the storage is down), 1011 (anything
  else).
- **Recall** does not fail because a part of it fails: the answer names the part in `degraded`."""


def page() -> str:
    """Return the whole page."""
    rows = sorted(_rows(), key=lambda row: (row[0] == "start", row[0], row[1]))
    return pages(
        GENERATED, _INTRODUCTION, table(["status", "code", "when", "detail"], rows), _ELSEWHERE
    )


def _rows() -> Iterator[list[str]]:
    for name, when in meanings().items():
        kind = getattr(errors, name)
        status = "start" if kind is errors.InvalidSetting else str(http_status(kind))
        yield [status, f"`{kind.code}`", when, _DETAIL.get(kind.code, "")]


def meanings() -> dict[str, str]:
    """Return what each class of the tree means, in the words of its docstring."""
    lines = (errors.__doc__ or "").splitlines()
    found = (_LINE.search(line) for line in lines)
    return {match[1]: match[2] for match in found if match}
