"""The address of the hub on this machine."""

from __future__ import annotations

from urllib.parse import urlsplit

from plastic_memories.settings import Settings

_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - where a server listens


def hub_address(settings: Settings) -> str:
    """Return the address of the hub with these settings, as seen from this machine."""
    host = _ANY_ADDRESS.get(settings.host, settings.host)
    return f"http://[{host}]:{settings.port}" if ":" in host else f"http://{host}:{settings.port}"


def is_local(url: str) -> bool:
    """Return whether a URL points to this machine.

    >>> is_local("http://localhost:8007"), is_local("https://hub.example.org")
    (True, False)
    """
    return (urlsplit(url).hostname or "") in ("127.0.0.1", "::1", "localhost")
