"""What the OpenAPI document says beyond what the routes say themselves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.constants import REF_TEMPLATE
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

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
Responses = dict[int | str, dict[str, Any]]


def failing_as(model: type[BaseModel], statuses: Iterable[int]) -> Responses:
    """Say how routes answer when they fail; the document needs `model` among its `failures`.

    Handing the model itself to the framework would make a checker of it for every status of every
    route, a thousand in all, which took a fifth of a server's start.
    """
    schema = {"$ref": REF_TEMPLATE.format(model=model.__name__)}
    return {status: {"content": {"application/json": {"schema": schema}}} for status in statuses}


def describe(app: FastAPI, failures: Iterable[type[BaseModel]]) -> None:
    """Make the document say which routes need a key, and what failures look like."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app, failures)
        return app.openapi_schema

    # The documented way to extend it.
    app.openapi = document  # type: ignore[method-assign]


def _document(app: FastAPI, failures: Iterable[type[BaseModel]]) -> dict[str, Any]:
    schema = get_openapi(
        title=app.title, version=app.version, summary=app.summary, routes=app.routes
    )
    _, more = models_json_schema(
        [(model, "serialization") for model in failures], ref_template=REF_TEMPLATE
    )
    schema["components"]["schemas"] |= more["$defs"]
    schema["components"]["securitySchemes"] = _KEY
    for path, operations in schema["paths"].items():
        if path in _OPEN:
            continue
        for operation in operations.values():
            operation["security"] = [{name: []} for name in _KEY]
            operation.setdefault("parameters", []).append(_USER)
    return schema
