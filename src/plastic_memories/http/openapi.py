"""What the OpenAPI document says beyond what the routes say themselves."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

_KEY = {
    "ApiKey": {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": "`Authorization: Bearer …` and `Authorization: Token …` say the same.",
    },
}
_USER = {
    "name": "X-User-Id",
    "in": "header",
    "required": False,
    "description": "The user an app key acts for; ignored with a user key.",
    "schema": {"type": "string"},
}
_OPEN = {"/", "/docs", "/health"}


def describe(app: FastAPI) -> None:
    """Make the document say which routes need a key."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    # The documented way to extend it.
    app.openapi = document  # type: ignore[method-assign]


def _document(app: FastAPI) -> dict[str, Any]:
    schema = get_openapi(
        title=app.title, version=app.version, summary=app.summary, routes=app.routes
    )
    schema.setdefault("components", {})["securitySchemes"] = _KEY
    for path, operations in schema["paths"].items():
        if path in _OPEN:
            continue
        for operation in operations.values():
            operation["security"] = [{name: []} for name in _KEY]
            operation.setdefault("parameters", []).append(_USER)
    return schema
