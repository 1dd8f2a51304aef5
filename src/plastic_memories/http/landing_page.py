"""Web pages: the landing page and the API reference. They load nothing from other hosts."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from ipaddress import ip_address

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from plastic_memories.http.routing import Routes, plain_endpoint

router = Routes(plain_endpoint, in_document=False)
_MEDIA_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
_POLICY = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"


_DEFAULT_ADDRESS = "http://127.0.0.1:8007"
_DEFAULT_KEY_FILE = "~/.plastic_memories/key"


def _static_text(name: str) -> str:
    return files("plastic_memories.http").joinpath("static", name).read_text(encoding="utf-8")


def _static_file(name: str, text: str | None = None) -> Response:
    text = _static_text(name) if text is None else text
    kind = _MEDIA_TYPES[name.rsplit(".", 1)[1]]
    return HTMLResponse(text, media_type=kind, headers={"Content-Security-Policy": _POLICY})


@router.get("/")
async def index(request: Request) -> Response:
    """Show the landing page with the address it was called at."""
    address = f"{request.url.scheme}://{request.url.netloc}"
    text = _static_text("index.html").replace(_DEFAULT_ADDRESS, escape(address))
    if _is_from_this_machine(request):
        text = text.replace(_DEFAULT_KEY_FILE, escape(request.app.state.options.key_file))
    return _static_file("index.html", text)


def _is_from_this_machine(request: Request) -> bool:
    """Return whether the caller may know where files of this machine are."""
    try:
        return request.client is not None and ip_address(request.client.host).is_loopback
    except ValueError:  # a transport without addresses
        return False


@router.get("/docs")
async def docs(_request: Request) -> Response:
    """Show the API reference, rendered from /openapi.json."""
    return _static_file("docs.html")


@router.get("/static/docs.js")
async def script(_request: Request) -> Response:
    return _static_file("docs.js")


@router.get("/static/style.css")
async def style(_request: Request) -> Response:
    return _static_file("style.css")
