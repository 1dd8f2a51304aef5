"""Export and import."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from client_contract.fake_hub import FakeHub, failure
from plastic_memories_client import (
    AsyncPlasticMemoriesClient,
    PlasticMemoriesClient,
    ServerUnreachable,
    Unauthorized,
)

LINES = b'{"id": 1}\n{"id": 2}\n'


class CutOff(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that breaks in the middle."""

    def __iter__(self) -> Iterator[bytes]:
        yield LINES[:5]
        raise httpx.ReadError("cut")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield LINES[:5]
        raise httpx.ReadError("cut")


def test_an_export_is_bytes(hub: FakeHub, client: PlasticMemoriesClient) -> None:
    hub.says(httpx.Response(200, content=LINES))

    assert client.export() == LINES
    assert b"".join(client.export_iter("jsonl")) == LINES


def test_an_export_is_saved(hub: FakeHub, client: PlasticMemoriesClient, tmp_path: Path) -> None:
    hub.says(httpx.Response(200, content=LINES))

    saved = client.export_to(tmp_path / "all.jsonl")

    assert saved.read_bytes() == LINES
    assert hub.asked() == {"format": "jsonl"}


async def test_an_export_is_saved_by_async_code(
    hub: FakeHub, async_client: AsyncPlasticMemoriesClient, tmp_path: Path
) -> None:
    hub.says(httpx.Response(200, content=LINES))

    saved = await async_client.export_to(tmp_path / "all.jsonl")

    assert saved.read_bytes() == LINES


def test_half_an_export_does_not_replace_a_whole_one(
    hub: FakeHub, client: PlasticMemoriesClient, tmp_path: Path
) -> None:
    old = tmp_path / "all.jsonl"
    old.write_bytes(b"old")
    hub.says(httpx.Response(200, stream=CutOff()))

    with pytest.raises(ServerUnreachable):
        client.export_to(old)

    assert [path.name for path in tmp_path.iterdir()] == ["all.jsonl"]
    assert old.read_bytes() == b"old"


async def test_a_refused_export_says_why(
    hub: FakeHub, client: PlasticMemoriesClient, async_client: AsyncPlasticMemoriesClient
) -> None:
    hub.says(failure(401, "unauthorized"))

    with pytest.raises(Unauthorized):
        list(client.export_iter())
    with pytest.raises(Unauthorized):
        [piece async for piece in async_client.export_iter()]


@pytest.mark.parametrize("kind", ["bytes", "text", "lines", "file"])
async def test_lines_are_imported_from_wherever_they_are(
    hub: FakeHub,
    client: PlasticMemoriesClient,
    async_client: AsyncPlasticMemoriesClient,
    tmp_path: Path,
    kind: str,
) -> None:
    hub.knows("POST", "/import", {"counts": {"memories": 2}, "conflicts": [{"id": 1}]})
    (tmp_path / "in.jsonl").write_bytes(LINES)
    sources = {
        "bytes": LINES,
        "text": LINES.decode(),
        "lines": LINES.decode().splitlines(),
        "file": tmp_path / "in.jsonl",
    }

    answer = client.import_(sources[kind], dry_run=True)
    again = await async_client.import_(sources[kind], trust=True)

    first, second = hub.requests
    assert (answer.counts, answer.conflicts) == ({"memories": 2}, [{"id": 1}])
    assert again == answer
    assert first.content == second.content == LINES
    assert first.headers["Content-Type"] == "application/x-ndjson"
    assert (first.url.params["dry_run"], second.url.params["dry_run"]) == ("true", "false")
    assert (first.url.params.get("trust"), second.url.params.get("trust")) == (None, "true")


async def test_a_card_is_sent_as_it_lies_in_its_file(
    hub: FakeHub,
    client: PlasticMemoriesClient,
    async_client: AsyncPlasticMemoriesClient,
    tmp_path: Path,
) -> None:
    file = tmp_path / "card.png"
    file.write_bytes(b"\x89PNG card")
    hub.knows("POST", "/persona/import_card", {"name": "阿澄", "memories": {"bundled": 3}})

    by_path = client.import_card(file, allow_overwrite=True)
    by_bytes = await async_client.import_card(b"\x89PNG card", persona_id="p", memories=True)

    assert by_path.name == by_bytes.name == "阿澄"
    assert by_bytes.memories["bundled"] == 3
    first, second = hub.requests
    assert first.content == second.content == b"\x89PNG card"
    wanted = {"persona_id": "default", "allow_overwrite": "true", "memories": "false"}
    assert dict(first.url.params) == wanted
    assert second.url.params["memories"] == "true"
