"""A real file system without room, under everything a hub writes."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from full_disk import health_when, refused_until_full
from harness import Api, StartServer, refused

pytestmark = pytest.mark.external
SIZE = "8m"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a few megabytes, in memory, where the server will live."""
    folder = tmp_path / "server"
    folder.mkdir()
    mount = shutil.which("mount")
    assert mount, "This test needs the command `mount`, on Linux."
    options = ["-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    made = subprocess.run([mount, *options], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.fail(
            "This test mounts a small file system: run it as root, in a container with "
            f"--cap-add SYS_ADMIN. {made.stderr.strip()}"
        )
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Write until there is no room; return what is in the way."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while file.write(b"x" * size) == size:
                    pass
            except OSError:
                continue
    return filler


async def test_a_hub_on_a_full_disk_refuses_and_comes_back(
    small_disk: Path, start_server: StartServer
) -> None:
    server = start_server()
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as http:
        api = Api(http)
        await api.remember("before 茶", "note", "b")
        filler = fill(small_disk)
        await refused_until_full(api)

        health = await api.saw("/health")
        answer = await api.post("/memory/write", type="note", key="f", content="x" * 20_000)
        stranger = await api.as_(None).saw("/health")

        refused(answer, 503, "unavailable")
        assert stranger == {"status": "degraded"}
        assert "full" in health["components"]["storage"]["error"]
        assert (await api.recall("before"))["PERSONA_MEMORY"]

        filler.unlink()
        await health_when(api, "ok")
        await api.remember("after 茶", "note", "a")
        rows = set(await api.listed())
    assert server.stop()

    server.start()
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as http:
        assert {"before 茶", "after 茶"} <= set(await Api(http).listed()) == rows
    assert server.stop()


async def test_a_hub_on_a_full_disk_ends_when_it_is_told_to(
    small_disk: Path, start_server: StartServer
) -> None:
    server = start_server()
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as http:
        api = Api(http)
        await api.remember("before", "note", "b")
        fill(small_disk)
        await refused_until_full(api)

    assert server.stop()
