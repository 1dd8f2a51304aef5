"""The cookie of a signed-in browser: when it is believed, and how it is set."""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import Response

# Sent by the console's own pages. A page of another origin cannot send it without asking first,
# and is never allowed to ask with cookies.
CONSOLE_HEADER = "X-Console"


def cookie_name(headers: Headers) -> str:
    """Return the name of the cookie. Browsers do not keep ports apart, so the name does."""
    try:
        port = urlsplit(f"//{headers.get('host', '')}").port
    except ValueError:
        port = None
    return f"plastic_memories_{port or 'console'}"


def session_secret(headers: Headers) -> str:
    """Return the secret in the cookie of the console's own pages, else an empty text.

    A request needs the console's header, a WebSocket (which can send none) its own origin: no
    other page, not even one of the same host on another port, acts with somebody's cookie.
    """
    text = headers.get("cookie", "")
    if not text or not _is_from_console(headers):
        return ""
    try:
        found = SimpleCookie(text).get(cookie_name(headers))
    except CookieError:
        return ""
    return found.value if found else ""


def _is_from_console(headers: Headers) -> bool:
    origin = headers.get("origin", "")
    if origin and origin.partition("://")[2] != headers.get("host", ""):
        return False
    if headers.get("upgrade", "").lower() == "websocket":
        return bool(origin)
    return CONSOLE_HEADER in headers


def set_session_cookie(
    connection: HTTPConnection, response: Response, secret: str, lifetime_s: float
) -> None:
    """Set the cookie, or take it away if there is no secret; over HTTPS it stays there."""
    response.set_cookie(
        cookie_name(connection.headers),
        secret,
        max_age=int(lifetime_s) if secret else 0,
        path="/",
        secure=connection.url.scheme in ("https", "wss"),
        httponly=True,
        samesite="strict",
    )
