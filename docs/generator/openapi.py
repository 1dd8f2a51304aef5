"""The OpenAPI document: what was declared, told by FastAPI, and what it cannot know.

The package ships what this writes; a server needs neither FastAPI nor this module.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable
from functools import cache
from inspect import Parameter, Signature
from typing import Annotated, Any, get_type_hints

from fastapi import APIRouter, Query
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema
from starlette.routing import BaseRoute

from plastic_memories import __version__
from plastic_memories.http.app import ROUTERS
from plastic_memories.http.doors.openai.chat_routes import OpenAIErrorEnvelope
from plastic_memories.http.routing import REF_TEMPLATE, Endpoint, Routes
from plastic_memories.wire.envelope import ErrorEnvelope, SuccessEnvelope

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


def page() -> str:
    """Return the document as the package ships it."""
    return json.dumps(openapi(), ensure_ascii=False, indent=1) + "\n"


@cache
def openapi() -> dict[str, Any]:
    """Return the document, with which routes need a key, and what failures look like."""
    with warnings.catch_warnings():
        # FastAPI hushes Pydantic where it makes a checker; ours are made later, when it uses them.
        warnings.simplefilter("ignore", UserWarning)
        schema = get_openapi(
            title="Plastic Memories",
            version=__version__,
            summary="The memory every AI companion plugs into.",
            routes=_described(ROUTERS),
        )
    _, more = models_json_schema(
        [(model, "serialization") for model in (ErrorEnvelope, OpenAIErrorEnvelope)],
        ref_template=REF_TEMPLATE,
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


def _described(routers: Iterable[Routes]) -> list[BaseRoute]:
    """Declare to FastAPI what was declared to us."""
    found: list[BaseRoute] = []
    for routes in routers:
        router = APIRouter(**routes.router_options)
        for one in routes.declared if routes.in_document else ():
            options = dict(one.openapi_options)
            if answers := options.pop("answers", None):
                options["response_model"] = SuccessEnvelope.__class_getitem__(answers)
            stand_in = _stand_in(one.endpoint)
            router.add_api_route(one.path, stand_in, methods=list(one.methods), **options)
        found += router.routes
    return found


def _stand_in(endpoint: Endpoint) -> Endpoint:
    """Return a function of the same name and words that takes only what the document shows."""
    hints = get_type_hints(endpoint, include_extras=True)
    if "query" in hints:
        hints["query"] = Annotated[hints.pop("query"), Query()]

    async def stand_in() -> None:
        """Nobody calls it."""

    shown = [
        Parameter(name, Parameter.KEYWORD_ONLY, annotation=hints[name])
        for name in ("body", "query")
        if name in hints
    ]
    stand_in.__name__, stand_in.__doc__ = endpoint.__name__, endpoint.__doc__
    stand_in.__signature__ = Signature(shown)  # type: ignore[attr-defined]
    return stand_in
