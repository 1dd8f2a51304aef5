"""Declare routes: their handlers, and their entries in the OpenAPI document."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias, TypeVar, get_args, get_type_hints

from pydantic import BaseModel, TypeAdapter
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

Endpoint: TypeAlias = Callable[..., Awaitable[Any]]
Handler: TypeAlias = Callable[[Request], Awaitable[Response]]
Function = TypeVar("Function", bound=Endpoint)
Responses: TypeAlias = dict[int | str, dict[str, Any]]
WRITES = "writes"
REF_TEMPLATE = "#/components/schemas/{model}"


@dataclass(frozen=True, slots=True)
class Route:
    """A declared route. `openapi_options` are for the document, in FastAPI's terms."""

    path: str
    methods: Sequence[str]
    endpoint: Endpoint
    handle: Handler
    openapi_options: Mapping[str, Any]


class Routes:
    """A group of routes, declared as with FastAPI.

    FastAPI itself only generates the document, before a release (`make docs`). The server does not
    import it: with its validators for every body and response it took a third of the startup.
    """

    def __init__(
        self,
        serve: Callable[[Endpoint], Handler],
        *,
        prefix: str = "",
        in_document: bool = True,
        **options: Any,
    ) -> None:
        self._serve = serve
        self._prefix = prefix
        self.in_document = in_document
        self.router_options = options
        self.declared: list[Route] = []

    def get(self, path: str, **options: Any) -> Callable[[Function], Function]:
        return self.api_route(("GET",), path, **options)

    def post(self, path: str, **options: Any) -> Callable[[Function], Function]:
        return self.api_route(("POST",), path, **options)

    def put(self, path: str, **options: Any) -> Callable[[Function], Function]:
        return self.api_route(("PUT",), path, **options)

    def delete(self, path: str, **options: Any) -> Callable[[Function], Function]:
        return self.api_route(("DELETE",), path, **options)

    def api_route(
        self, methods: Sequence[str], path: str, **options: Any
    ) -> Callable[[Function], Function]:
        """Declare a route; `answers` is the model inside the envelope of its response."""

        def declare(endpoint: Function) -> Function:
            handle = self._serve(endpoint)
            self.declared.append(Route(self._prefix + path, methods, endpoint, handle, options))
            return endpoint

        return declare


def routes_by_path(routes: Iterable[Route]) -> dict[str, dict[str, Route]]:
    """Group routes by path and method; several routes may share a path."""
    found: dict[str, dict[str, Route]] = {}
    for route in routes:
        found.setdefault(route.path, {}).update(dict.fromkeys(route.methods, route))
    return found


def request_path(scope: Scope) -> str:
    """Return the path of a request, without the mount path."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def plain_endpoint(endpoint: Endpoint) -> Handler:
    """Serve `async def route(request)` as it is."""
    return endpoint


@dataclass(frozen=True, slots=True)
class EndpointParameters:
    """The parameters of a route: `body`, `query` (the query string), path parameters."""

    names: frozenset[str]
    models: Mapping[str, TypeAdapter[Any]]
    writes: bool


@cache
def endpoint_parameters(endpoint: Endpoint) -> EndpointParameters:
    """Parse a route's signature, at its first call or during warm-up."""
    hints = get_type_hints(endpoint, include_extras=True)
    models = {name: TypeAdapter(hints[name]) for name in hints if name in ("body", "query")}
    return EndpointParameters(frozenset(hints), models, WRITES in get_args(hints.get("call")))


def error_responses(model: type[BaseModel], statuses: Iterable[int]) -> Responses:
    """Return the error responses of routes; the document needs `model` among its `failures`."""
    schema = {"$ref": REF_TEMPLATE.format(model=model.__name__)}
    return {status: {"content": {"application/json": {"schema": schema}}} for status in statuses}
