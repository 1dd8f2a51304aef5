"""Serve the pages of the console: our own files only, under a strict policy."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from plastic_memories.errors import NotFound
from plastic_memories.http.routing import Routes, plain_endpoint

router = Routes(plain_endpoint, in_document=False)
_MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}
# Trusted types forbid what turns text into markup: a memory can never become a script.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    # Asked again each time, and sent only if it has changed.
    "Cache-Control": "no-cache",
}


@dataclass(frozen=True, slots=True)
class Asset:
    content: bytes
    media_type: str
    etag: str


@cache
def assets() -> Mapping[str, Asset]:
    """Return every file of the console by its path: a path outside is not among them."""
    return dict(_walk(files(__package__).joinpath("static"), ""))


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, Asset]]:
    found: list[tuple[str, Asset]] = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _walk(entry, f"{prefix}{entry.name}/")
        elif (suffix := entry.name.rpartition(".")[2]) in _MEDIA_TYPES:
            content = entry.read_bytes()
            etag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
            found.append((prefix + entry.name, Asset(content, _MEDIA_TYPES[suffix], etag)))
    return found


@router.get("/console")
async def page(request: Request) -> Response:
    """Show the console."""
    return _asset_response(request, "index.html")


@router.get("/console/")
async def with_slash(_request: Request) -> Response:
    return RedirectResponse("/console", 308)


@router.get("/console/static/{path:path}")
async def asset(request: Request) -> Response:
    return _asset_response(request, request.path_params["path"])


def _asset_response(request: Request, path: str) -> Response:
    found = assets().get(path)
    if found is None:
        raise NotFound("There is no such file.")
    headers = {**_HEADERS, "ETag": found.etag}
    if request.headers.get("if-none-match") == found.etag:
        return Response(status_code=304, headers=headers)
    return Response(found.content, media_type=found.media_type, headers=headers)
