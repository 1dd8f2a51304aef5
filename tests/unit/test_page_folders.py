"""Pages on the disk: whose folder is whose, and that no name and no link leads out of it."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from plastic_memories.adapters.pages import files
from plastic_memories.adapters.pages.files import FilePageFolders
from plastic_memories.adapters.pages.folder import PathFolder
from plastic_memories.errors import Unavailable
from plastic_memories.model.owner import Owner, User
from plastic_memories.model.page import PageFile, PageFolderListing
from plastic_memories.runtime.disk_threads import DiskThreads

LIN = User("default", "林 Lin")
OWN = Owner("default", "林 Lin", "")
PERSONA = Owner("default", "林 Lin", "小雨")


@pytest.fixture(params=["held", "named"])
def folders(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[FilePageFolders]:
    """Pages with folders held open, and as on a system that cannot do that."""
    if request.param == "named":
        monkeypatch.setattr(
            files, "open_root", lambda root: PathFolder(root) if root.is_dir() else None
        )
    opened = FilePageFolders(tmp_path / "root")
    yield opened
    opened.close()


@pytest.fixture
async def memory(folders: FilePageFolders, tmp_path: Path) -> Path:
    """The user's own folder, with a core page and one other."""
    await folders.write_core(OWN, "# 我\n- 喜欢茶\n", None)
    place = tmp_path / "root" / "users" / "林%20Lin" / ".memory"
    (place / "extended").mkdir()
    (place / "extended" / "b.md").write_text("# B\n", encoding="utf-8")
    return place


def _all_under(folder: Path, pattern: str) -> list[Path]:
    return sorted(folder.rglob(pattern))


async def names(folders: FilePageFolders) -> list[str]:
    own, _ = await folders.list_pages(LIN, "小雨")
    return [name for name, _ in own.extended]


async def test_several_pages_are_read_in_order_and_nothing_else(
    folders: FilePageFolders, memory: Path
) -> None:
    (memory / "extended" / "a.md").write_text("甲" * 100_000, encoding="utf-8")
    (memory / "extended" / "link.md").symlink_to(memory / "core.md")
    asked = ["b.md", "link.md", "../core.md", "none.md", "b.txt", "a.md"]

    found = await folders.read_pages([(OWN, name) for name in asked])
    of_persona = await folders.read_pages([(replace(OWN, persona_id="none"), "b.md")])

    assert [page and page.text[:3] for page in found] == ["# B", None, None, None, None, "甲甲甲"]
    assert found[-1] is not None
    assert found[-1].whole is False
    assert of_persona == [None]


async def test_one_recall_reads_so_many_bytes_at_most(
    folders: FilePageFolders, memory: Path
) -> None:
    for number in range(20):
        content = b"x" * 200_000 if number % 2 else b"\x00" * 200_000
        (memory / "extended" / f"{number:02}.md").write_bytes(content)

    found = await folders.read_pages([(OWN, f"{number:02}.md") for number in range(20)])

    assert 0 < len(found) <= 16


async def test_there_is_nothing_until_somebody_writes(
    folders: FilePageFolders, tmp_path: Path
) -> None:
    assert await folders.list_pages(LIN, "小雨") == (PageFolderListing(), PageFolderListing())
    assert await folders.read_core(OWN) is None
    assert await folders.read_page(OWN, "b.md") is None
    assert await folders.core_stamps([OWN, PERSONA]) == ["", ""]
    assert not (tmp_path / "root").exists()


async def test_pages_come_by_name_with_their_titles(folders: FilePageFolders, memory: Path) -> None:
    (memory / "extended" / "a.MD").write_bytes("标题在此".encode("gb18030"))
    (memory / "extended" / "茶.md").write_text("---\ntitle: 茶\n---\n", encoding="utf-8")
    (memory / "extended" / ".hidden.md").write_text("x", encoding="utf-8")
    (memory / "extended" / "note.txt").write_text("x", encoding="utf-8")
    (memory / "extended" / "folder.md").mkdir()

    own, of_persona = await folders.list_pages(LIN, "小雨")

    assert own.extended == (("a.MD", "标题在此"), ("b.md", "B"), ("茶.md", "茶"))
    assert own.core is not None
    assert own.core.text == "# 我\n- 喜欢茶\n"
    assert of_persona == PageFolderListing()


async def test_a_persona_has_a_folder_of_its_own(folders: FilePageFolders, memory: Path) -> None:
    await folders.write_core(PERSONA, "她的\n", None)

    own, hers = await folders.list_pages(LIN, "小雨")

    assert own.core is not None
    assert hers.core is not None
    assert (own.core.text, hers.core.text) == ("# 我\n- 喜欢茶\n", "她的\n")
    assert (memory / "personas" / "小雨" / "core.md").is_file()
    assert (await folders.list_pages(LIN, "another"))[1] == PageFolderListing()


async def test_a_change_is_seen_at_once(folders: FilePageFolders, memory: Path) -> None:
    await folders.list_pages(LIN, "小雨")

    for text in ("aaaa", "bbbb", "cccc"):
        (memory / "core.md").write_text(text, encoding="utf-8")
        (memory / "extended" / "b.md").write_text(text, encoding="utf-8")
        own, _ = await folders.list_pages(LIN, "小雨")

        assert own.core is not None
        assert (own.core.text, own.extended) == (text, (("b.md", text),))


async def test_a_stamp_changes_with_the_page(folders: FilePageFolders, memory: Path) -> None:
    old = memory / "core.md"
    os.utime(old, (1_700_000_000, 1_700_000_000))
    [before] = await folders.core_stamps([OWN])

    old.write_text("other", encoding="utf-8")
    [after] = await folders.core_stamps([OWN])

    assert before != after != ""


async def test_a_link_does_not_exist(folders: FilePageFolders, memory: Path) -> None:
    secret = memory.parent.parent.parent / "secret.md"
    secret.write_text("# geheim", encoding="utf-8")
    (memory / "extended" / "link.md").symlink_to(secret)
    (memory / "extended" / "inside.md").symlink_to(memory / "core.md")
    (memory / "core.md").unlink()
    (memory / "core.md").symlink_to(secret)

    assert await names(folders) == ["b.md"]
    assert await folders.read_page(OWN, "link.md") is None
    assert await folders.read_core(OWN) is None
    assert await folders.core_stamps([OWN]) == [""]


@pytest.mark.parametrize("step", ["", "extended", "personas", "personas/小雨"])
async def test_a_folder_that_is_a_link_does_not_exist(
    folders: FilePageFolders, memory: Path, tmp_path: Path, step: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    for name in ("core.md", "extended/x.md", "小雨/core.md", "personas/小雨/core.md"):
        (elsewhere / name).parent.mkdir(parents=True, exist_ok=True)
        (elsewhere / name).write_text("# geheim", encoding="utf-8")
    place = memory / step if step else memory
    if place.exists():
        place.rename(tmp_path / "aside")
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(elsewhere, target_is_directory=True)

    looked = await folders.list_pages(LIN, "小雨")

    assert "geheim" not in repr(looked)
    assert "x.md" not in repr(looked)


async def test_nothing_is_written_through_a_link(
    folders: FilePageFolders, memory: Path, tmp_path: Path
) -> None:
    target = tmp_path / "target.md"
    target.write_text("precious", encoding="utf-8")
    (memory / "core.md").unlink()
    (memory / "core.md").symlink_to(target)
    (memory / "personas").symlink_to(tmp_path, target_is_directory=True)

    for folder in (PERSONA, OWN):
        with pytest.raises(Unavailable, match="taken by something else"):
            await folders.write_core(folder, "stolen", None)

    assert target.read_text(encoding="utf-8") == "precious"


async def test_what_a_crash_has_left_is_not_followed(
    folders: FilePageFolders, memory: Path, tmp_path: Path
) -> None:
    target = tmp_path / "target.md"
    target.write_text("precious", encoding="utf-8")
    (memory / ".core.md.part").symlink_to(target)

    await folders.write_core(OWN, "mine", await folders.read_core(OWN))

    assert target.read_text(encoding="utf-8") == "precious"
    assert (memory / "core.md").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    "name",
    ["../core.md", "..", "/etc/hosts.md", "a/../../x.md", "\x00.md", "x" * 5000 + ".md", "", "."],
)
async def test_no_name_leads_out(folders: FilePageFolders, memory: Path, name: str) -> None:
    assert await folders.read_page(OWN, name) is None


async def test_a_pipe_is_no_page_and_nobody_waits_for_it(
    folders: FilePageFolders, memory: Path
) -> None:
    os.mkfifo(memory / "extended" / "pipe.md")
    (memory / "core.md").unlink()
    os.mkfifo(memory / "core.md")

    assert await names(folders) == ["b.md"]
    assert await folders.read_page(OWN, "pipe.md") is None
    assert await folders.read_core(OWN) is None


@pytest.mark.parametrize(
    "user_id", ["..", ".", "../x", "a/b", "C:\\x", "con", "x" * 200, "名" * 200]
)
async def test_every_user_stays_inside_and_apart(
    folders: FilePageFolders, tmp_path: Path, user_id: str
) -> None:
    await folders.write_core(Owner("default", user_id, "../p"), "mine", None)

    [page] = _all_under(tmp_path, "core.md")

    assert page.parts[-2:] == ("%2E.%2Fp", "core.md")
    assert page.parent.parent.parent.parent.parent == tmp_path / "root" / "users"


async def test_users_whose_names_are_alike_share_nothing(folders: FilePageFolders) -> None:
    alike = [
        Owner("default", "bob", ""),
        Owner("default", "Bob", ""),
        Owner("default", "users", ""),
        Owner("acme", "bob", ""),
        Owner("acme/users", "bob", ""),
        Owner("default", ".memory", ""),
        Owner("default", "b%6Fb", ""),
    ]

    for number, owner in enumerate(alike):
        await folders.write_core(owner, str(number), None)

    pages = [await folders.read_core(owner) for owner in alike]
    assert [page.text for page in pages if page] == [str(number) for number in range(len(alike))]


def test_where_capitals_do_not_count_they_still_make_a_difference() -> None:
    plain, capital = (files._file_name(name, capitals=False) for name in ("bob", "Bob"))

    assert plain == "bob"
    assert capital.startswith("Bob~")
    assert files._file_name("userA", capitals=True) == "userA"


async def test_a_page_that_changed_meanwhile_is_not_overwritten(
    folders: FilePageFolders, memory: Path
) -> None:
    seen = await folders.read_core(OWN)
    (memory / "core.md").write_text("saved just now", encoding="utf-8")

    assert await folders.write_core(OWN, "from us", seen) is None
    assert await folders.write_core(OWN, "from us", None) is None
    assert (memory / "core.md").read_text(encoding="utf-8") == "saved just now"


async def test_a_page_keeps_its_encoding_and_its_mode(
    folders: FilePageFolders, memory: Path
) -> None:
    page = memory / "core.md"
    page.write_bytes("喜欢茶\n".encode("gb18030"))
    page.chmod(0o640)

    written = await folders.write_core(OWN, "喜欢咖啡\n", await folders.read_core(OWN))

    assert page.read_bytes() == "喜欢咖啡\n".encode("gb18030")
    assert page.stat().st_mode & 0o777 == 0o640
    assert isinstance(written, PageFile)
    assert [one.name for one in _all_under(memory, "*")] == ["core.md", "extended", "b.md"]


async def test_a_write_that_fails_half_way_leaves_the_page_as_it_was(
    folders: FilePageFolders, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    seen = await folders.read_core(OWN)
    monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(Unavailable, match="No space left"):
        await folders.write_core(OWN, "half of", seen)

    assert (memory / "core.md").read_text(encoding="utf-8") == "# 我\n- 喜欢茶\n"


async def test_what_is_made_is_nobody_elses(folders: FilePageFolders, memory: Path) -> None:
    made = [memory, memory.parent, memory / "core.md"]

    assert [one.stat().st_mode & 0o077 for one in made] == [0, 0, 0]


async def test_a_very_long_page_is_cut_and_says_so(folders: FilePageFolders, memory: Path) -> None:
    (memory / "core.md").write_text("茶" * 200_000, encoding="utf-8")
    (memory / "extended" / "b.md").write_text("# T\n" + "x" * 3_000_000, encoding="utf-8")

    core, page = await folders.read_core(OWN), await folders.read_page(OWN, "b.md")

    assert core is not None
    assert page is not None
    assert (core.whole, page.whole) == (False, False)
    assert (len(core.text), len(page.text)) == (262_144 // 3, 1024 * 1024)


async def test_at_home_a_user_without_pages_needs_no_thread(tmp_path: Path) -> None:
    folders = FilePageFolders(tmp_path, at_home=True)
    before = set(threading.enumerate())

    assert await folders.list_pages(LIN, "小雨") == (PageFolderListing(), PageFolderListing())

    assert set(threading.enumerate()) <= before
    await folders.write_core(OWN, "seen", None)
    own, _ = await folders.list_pages(LIN, "小雨")
    assert own.core is not None
    folders.close()


@asynccontextmanager
async def at_work(threads: DiskThreads) -> AsyncIterator[None]:
    """Keep both threads busy for a while."""
    began, let_go = threading.Barrier(3), threading.Event()

    def work() -> bool:
        began.wait()
        return let_go.wait()

    busy = [asyncio.create_task(threads.run(work, 60)) for _ in range(2)]
    await asyncio.to_thread(began.wait)
    yield
    let_go.set()
    assert await asyncio.gather(*busy) == [True, True]


async def test_a_disk_that_hangs_is_waited_for_once() -> None:
    threads = DiskThreads("hanging", hang_timeout_s=0)

    async with at_work(threads):
        with pytest.raises(Unavailable, match="within"):
            await threads.run(lambda: None, 0)
        with pytest.raises(Unavailable, match="a moment ago"):
            await threads.run(lambda: None, 60)

    threads.close()


async def test_a_long_queue_is_no_disk_that_hangs() -> None:
    threads = DiskThreads("busy", hang_timeout_s=3600)

    async with at_work(threads):
        with pytest.raises(Unavailable, match="within"):
            await threads.run(lambda: None, 0)

    assert await threads.run(lambda: "answered", 60) == "answered"
    threads.close()


async def test_a_disk_that_fails_is_unavailable_and_names_no_path() -> None:
    def fail() -> None:
        raise PermissionError(13, "Permission denied", "/home/lin/secret name")

    threads = DiskThreads("failing")
    with pytest.raises(Unavailable) as raised:
        await threads.run(fail, 5)
    threads.close()

    assert "secret" not in raised.value.message


async def test_many_looks_at_the_same_time_are_all_answered(
    folders: FilePageFolders, memory: Path
) -> None:
    looked = await asyncio.gather(*(folders.list_pages(LIN, "小雨") for _ in range(50)))

    assert {own.extended for own, _ in looked} == {(("b.md", "B"),)}
