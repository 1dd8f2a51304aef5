"""Serve the packaged OpenAPI document, which `make docs` generates from the route declarations."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse


def show_document(request: Request) -> JSONResponse:
    """Return the document with the running version and the mount path."""
    shipped = _shipped_document()
    shown = {**shipped, "info": {**shipped["info"], "version": request.app.state.options.version}}
    if root := request.scope.get("root_path"):
        shown["servers"] = [{"url": root}]
    return JSONResponse(shown)


@cache
def _shipped_document() -> dict[str, Any]:
    file = files("plastic_memories.http").joinpath("static", "openapi.json")
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return document
