"""Validate the metadata and attributes of callers: JSON that every database can store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from plastic_memories.language.text.lazy_regex import regex

MAX_METADATA_BYTES = 4096
MAX_ATTRIBUTES_BYTES = 16384
NAME_PATTERN = r"^[^\x00-\x1f\x7f]{0,500}$"
_NAME = regex(NAME_PATTERN)


def check_json_object(value: Mapping[str, Any], limit: int) -> None:
    """Raise `ValueError` for JSON that is too large, too deep, not finite, or not valid text."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        size = len(text.encode())
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("holds half a character") from None
    except (TypeError, ValueError):
        raise ValueError("must be an object of plain JSON") from None
    if size > limit:
        raise ValueError(f"must be at most {limit} bytes of JSON")
    if "\\u0000" in text:
        raise ValueError("holds a null character")
    if not all(_NAME.match(name) for name in value):
        raise ValueError("has a name that is too long, or holds control characters")
