"""Where the hub of this machine is found."""

from __future__ import annotations

from urllib.parse import urlsplit

from plastic_memories.settings import Settings

_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - where a server listens


def hub_address(settings: Settings) -> str:
    """Return where the hub of these settings would be, seen from this machine."""
    host = _ANY_ADDRESS.get(settings.host, settings.host)
    return f"http://[{host}]:{settings.port}" if ":" in host else f"http://{host}:{settings.port}"


def is_local(url: str) -> bool:
    """Return whether an address is on this machine.

    >>> is_local("http://localhost:8007"), is_local("https://hub.example.org")
    (True, False)
    """
    return (urlsplit(url).hostname or "") in ("127.0.0.1", "::1", "localhost")
