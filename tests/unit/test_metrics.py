"""Numbers for operators: the names the contract keeps, readable, and each tenant's own."""

from __future__ import annotations

from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from harness import Api, StartHub, StillClock
from plastic_memories.adapters.prometheus.meter import PrometheusMeter
from plastic_memories.errors import Unavailable
from plastic_memories.ports.storage import Stores
from plastic_memories.runtime.metered_storage import MeteredStorage

GENERATION = {"1.0", "5.0", "10.0", "30.0", "60.0", "120.0", "+Inf"}
RECALL = {"0.1", "0.25", "0.5", "1.0", "2.0", "5.0"}
COUNTS = {"0.0", "1.0", "2.0", "3.0", "5.0", "10.0", "+Inf"}


@pytest.fixture
async def api(start_hub: StartHub, clock: StillClock) -> Api:
    opened: Api = await start_hub(clock, worker="off")
    return opened


async def text_of(api: Api) -> str:
    return (await api.http.get("/metrics", headers=api.all_headers)).text


async def samples(api: Api) -> dict[str, list[Any]]:
    """Read the text as a scraper does; return every sample by its name."""
    found: dict[str, list[Any]] = {}
    for family in text_string_to_metric_families(await text_of(api)):
        for sample in family.samples:
            found.setdefault(sample.name, []).append(sample)
    return found


async def busy(api: Api) -> None:
    await api.say("叫我小林", session_id="s1")
    await api.did("/jobs/run", session_id="s1", wait=True)
    await api.recall("怎么称呼我")


async def test_every_name_of_the_contract_is_there_with_its_labels(api: Api) -> None:
    await busy(api)

    found = await samples(api)

    assert [one.labels for one in found["memory_generation_tasks_total"]] == [
        {"status": "completed"}
    ]
    [recalls] = found["memory_recall_requests_total"]
    assert set(recalls.labels) == {"intent_type", "status"}
    assert {one.labels["le"] for one in found["memory_generation_latency_seconds_bucket"]} == (
        GENERATION
    )
    assert {one.labels["le"] for one in found["memory_recall_latency_seconds_bucket"]} >= RECALL
    assert {one.labels["le"] for one in found["memory_recall_count_bucket"]} == COUNTS
    text = await text_of(api)
    for name in ("vector_operations", "vector_latency_seconds", "memory_model_tokens"):
        assert f"# TYPE {name}" in text


async def test_the_queue_is_shown(api: Api, clock: StillClock) -> None:
    await api.say("嗯", session_id="s1")
    await api.did("/sessions/end", session_id="s1")
    clock.at += 60

    found = await samples(api)

    [waiting], [age], [dead] = (
        found[f"memory_jobs_{name}"] for name in ("waiting", "oldest_seconds", "dead")
    )
    assert (waiting.value, age.value, dead.value) == (1, 60, 0)


async def test_each_tenant_sees_what_of_its_own_waits_for_a_vector(
    start_hub: StartHub,
) -> None:
    far = {"embedder": "openai:m", "embedder_base_url": "http://127.0.0.1:9/v1"}
    api = await start_hub(worker="off", **far)
    await api.remember("我喜欢绿茶")
    await api.remember("I like oolong", key="oolong")
    theirs = api.as_("acmekey", "someone")
    await theirs.remember("他们的")

    for caller, waiting in ((api, 2), (theirs, 1)):
        [backlog] = (await samples(caller))["embedding_backlog"]
        assert backlog.value == waiting


async def test_without_an_embedder_nothing_waits_for_a_vector(api: Api) -> None:
    await api.remember("我喜欢绿茶")

    assert [one.value for one in (await samples(api))["embedding_backlog"]] == [0]


async def test_the_store_is_measured_by_backend(api: Api) -> None:
    await busy(api)

    found = await samples(api)

    operations = {
        (one.labels["backend"], one.labels["operation"], one.labels["status"])
        for one in found["memory_store_operations_total"]
    }
    assert operations == {("sqlite", "read", "ok"), ("sqlite", "write", "ok")}
    assert all(one.value > 0 for one in found["memory_store_latency_seconds_count"])


async def test_no_tenant_sees_what_another_costs(api: Api) -> None:
    await busy(api)

    text = await text_of(api.as_("acmekey", "someone"))

    assert "memory_generation_tasks_total{" not in text
    assert 'memory_store_operations_total{backend="sqlite",operation="write"' not in text


async def test_a_store_that_fails_is_counted_as_such(api: Api) -> None:
    assert api.hub is not None
    metered = api.hub.storage.backend
    assert isinstance(metered, MeteredStorage)

    def broken(_: Stores) -> None:
        raise Unavailable("The disk is gone.")

    with pytest.raises(Unavailable):
        await metered.read(broken)

    text = api.hub.meter.render(None)
    assert 'operation="read",status="failed"} 1.0' in text


def test_the_numbers_of_all_are_those_of_every_tenant_and_of_nobody() -> None:
    meter = PrometheusMeter()
    for tenant in ("甲", "b", "b", None):
        meter.count(tenant, "memory_writes", status="active")
        meter.observe(tenant, "http_request_seconds", 0.01, route="/health")

    everybody, one = meter.render(None), meter.render("b")

    assert 'memory_writes_total{status="active"} 4.0' in everybody
    assert 'memory_writes_total{status="active"} 2.0' in one
    assert 'http_request_seconds_count{route="/health"} 4.0' in everybody
    assert "process_cpu_seconds_total" in everybody
    assert "process_cpu_seconds_total" not in one


def test_an_observation_on_a_bound_is_under_it() -> None:
    meter = PrometheusMeter()
    for number in (0, 3, 4, 11):
        meter.observe("a", "memory_recall_count", number)

    buckets = {
        sample["labels"]["le"]: sample["value"]
        for sample in meter.samples("a")
        if sample["name"] == "memory_recall_count_bucket"
    }

    assert buckets == {"0.0": 1, "1.0": 1, "2.0": 1, "3.0": 2, "5.0": 3, "10.0": 3, "+Inf": 4}


def test_what_has_no_labels_is_shown_before_it_is_counted() -> None:
    text = PrometheusMeter().render("a")

    assert "memory_model_cost_total 0.0" in text
    assert "memory_recall_count_count 0.0" in text
    assert "memory_jobs_dead 0.0" in text


def test_a_label_that_is_not_declared_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="label"):
        PrometheusMeter().count("a", "memory_writes", state="active")
