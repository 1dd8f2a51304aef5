"""The archive as files keeps the published contract, and its files to itself."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from plastic_memories.adapters.archive.files import FileArchive, NoArchive
from plastic_memories.errors import Unavailable
from plastic_memories.testing import ArchiveContract
from plastic_memories.testing.archive_contract import PATH


class TestFiles(ArchiveContract):
    @pytest.fixture
    async def archive(self, tmp_path: Path) -> FileArchive:
        return FileArchive(tmp_path)

    @pytest.mark.skipif(sys.platform == "win32", reason="has no such modes")
    async def test_nobody_else_can_read_them(self, archive: FileArchive, tmp_path: Path) -> None:
        await archive.put(PATH, "x")

        assert stat.S_IMODE((tmp_path / PATH).stat().st_mode) == 0o600

    @pytest.mark.skipif(sys.platform == "win32", reason="has no such modes")
    async def test_nobody_else_can_list_their_folders(
        self, archive: FileArchive, tmp_path: Path
    ) -> None:
        await archive.put(PATH, "x")

        folders = [tmp_path / one for one in Path(PATH).parents if one.name]
        assert len(folders) > 1
        assert {stat.S_IMODE(one.stat().st_mode) for one in folders} == {0o700}

    async def test_nothing_is_left_beside_them(self, archive: FileArchive, tmp_path: Path) -> None:
        await archive.put(PATH, "x")

        assert [one.name for one in (tmp_path / PATH).parent.iterdir()] == ["s1.json"]

    async def test_a_folder_that_cannot_be_made_is_unavailable(self, tmp_path: Path) -> None:
        (tmp_path / "conversations").write_text("in the way")

        with pytest.raises(Unavailable):
            await FileArchive(tmp_path).put(PATH, "x")


async def test_no_archive_keeps_nothing() -> None:
    archive = NoArchive()
    await archive.put(PATH, "x")

    assert archive.is_enabled is False
    assert await archive.get(PATH) is None
    assert await archive.remove(PATH) is False
    assert await archive.names_in("conversations") == []
    assert await archive.remove_under("conversations") == 0
