"""The OpenAPI document as the package ships it: `make docs` writes it from the declarations."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse


def show_document(request: Request) -> JSONResponse:
    """Answer with the document, for the version that runs and the path it is mounted under."""
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
