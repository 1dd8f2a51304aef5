"""Time zones by name, as users and files give them."""

from __future__ import annotations

from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def zone_or_utc(name: str) -> tzinfo:
    """Return a time zone by its name; one nobody knows is UTC.

    >>> str(zone_or_utc("Asia/Shanghai")), str(zone_or_utc("Nowhere"))
    ('Asia/Shanghai', 'UTC')
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
