"""What is forgotten vanishes from the pages too, and nothing comes back through them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness import Api, StartHub
from page_parts import Pages


@pytest.fixture
async def api(start_hub: StartHub) -> Api:
    """A hub that looks at pages only when it is told to."""
    opened: Api = await start_hub(markdown_poll_s="3600")
    return opened


@pytest.fixture
def own(tmp_path: Path) -> Pages:
    return Pages(tmp_path)


@pytest.fixture
def hers(own: Pages) -> Pages:
    return own.of("p1")


async def forget(api: Api, memory_id: int, **more: Any) -> Any:
    done = await api.did("/memory/forget", memory_id=memory_id, **more)
    return done["receipt"].get("pages")


async def test_a_forgotten_line_is_gone_at_once(api: Api, hers: Pages) -> None:
    allergy = await api.remember("我对海鲜过敏", "profile", "constraint.allergy.seafood")
    await api.remember("叫我阿明", "profile", "basic_info.name")
    await api.did("/memory/pages/sync")

    receipt = await forget(api, allergy)

    assert receipt == {"checked": 1, "lines_removed": 1, "hidden_in": [], "waiting": 0}
    assert [line.split(" ^")[0] for line in hers.lines] == ["- 叫我阿明"]


async def test_every_version_of_it_is_gone(api: Api, hers: Pages) -> None:
    first = await api.remember("I live in Berlin", "profile", "basic_info.city")
    hers.write("- I live in Berlin\n- 别的话\n")
    changed = await api.did("/memory/update", memory_id=first, content="I live in Paris")

    receipt = await forget(api, changed["memory_id"])

    assert receipt["lines_removed"] == 1
    assert hers.core == "- 别的话\n"


@pytest.mark.parametrize(
    ("known", "line"), [("我住在臺灣", "我住在台湾"), ("我住在台湾", "我住在臺灣")]
)
async def test_a_line_in_the_other_script_is_gone_as_well(
    api: Api, hers: Pages, known: str, line: str
) -> None:
    memory_id = await api.remember(known, "profile", "basic_info.city")
    hers.write(f"- {line}\n- 别的话\n")

    receipt = await forget(api, memory_id)

    assert receipt["lines_removed"] == 1
    assert hers.core == "- 别的话\n"


async def test_a_persons_own_text_that_repeats_it_stays_in_the_file_and_is_seen_by_nobody(
    api: Api, own: Pages, hers: Pages
) -> None:
    memory_id = await api.remember("我对海鲜过敏", key="allergy")
    mine = "# 我\n医生说我对海鲜过敏，要小心\n- 喜欢茶\n"
    hers.write(mine)
    page = "# 我对海鲜过敏的一年\n\n  * 我对海鲜过敏!\n其他 notes\n"
    own.write(page, "extended/year.md")
    own.write("# nothing of it", "extended/other.md")

    receipt = await forget(api, memory_id)

    assert receipt == {
        "checked": 3,
        "lines_removed": 0,
        "hidden_in": ["memory://extended/year.md", "memory://persona/core"],
        "waiting": 0,
    }
    assert hers.core == mine
    assert (own.folder / "extended" / "year.md").read_text(encoding="utf-8") == page
    index = await api.saw("/memory/pages")
    assert "海鲜" not in str(index)
    assert "喜欢茶" in index["core"]["text"]
    shown = await api.saw("/memory/page", page_id="memory://extended/year.md")
    assert (shown["title"], shown["text"].strip()) == ("year.md", "其他 notes")
    assert "海鲜" not in str(await api.recall(""))


async def test_it_does_not_come_back_with_the_next_rounds(api: Api, hers: Pages) -> None:
    memory_id = await api.remember("我对海鲜过敏", "profile", "constraint.allergy.seafood")
    await api.did("/memory/pages/sync")
    hers.add("医生说我对海鲜过敏，要小心")
    await forget(api, memory_id)

    for _ in range(2):
        await api.did("/memory/pages/sync")

    assert await api.listed("all") == []
    assert hers.core.endswith("医生说我对海鲜过敏，要小心\n")


async def test_a_line_of_another_memory_stays_with_it(api: Api, hers: Pages) -> None:
    memory_id = await api.remember("我对海鲜过敏", key="allergy")
    hers.write("- 医生说我对海鲜过敏，要小心\n")
    await api.did("/memory/pages/sync")

    receipt = await forget(api, memory_id)

    assert receipt["hidden_in"] == []
    assert await api.listed() == ["医生说我对海鲜过敏，要小心"]


async def test_an_edited_line_of_what_is_forgotten_is_hidden(api: Api, hers: Pages) -> None:
    memory_id = await api.remember("我对海鲜过敏", "profile", "constraint.allergy.seafood")
    await api.did("/memory/pages/sync")
    hers.change("我对海鲜过敏", "海鲜完全不能碰")

    receipt = await forget(api, memory_id)

    assert receipt["hidden_in"] == ["memory://persona/core"]
    await api.did("/memory/pages/sync")
    assert await api.listed("all") == []
    assert "海鲜完全不能碰" in hers.core


async def test_a_hidden_line_that_is_changed_is_a_new_statement(api: Api, hers: Pages) -> None:
    memory_id = await api.remember("我对海鲜过敏", key="allergy")
    hers.write("医生说我对海鲜过敏，要小心\n")
    await forget(api, memory_id)
    hers.write("医生说我已经好了\n")

    await api.did("/memory/pages/sync")

    assert await api.listed() == ["医生说我已经好了"]


async def test_an_anchored_line_is_not_shown_while_its_memory_is_gone(
    api: Api, hers: Pages
) -> None:
    memory_id = await api.remember("喜欢潜水", "profile", "preference.like.diving")
    await api.did("/memory/pages/sync")
    assert "喜欢潜水" in (await api.recall(""))["stable_block"]["text"]

    await api.did("/memory/revoke", memory_id=memory_id)

    assert "潜水" in hers.core  # until the next round
    assert "潜水" not in str(await api.recall(""))


async def test_short_words_hide_nothing_else(api: Api, hers: Pages) -> None:
    memory_id = await api.remember("tea", key="t")
    hers.write("- the team meets here\n")

    receipt = await forget(api, memory_id)

    assert receipt["hidden_in"] == []
    assert "the team meets here" in (await api.recall(""))["stable_block"]["text"]


async def test_without_pages_a_receipt_says_nothing_of_them(api: Api) -> None:
    assert await forget(api, await api.remember("x y z")) is None


async def test_another_users_pages_are_not_touched(api: Api, own: Pages) -> None:
    memory_id = await api.remember("我对海鲜过敏", key="a")
    own.write("x")
    theirs = own.by("userB")
    theirs.write("- 我对海鲜过敏\n")

    await forget(api, memory_id)

    assert theirs.core == "- 我对海鲜过敏\n"
    assert "海鲜" in (await api.as_("devkey2").recall(""))["stable_block"]["text"]


async def test_a_persona_that_is_deleted_leaves_only_what_was_written_by_hand(
    api: Api, own: Pages, hers: Pages
) -> None:
    await api.remember("我对海鲜过敏", "profile", "constraint.allergy.seafood")
    await api.did("/memory/pages/sync")
    hers.add("> 我引用的")
    hers.write("# mine", "extended/a.md")

    gone = await api.did("/persona/delete", confirm="p1")

    assert gone["receipt"]["pages"] == {"lines_removed": 1, "left": 2, "waiting": 0}
    assert hers.lines == []
    assert "> 我引用的" in hers.core
    await api.did("/memory/pages/sync")
    assert await api.listed("all") == []
