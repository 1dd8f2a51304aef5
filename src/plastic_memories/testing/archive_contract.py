"""Contract tests for archives; a plug-in's test class inherits them."""

from __future__ import annotations

import asyncio

import pytest

from plastic_memories.ports.archive import Archive

PATH = "conversations/小明/p1/2025/06/15/s1.json"
OTHER = "conversations/小明/p2/2025/06/15/s1.json"


class ArchiveContract:
    """Inherit it and provide an archive: `class TestMine(ArchiveContract)`."""

    @pytest.fixture
    async def archive(self) -> Archive:
        raise NotImplementedError("Override this fixture with the archive under test.")

    async def test_it_says_that_it_keeps(self, archive: Archive) -> None:
        assert archive.is_enabled is True

    async def test_what_was_put_comes_back(self, archive: Archive) -> None:
        await archive.put(PATH, "你好 🍵\n")

        assert await archive.get(PATH) == "你好 🍵\n"

    async def test_there_is_nothing_where_nothing_was_put(self, archive: Archive) -> None:
        assert await archive.get(PATH) is None

    async def test_putting_again_replaces_the_whole(self, archive: Archive) -> None:
        await archive.put(PATH, "a long first text")
        await archive.put(PATH, "short")

        assert await archive.get(PATH) == "short"

    async def test_a_reader_sees_the_old_text_or_the_new(self, archive: Archive) -> None:
        texts = ["a" * 200_000, "b" * 200_000]
        await archive.put(PATH, texts[0])

        async def read() -> list[str | None]:
            return [await archive.get(PATH) for _ in range(20)]

        async def write() -> None:
            for text in texts * 5:
                await archive.put(PATH, text)

        seen, _ = await asyncio.gather(read(), write())

        assert set(seen) <= set(texts)

    async def test_what_was_removed_is_gone(self, archive: Archive) -> None:
        await archive.put(PATH, "x")

        assert await archive.remove(PATH) is True
        assert await archive.remove(PATH) is False
        assert await archive.get(PATH) is None

    async def test_a_folder_goes_with_everything_in_it_and_nothing_else(
        self, archive: Archive
    ) -> None:
        for path in (PATH, PATH.replace("s1", "s2"), OTHER):
            await archive.put(path, path)

        removed = await archive.remove_under("conversations/小明/p1")

        assert removed == 2
        assert await archive.get(PATH) is None
        assert await archive.get(OTHER) == OTHER
        assert await archive.remove_under("conversations/nobody") == 0

    async def test_a_folder_names_what_lies_right_in_it(self, archive: Archive) -> None:
        for path in ("exports/小明/b.json", "exports/小明/a.json", "exports/小明x/c.json"):
            await archive.put(path, "x")

        assert sorted(await archive.names_in("exports/小明")) == ["a.json", "b.json"]
        assert await archive.names_in("exports") == []
        assert await archive.names_in("exports/nobody") == []
