"""The examples as a file for REST clients (VS Code's REST Client, JetBrains' HTTP client)."""

from __future__ import annotations

import json

from docs.requests import REQUESTS, Example

_HEAD = """# Plastic Memories by example. Written by `make docs` from docs/requests.py; a test sends
# every request below, in order, to an empty hub, and checks what each says under "expect".
#
#   PLASTIC_MEMORIES_API_KEYS=devkey:userA plastic-memories serve
#
# In VS Code: install the extension "REST Client" and click "Send Request" above each one.

@BASE_URL = http://127.0.0.1:8007
"""


def page() -> str:
    """Return the whole file."""
    return _HEAD + "".join(f"\n{_written(example)}\n" for example in REQUESTS)


def _written(example: Example) -> str:
    lines = [f"### {example.title}"]
    lines += [f"# expect: {wanted}" for wanted in example.expect]
    lines.append(f"{example.method} {{{{BASE_URL}}}}{example.path}")
    lines += [f"{name}: {value}" for name, value in example.headers.items()]
    if example.body is not None:
        lines += ["", _body(example.body)]
    return "\n".join(lines)


def _body(body: object) -> str:
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, indent=2)
