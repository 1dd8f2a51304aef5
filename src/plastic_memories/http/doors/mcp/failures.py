"""Error texts for a model: what went wrong, and what to do next."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from plastic_memories.errors import PlasticMemoriesError

_NEXT_STEPS = {
    "conflict_requires_supersedes": (
        "Ask the user which one holds. Then call confirm again with supersedes_id set to "
        "active_memory_id, or with coexist=true for preferences and constraints."
    ),
    "expired": "It has expired: call remember to store it again, if the user still wants it.",
    "not_found": "Call list or recall to see the ids there are.",
    "forbidden": "Tell the user that this key is restricted; another key is needed for this.",
    "judge_deny": "Do not store it. If it matters, remember it without the secret part.",
    "rate_limited": "Wait, then try again.",
    "unavailable": "Go on without it, and try again later.",
    "validation_error": "Correct the arguments and call again.",
}


def error_text(error: PlasticMemoriesError) -> str:
    """Return an error with its next step and its detail."""
    lines = [f"{error.message} ({error.code})", _NEXT_STEPS.get(error.code, "")]
    if error.detail is not None:
        lines.append(json.dumps(error.detail, ensure_ascii=False, default=str))
    return "\n".join(line for line in lines if line)


def argument_error_text(error: ValidationError) -> str:
    """Return which arguments are invalid, without repeating the input."""
    found: list[Any] = error.errors(include_url=False, include_input=False, include_context=False)
    lines = [f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in found]
    return "\n".join(["The arguments do not fit (validation_error):", *lines])
