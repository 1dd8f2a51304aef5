"""A large import costs time like its size, holds nobody up, and can be repeated."""

from __future__ import annotations

import asyncio
import io
import json
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import pytest

from cards import v2
from harness import Api, Json, StartHub, StillClock, data_of, refused
from plastic_memories.errors import Unavailable
from plastic_memories.formats.card_memories import card_drafts
from plastic_memories.formats.character_card import read_card
from plastic_memories.model.key import Caller, KeyLimits
from plastic_memories.model.owner import User
from plastic_memories.ports.storage import StorageBackend, Stores

T = TypeVar("T")
TS = 1_750_000_000.0


def messages(count: int, ts: float | None = TS) -> str:
    """Return lines of messages that were all said at one moment."""
    return json_lines(
        {
            "kind": "message",
            "persona_id": "p1",
            "id": number,
            "role": "user",
            "content": f"第 {number} 句",
            "session_id": "s1",
            "ts": ts,
        }
        for number in range(1, count + 1)
    )


def memories(count: int, **more: Any) -> str:
    return json_lines(
        {
            "kind": "memory",
            "persona_id": "p1",
            "id": number,
            "type": "fact",
            "key": f"k{number}",
            "content": f"第 {number} 件事",
            "created_at": TS,
            **more,
        }
        for number in range(1, count + 1)
    )


def json_lines(rows: Any) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


async def processor_seconds(api: Api, body: str) -> float:
    started = time.process_time()
    report = data_of(await api.bring_in(body))
    assert report["skipped"] == []
    return time.process_time() - started


@pytest.mark.parametrize(
    "lines",
    [messages, lambda count: memories(count, key="k", status="revoked")],
    ids=["messages of one moment", "versions of one key"],
)
async def test_an_import_takes_time_like_its_size(
    start_hub: StartHub, clock: StillClock, lines: Callable[[int], str]
) -> None:
    # A clock of its own: such a hub does not warm up in the background.
    api = await start_hub(clock, embedder="none", worker="off")
    await processor_seconds(api.as_("acmekey", "warm"), lines(200))

    small = await processor_seconds(api, lines(1000))
    large = await processor_seconds(api.as_("devkey2"), lines(2000))

    assert large < 3 * small  # four times, if every line read all others


async def test_another_user_writes_while_a_large_import_runs(api: Api) -> None:
    other = api.as_("devkey2")
    await other.remember("一杯茶", key="warm")

    work = asyncio.create_task(api.bring_in(messages(1500)))
    written = 0
    while not work.done():
        written += 1
        await other.remember(f"第 {written} 杯茶", key=f"tea.{written}")

    assert data_of(await work)["counts"]["messages"] == 1500
    assert written >= 8  # as one transaction the import would have let in one or two


@dataclass
class FailingBackend:
    """A database that fails after some writes."""

    real: StorageBackend
    writes_left: int

    async def read(self, work: Callable[[Stores], T]) -> T:
        return await self.real.read(work)

    async def write(self, work: Callable[[Stores], T]) -> T:
        if self.writes_left == 0:
            raise Unavailable("The disk is full.")
        self.writes_left -= 1
        return await self.real.write(work)


@pytest.mark.parametrize("ts", [TS, None], ids=["with times", "without times"])
async def test_an_import_that_failed_is_repeated_without_duplicates(
    api: Api, ts: float | None
) -> None:
    body = messages(500, ts) + memories(500, source_message_ids=[1])
    hub = api.hub
    assert hub is not None
    await api.did("/persona/create")
    key = await hub.keys.authenticate("devkey")
    caller = Caller(user=User(key.tenant_id, key.user_id), key=key, request_id="r")
    failing: Any = FailingBackend(hub.storage.backend, 2)
    transfer = replace(hub.transfer, storage=replace(hub.storage, backend=failing))
    with pytest.raises(Unavailable):
        await transfer.import_lines(caller, body.split("\n"), dry_run=False)
    assert 0 < await count(api, "message") < 500

    report = data_of(await api.bring_in(body))

    assert report["counts"]["already_there"] > 0
    assert (await count(api, "message"), await count(api, "memory")) == (500, 500)
    again = data_of(await api.bring_in(body))
    assert again["counts"] == {"already_there": 1000}


async def count(api: Api, kind: str) -> int:
    lines = (await api.export()).decode().splitlines()
    return sum(json.loads(line)["kind"] == kind for line in lines)


async def test_slots_come_along_and_stay_when_it_is_repeated(api: Api) -> None:
    body = memories(300) + json_lines(
        [
            {
                "kind": "memory",
                "persona_id": "p1",
                "id": 900 + number,
                "type": "constraints",
                "key": f"allergy.{number}",
                "content": content,
                "created_at": TS,
            }
            for number, content in enumerate(("对海鲜过敏", "对花生过敏"))
        ]
    )

    data_of(await api.bring_in(body, trust=True))
    first = await api.slots()
    data_of(await api.bring_in(body, trust=True))

    assert sorted(first["constraints"]) == ["对海鲜过敏", "对花生过敏"]
    assert await api.slots() == first


async def test_a_long_dry_run_finds_what_the_import_finds(api: Api) -> None:
    body = memories(450) + memories(450, content="另一件事") + messages(250)

    tried = data_of(await api.bring_in(body, dry_run=True))
    stored = await count(api, "memory")
    done = data_of(await api.bring_in(body))

    assert stored == 0
    assert tried["counts"] == done["counts"]
    assert [one["line"] for one in tried["conflicts"]] == [one["line"] for one in done["conflicts"]]
    assert len(done["conflicts"]) == 450


async def test_the_same_import_twice_at_the_same_time_is_stored_once(api: Api) -> None:
    body = messages(400)

    await asyncio.gather(api.bring_in(body), api.bring_in(body))

    assert await count(api, "message") == 400


async def test_a_key_of_another_persona_imports_nothing_at_all(api: Api) -> None:
    assert api.hub is not None
    await api.hub.keys.create("default", "userA", "bound", KeyLimits(persona_id="p1"), key="bound")
    foreign = messages(300) + messages(1).replace('"p1"', '"p2"')

    refused(await api.as_("bound").bring_in(foreign), 403, "forbidden")

    assert await count(api, "message") == 0


async def test_an_import_of_too_many_lines_is_refused(start_hub: StartHub) -> None:
    api = await start_hub(max_import_entries="100")

    data_of(await api.bring_in(messages(100)))
    detail = refused(await api.bring_in(messages(101)), 413, "payload_too_large")
    blank = refused(await api.bring_in("\n" * 1000), 413, "payload_too_large")

    assert detail == blank
    assert detail == {"limit": 100, "setting": "PLASTIC_MEMORIES_MAX_IMPORT_ENTRIES"}


async def test_a_bundle_that_unpacks_to_too_much_is_refused(start_hub: StartHub) -> None:
    api = await start_hub(max_import_bytes="1000000")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("export.jsonl", b" " * 1_000_001)

    detail = refused(await api.bring_in(out.getvalue()), 413, "payload_too_large")

    assert detail == {"limit": 1_000_000, "setting": "PLASTIC_MEMORIES_MAX_IMPORT_BYTES"}


def card_with_lore(count: int) -> bytes:
    entries = [{"keys": [f"词{n}"], "content": f"设定 {n}", "enabled": True} for n in range(count)]
    card: Json = v2()
    card["data"]["character_book"] = {"entries": entries, "extensions": {}}
    return json.dumps(card, ensure_ascii=False).encode()


async def test_a_card_with_too_many_entries_is_refused(start_hub: StartHub) -> None:
    api = await start_hub(max_card_entries="20")

    async def send(count: int) -> Any:
        return await api.http.post(
            "/persona/import_card",
            params={"persona_id": "p1"},
            content=card_with_lore(count),
            headers=api.all_headers,
        )

    data_of(await send(20))
    detail = refused(await send(21), 413, "payload_too_large")

    assert detail == {"limit": 20, "setting": "PLASTIC_MEMORIES_MAX_CARD_ENTRIES"}


def test_a_card_is_read_in_time_like_its_size() -> None:
    def seconds(count: int) -> float:
        card, _ = read_card(card_with_lore(count))
        started = time.process_time()
        assert len(card_drafts(card)) >= count
        return time.process_time() - started

    small, large = (min(seconds(count) for _ in range(3)) for count in (2000, 4000))

    assert large < 3 * small
