"""Web pages: the landing page and the API reference. They load nothing from other hosts."""

from __future__ import annotations

from importlib.resources import files

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from plastic_memories.http.routing import Routes, plain_endpoint

router = Routes(plain_endpoint, in_document=False)
_MEDIA_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css"}
_POLICY = "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"


def _static_file(name: str) -> Response:
    text = files("plastic_memories.http").joinpath("static", name).read_text(encoding="utf-8")
    kind = _MEDIA_TYPES[name.rsplit(".", 1)[1]]
    return HTMLResponse(text, media_type=kind, headers={"Content-Security-Policy": _POLICY})


@router.get("/")
async def index(_request: Request) -> Response:
    """Show the landing page."""
    return _static_file("index.html")


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
