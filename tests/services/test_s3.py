"""The archive in an object store that checks signatures, and what happens while it is away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import Api, StartHub
from plastic_memories.adapters.s3.object_archive import s3
from plastic_memories.errors import InvalidSetting, Unavailable
from plastic_memories.ports.archive import Archive
from plastic_memories.settings import Settings, load_settings
from plastic_memories.testing import ArchiveContract
from plastic_memories.testing.archive_contract import PATH
from services.rclone_server import S3Server, free_port, serving

pytestmark = pytest.mark.external


@dataclass(frozen=True)
class Context:
    settings: Settings


@pytest.fixture
def server(tmp_path: Path) -> Iterator[S3Server]:
    with serving(tmp_path / "buckets", free_port()) as started:
        yield started


def archive_of(tmp_path: Path, **values: str) -> Archive:
    names = {f"PLASTIC_MEMORIES_{name.upper()}": value for name, value in values.items()}
    return s3(Context(load_settings({"PLASTIC_MEMORIES_DATA_DIR": str(tmp_path), **names})))


class TestS3(ArchiveContract):
    @pytest.fixture
    async def archive(self, tmp_path: Path, server: S3Server) -> Archive:
        return archive_of(tmp_path, **server.settings, s3_prefix="hub/one")

    async def test_a_prefix_keeps_two_hubs_apart(
        self, archive: Archive, tmp_path: Path, server: S3Server
    ) -> None:
        other = archive_of(tmp_path, **server.settings, s3_prefix="hub/two")

        await archive.put(PATH, "x")

        assert await other.get(PATH) is None
        assert await other.remove_under("conversations") == 0


async def test_a_wrong_secret_is_refused(tmp_path: Path, server: S3Server) -> None:
    stranger = archive_of(tmp_path, **{**server.settings, "s3_secret_key": "wrong"})

    with pytest.raises(Unavailable, match="refused"):
        await stranger.put(PATH, "x")


async def test_a_store_without_life_cycles_archives_all_the_same(
    tmp_path: Path, server: S3Server, caplog: pytest.LogCaptureFixture
) -> None:
    archive = archive_of(tmp_path, **server.settings, s3_expire_days="30")

    await archive.put(PATH, "x")

    assert await archive.get(PATH) == "x"
    assert [record.message for record in caplog.records] == ["archive.life_cycle"]


def test_a_bucket_must_be_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="S3_BUCKET"):
        archive_of(tmp_path, archive="s3")


async def test_archiving_waits_until_the_store_is_back(tmp_path: Path, start_hub: StartHub) -> None:
    port = free_port()
    away = S3Server(port)
    api: Api = await start_hub(**away.settings, job_backoff_s="0.01", job_max_retries="1")
    await api.say("我叫小林", session_id="s1")
    await api.did("/sessions/end", session_id="s1")
    for _ in range(5):  # more tries than a job that fails has
        await api.did("/jobs/run", wait=True)
    waiting = await api.saw("/jobs")

    with serving(tmp_path / "buckets", port):
        await api.did("/jobs/run", session_id="s1", wait=True)
        listed = await api.saw("/archive/list")

    assert {job["status"] for job in waiting["items"]} <= {"pending", "failed", "completed"}
    assert [one["session_id"] for one in listed["items"]] == ["s1"]
