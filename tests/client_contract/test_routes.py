"""Both clients send what the contract says."""

from __future__ import annotations

import inspect

import pytest

from client_contract.fake_hub import FakeHub
from client_contract.routes import ROUTES, Route
from plastic_memories_client import AsyncPlasticMemoriesClient, PlasticMemoriesClient

# These are more than one request, or none; they have tests of their own.
ELSEWHERE = {"close", "events", "export_iter", "export_to", "import_", "import_card", "iter_memory"}


def methods(kind: type) -> dict[str, inspect.Signature]:
    found = inspect.getmembers(kind, inspect.isfunction)
    return {name: inspect.signature(m) for name, m in found if not name.startswith("_")}


@pytest.mark.parametrize("route", ROUTES, ids=str)
def test_the_sync_client_sends_what_the_contract_says(
    route: Route, hub: FakeHub, client: PlasticMemoriesClient
) -> None:
    hub.knows(route.method, route.path, {})

    getattr(client, route.name)(*route.args, **route.kwargs)

    assert len(hub.requests) == 1
    assert hub.asked() == route.sent


@pytest.mark.parametrize("route", ROUTES, ids=str)
async def test_the_async_client_sends_what_the_contract_says(
    route: Route, hub: FakeHub, async_client: AsyncPlasticMemoriesClient
) -> None:
    hub.knows(route.method, route.path, {})

    await getattr(async_client, route.name)(*route.args, **route.kwargs)

    assert len(hub.requests) == 1
    assert hub.asked() == route.sent


def test_every_method_has_its_row() -> None:
    assert {route.name for route in ROUTES} | ELSEWHERE == set(methods(PlasticMemoriesClient))


def test_every_sync_method_has_an_async_twin_with_the_same_signature() -> None:
    sync, twin = methods(PlasticMemoriesClient), methods(AsyncPlasticMemoriesClient)

    assert {name: each.parameters for name, each in sync.items()} == {
        name: each.parameters for name, each in twin.items()
    }


def test_twins_return_the_same() -> None:
    sync, twin = methods(PlasticMemoriesClient), methods(AsyncPlasticMemoriesClient)

    for name in set(sync) - {"events", "export_iter", "iter_memory"}:
        assert sync[name].return_annotation == twin[name].return_annotation, name


def test_the_constructors_differ_only_in_the_transport() -> None:
    sync = dict(inspect.signature(PlasticMemoriesClient).parameters)
    twin = dict(inspect.signature(AsyncPlasticMemoriesClient).parameters)

    del sync["transport"], twin["transport"]

    assert sync == twin
