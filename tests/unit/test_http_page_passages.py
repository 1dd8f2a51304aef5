"""Extended pages reach a model without tools: the passages that bear on a question."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fake_upstream import FakeUpstream
from harness import Api, StartHub
from page_parts import Pages
from plastic_memories.adapters.pages.files import FilePageFolders
from plastic_memories.errors import Unavailable
from plastic_memories.hub.pages.read_pages import PageReader
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.model.page import PageFile
from plastic_memories.model.recall import RecallQuery, Recollection
from proxy_parts import PATIENT, Client, system, user

HEALTH = (
    "---\ntags: [a]\n---\n# 健康记录\n\n## 血压\n三月量的血压是 135/90。\n\n## 牙齿\n补过两颗牙。\n"
)
HEALTH_ID = "memory://extended/health.md"


@pytest.fixture
def pages(tmp_path: Path) -> Pages:
    return Pages(tmp_path)


async def turn(api: Api, query: str, **more: object) -> str:
    return str((await api.recall(query, **more))["turn_block"]["text"])


async def test_the_passage_that_bears_on_a_question_stands_in_the_turn_block(
    api: Api, pages: Pages
) -> None:
    pages.write(HEALTH, "extended/health.md")
    pages.write("# Trips\nWe went to Lisbon by train.\n", "extended/trips.md")

    found = await api.recall("我的血压是多少？")
    english = await turn(api, "How did I get to Lisbon?")

    block = found["turn_block"]["text"]
    assert f"## 相关页面\n### 健康记录 ({HEALTH_ID})\n## 血压\n三月量的血压是 135/90。\n</" in block
    assert block in found["injection_block"]
    assert "牙" not in block
    assert found["degraded"] == []
    assert "### Trips (memory://extended/trips.md)\nWe went to Lisbon by train.\n" in english


async def test_the_proxy_tells_the_model_what_the_pages_say(
    start_hub: StartHub, upstream: FakeUpstream, pages: Pages
) -> None:
    api = await start_hub(proxy_upstream_url=upstream.url + "/", **PATIENT)
    pages.write(HEALTH, "extended/health.md")

    answer = await Client(api).chat(system("Be kind."), user("我的血压是多少？"))

    assert "135/90" in str(upstream.last.messages)
    assert "X-Memory-Degraded" not in answer.headers


async def test_a_core_page_that_is_cut_is_named_by_the_proxy(
    start_hub: StartHub, upstream: FakeUpstream, pages: Pages
) -> None:
    api = await start_hub(proxy_upstream_url=upstream.url + "/", **PATIENT)
    pages.write("我每天早上喝乌龙茶，" * 2000)

    answer = await Client(api).chat(user("我喜欢喝什么茶？"))

    assert answer.headers["X-Memory-Degraded"] == "core.md"
    assert "我每天早上喝乌龙茶" in str(upstream.last.messages)


async def test_a_question_about_something_else_brings_no_passage(api: Api, pages: Pages) -> None:
    pages.write(HEALTH, "extended/health.md")

    for query in ("", "你好", "推荐一部电影吧", "What is the capital of Peru?"):
        assert "相关页面" not in await turn(api, query), query


async def test_a_page_that_is_named_is_quoted_from_its_beginning(api: Api, pages: Pages) -> None:
    pages.write("# 减肥计划\n每周跑步三次。\n", "extended/plan.md")

    assert "每周跑步三次。" in await turn(api, "我的减肥计划写了什么？")


async def test_the_stable_block_does_not_depend_on_the_question(api: Api, pages: Pages) -> None:
    for number in range(300):
        pages.write(f"# 杂记 {number}\n无\n", f"extended/{number:03}.md")
    pages.write(HEALTH, "extended/zz.md")

    blocks = [(await api.recall(query))["stable_block"] for query in ("血压", "", "杂记 7")]

    assert blocks[0] == blocks[1] == blocks[2]
    assert "### Extended\n- 共 301 页" in blocks[0]["text"]


@pytest.mark.parametrize(("language", "more"), [("zh-CN", "- 还有 "), ("en", "- and ")])
async def test_of_many_pages_the_relevant_ones_come_first(
    api: Api, pages: Pages, language: str, more: str
) -> None:
    await api.did("/user/settings", language=language)
    for number in range(300):
        pages.write(f"# 杂记 {number}\n无\n", f"extended/{number:03}.md")
    pages.write(HEALTH, "extended/zz.md")

    found = await api.recall("血压多少", deadline_ms=2000)

    index = found["turn_block"]["text"].split("### Extended\n")[1].splitlines()
    assert index[0] == "- 健康记录 (memory://extended/zz.md)"
    assert index[1] == "- 杂记 0 (memory://extended/000.md)"
    last = [line for line in index if line.startswith(more)]
    listed = [line for line in index if "(memory://" in line]
    assert last == [f"{more}{301 - len(listed)} {'页' if language == 'zh-CN' else 'more'}"]
    assert found["tokens"] <= 1000
    assert found["truncated"] is True


async def test_the_first_question_finds_the_one_page_of_a_large_folder(
    api: Api, pages: Pages
) -> None:
    for number in range(300):
        text = f"今天去公园散步，看到第 {number} 只猫。\n- We saw a cat.\n\n" * 40
        pages.write(f"# 杂记 {number}\n{text}", f"extended/{number:03}.md")
    pages.write("# 其他\n三月量的血压是 135/90。\n", "extended/zz.md")

    assert "135/90" in await turn(api, "血压多少", deadline_ms=2000)


async def test_an_edit_on_disk_is_found_at_once(api: Api, pages: Pages) -> None:
    pages.write(HEALTH, "extended/health.md")
    assert "135/90" in await turn(api, "血压多少")

    pages.write(HEALTH.replace("135/90", "120/80"), "extended/health.md")

    assert "120/80" in await turn(api, "血压多少")


async def test_what_was_forgotten_and_what_is_secret_is_not_quoted(api: Api, pages: Pages) -> None:
    line = "三月量的血压是 135/90。"
    pages.write(f"# 健康\n{line}\n血压计的密码是hunter2secret\n", "extended/health.md")
    memory = await api.remember(line, key="pressure")
    await api.did("/memory/forget", memory_id=memory)

    block = await turn(api, "血压多少")

    assert "135/90" not in block
    assert "hunter2secret" not in block


async def test_another_user_and_a_bot_find_nothing(api: Api, pages: Pages) -> None:
    pages.write(HEALTH, "extended/health.md")
    assert "135/90" in await turn(api, "血压多少")

    assert "135/90" not in await turn(api.as_("devkey2"), "血压多少")
    assert "135/90" not in await turn(api, "血压多少", bot_id="b1")


async def test_a_link_out_of_the_folder_is_not_searched(
    api: Api, pages: Pages, tmp_path: Path
) -> None:
    pages.write("# A", "extended/a.md")
    (tmp_path / "secret.md").write_text("血压 999", encoding="utf-8")
    (pages.folder / "extended" / "link.md").symlink_to(tmp_path / "secret.md")

    assert "999" not in await turn(api, "血压多少")


async def test_a_memory_and_a_page_do_not_say_the_same_twice(api: Api, pages: Pages) -> None:
    pages.write("# 健康\n- 血压是 135/90\n- 血压药早上吃\n", "extended/health.md")
    await api.remember("血压是 135/90", key="pressure")

    block = await turn(api, "血压多少")

    assert block.count("血压是 135/90") == 1
    assert "血压药早上吃" in block


class SlowFolders(FilePageFolders):
    """A disk that lists pages, and does not give what stands in them."""

    def __init__(self, root: Path, failure: type[Exception] | None) -> None:
        super().__init__(root)
        self._failure = failure

    async def read_pages(self, files: Sequence[tuple[Owner, str]]) -> list[PageFile | None]:
        if self._failure:
            raise self._failure("broken")
        await asyncio.sleep(30)
        return []


async def recalled(api: Api, folders: FilePageFolders, deadline_s: float) -> Recollection:
    assert api.hub is not None
    hub = api.hub
    reader = PageReader(hub.storage, hub.screening, folders)
    query = RecallQuery(
        viewpoint=Viewpoint(Owner("default", "userA", "p1")),
        text="血压多少",
        now=hub.storage.clock.now(),
        deadline_s=deadline_s,
    )
    return await replace(hub.recall, pages=reader)(query)


@pytest.mark.parametrize("failure", [None, Unavailable])
async def test_pages_that_cannot_be_searched_are_named_and_the_core_stays(
    api: Api, pages: Pages, failure: type[Exception] | None
) -> None:
    pages.write("喜欢茶")
    pages.write(HEALTH, "extended/health.md")
    folders = SlowFolders(pages.root, failure)
    started = time.monotonic()

    found = await recalled(api, folders, 0.3)

    assert time.monotonic() - started < 5
    assert found.degraded == ("pages",)
    assert "喜欢茶" in found.stable_block.text
    assert "健康记录" in found.stable_block.text
    folders.close()


async def test_a_recall_reads_so_much_and_the_next_one_goes_on(api: Api, pages: Pages) -> None:
    for number in range(30):
        pages.write(f"# 杂记 {number}\n{'x ' * 50_000}\n", f"extended/{number}.md")
    pages.write("量的血压是 135/90。\n", "extended/z.md")
    # What has just been written is read again each time, until the clock has moved on.
    await asyncio.sleep(0.15)
    folders = FilePageFolders(pages.root)
    assert api.hub is not None
    hub = replace(api.hub, recall=replace(
        api.hub.recall, pages=PageReader(api.hub.storage, api.hub.screening, folders)
    ))  # fmt: skip
    query = RecallQuery(
        viewpoint=Viewpoint(Owner("default", "userA", "p1")),
        text="杂记里的血压多少",
        now=hub.storage.clock.now(),
        deadline_s=2.0,
    )

    answers = [await hub.recall(query) for _ in range(20)]

    assert answers[0].degraded == ("pages",)
    assert answers[-1].degraded == ()
    assert "135/90" in answers[-1].turn_block
    folders.close()
