"""Core pages and memories in step: lines flow in, memories flow out, nobody's words are lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import Api, StartHub, refused
from page_parts import Pages
from plastic_memories.model.key import KeyLimits

ALLERGY = ("我对海鲜过敏", "profile", "constraint.allergy.seafood")
NAME = ("叫我阿明", "profile", "basic_info.name")


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


async def sync(api: Api) -> dict[str, object]:
    """Bring both pages into step; return what was done to the persona's."""
    items = (await api.did("/memory/pages/sync"))["items"]
    assert [item["page"] for item in items] == ["memory://core", "memory://persona/core"]
    done: dict[str, object] = items[1]
    return done


async def test_confirmed_memories_flow_out_into_a_readable_page(
    api: Api, own: Pages, hers: Pages
) -> None:
    allergy = await api.remember(*ALLERGY)
    name = await api.remember(*NAME)
    role = await api.confirmed("一名工程师", "identity")

    done = await sync(api)

    assert done["written"] == 3
    assert hers.core == (
        "---\ntitle: 核心记忆\ntags: [plastic-memories]\n---\n\n# 核心记忆\n\n## 记忆\n\n"
        "<!-- plastic-memories -->\n\n"
        f"- 我对海鲜过敏 ^pm-{allergy}\n- 叫我阿明 ^pm-{name}\n- 一名工程师 ^pm-{role}\n"
    )
    assert not (own.folder / "core.md").exists()


async def test_an_english_user_gets_an_english_page(api: Api, hers: Pages) -> None:
    await api.did("/user/settings", language="en")
    await api.remember("我喜欢 tea", "profile", "preference.like.tea")

    await sync(api)

    assert "title: Core memory" in hers.core
    assert "## Memories\n" in hers.core


async def test_only_what_is_confirmed_real_and_of_the_persona_flows_out(
    api: Api, own: Pages, hers: Pages
) -> None:
    await api.remember("waiting", "identity")
    await api.remember("a plain fact", key="f")
    await api.remember("a story", "profile", "preference.s", realm="story")
    await api.remember("of a bot", "profile", "preference.b", bot_id="b1")
    await api.remember("of an app", "profile", "preference.a", scope="app", source_app="x")
    await api.remember("of a session", "profile", "preference.n", scope="session", session_id="s")
    await api.remember("a member's", "profile", "preference.m", speaker="Tom")
    await api.remember("of all", "profile", "preference.g", scope="global")
    pinned = await api.remember("pinned fact", key="p")
    await api.did("/memory/update", memory_id=pinned, pinned=True)
    await api.of("p2").remember("of p2", "profile", "preference.2")

    await sync(api)

    assert hers.lines == [f"- pinned fact ^pm-{pinned}"]
    assert [line.split(" ^")[0] for line in own.lines] == ["- of all"]


@pytest.mark.parametrize(
    ("line", "kind", "key"),
    [
        ("- 我对花生过敏", "profile", "constraint.allergy.peanut"),
        ("* I like oolong tea", "profile", None),
        ("今天的 meeting 很长，下次要短一点", "note", None),
        ("3. 周末去爬山 with Anna", None, None),
    ],
)
async def test_a_line_that_is_added_becomes_an_explicit_memory(
    api: Api, hers: Pages, line: str, kind: str | None, key: str | None
) -> None:
    hers.write(f"# 我\n\n{line}\n")

    done = await sync(api)

    [memory_id] = done["added"]  # type: ignore[misc]
    row = await api.saw("/memory/get", memory_id=memory_id)
    assert row["content"] == line.removeprefix("- ").removeprefix("* ").removeprefix("3. ")
    assert (row["status"], row["source_type"]) == ("active", "user_explicit")
    assert row["source_app"] == "markdown"
    # An allergy is true for every persona.
    assert row["scope"] == ("global" if key else "persona")
    assert kind in (None, row["type"])
    assert key in (None, row["key"])
    assert hers.core == f"# 我\n\n{line} ^pm-{memory_id}\n"
    assert (await sync(api))["added"] == []


async def test_a_long_page_is_taken_in_as_a_whole(api: Api, hers: Pages) -> None:
    hers.write("".join(f"- 第{number}件 thing\n" for number in range(450)) + "- " + "长" * 33_000)

    done = await sync(api)

    assert len(done["added"]) == 450  # type: ignore[arg-type]
    assert hers.core.count(" ^pm-") == 450
    assert done["skipped"] == [{"line": 451, "reason": "longer than 32000 characters"}]
    assert (await sync(api))["added"] == []


async def test_many_lines_that_are_refused_come_to_an_end(api: Api, hers: Pages) -> None:
    secrets = "".join(f"- 我的密码是hunter{number}secret\n" for number in range(250))
    hers.write(secrets + "- 我喜欢爬山\n")

    done = await sync(api)

    assert len(done["skipped"]) == 250  # type: ignore[arg-type]
    assert await api.listed() == ["我喜欢爬山"]


async def test_a_line_in_the_users_own_page_holds_for_every_persona(api: Api, own: Pages) -> None:
    own.write("- 我喜欢爬山\n")

    await sync(api)

    assert await api.listed(scope="global") == ["我喜欢爬山"]
    assert await api.of("p2").recalled("爬山") == ["我喜欢爬山"]


async def test_a_line_that_is_changed_changes_its_memory(api: Api, hers: Pages) -> None:
    first = await api.remember(*NAME)
    slot = await api.confirmed("一名工程师", "identity")
    await sync(api)
    hers.change("叫我阿明", "叫我小明")
    hers.change("一名工程师", "一名 chef")

    done = await sync(api)

    assert done["added"] == []
    assert await api.listed(type="profile") == ["叫我小明"]
    assert await api.slots() == {"identity": "一名 chef"}
    assert hers.lines == [f"- 叫我小明 ^pm-{first}", f"- 一名 chef ^pm-{slot}"]
    history = await api.saw("/memory/history", memory_id=done["changed"][0])  # type: ignore[index]
    assert [row["content"] for row in history["items"]] == ["叫我阿明", "叫我小明"]


async def test_a_line_that_is_removed_revokes_its_memory_softly(api: Api, hers: Pages) -> None:
    allergy = await api.remember(*ALLERGY)
    await api.remember(*NAME)
    await sync(api)
    hers.drop("海鲜")

    done = await sync(api)

    assert done["revoked"] == [allergy]
    assert await api.status_of(allergy) == "revoked"
    assert await api.listed() == ["叫我阿明"]


@pytest.mark.parametrize("left", [None, "", "\n\n", "# 核心记忆\n"])
async def test_a_page_that_is_gone_or_empty_removes_nothing(
    api: Api, hers: Pages, left: str | None
) -> None:
    memory_id = await api.remember(*ALLERGY)
    await sync(api)
    (hers.folder / "core.md").unlink()
    if left is not None:
        hers.write(left)

    await sync(api)

    assert await api.status_of(memory_id) == "active"
    assert hers.lines == [f"- 我对海鲜过敏 ^pm-{memory_id}"]


async def test_what_changes_in_the_hub_changes_in_the_page(api: Api, hers: Pages) -> None:
    allergy = await api.remember(*ALLERGY)
    name = await api.remember(*NAME)
    await sync(api)
    hers.write("我自己写的话\n\n" + hers.core + "\n> 也是我的\n")
    await api.did("/memory/update", memory_id=name, content="叫我 Ming")
    await api.did("/memory/revoke", memory_id=allergy)

    await sync(api)

    assert hers.lines == [f"- 叫我 Ming ^pm-{name}"]
    assert hers.core.startswith("我自己写的话 ^pm-")
    assert hers.core.endswith("\n> 也是我的\n")


async def test_if_both_sides_changed_both_stay_visible(api: Api, hers: Pages) -> None:
    [said] = (await api.learn("叫我阿明"))["items"]
    await sync(api)
    hers.change("叫我阿明", "叫我大明")
    there = await api.did("/memory/update", memory_id=said["memory_id"], content="叫我小明")

    done = await sync(api)

    assert done["conflicts"] == [there["memory_id"]]
    assert [line.split(" ^")[0] for line in hers.lines] == ["- 叫我大明", "- 叫我小明"]
    assert sorted(await api.listed()) == ["叫我大明", "叫我小明"]
    assert (await sync(api))["conflicts"] == []


async def test_a_line_that_contradicts_another_line_takes_nothing_away(
    api: Api, hers: Pages
) -> None:
    hers.write("- 我在上海工作\n- 我在北京工作\n")
    await sync(api)
    hers.add("- 我在广州工作")

    await sync(api)

    said = [line.split(" ^")[0] for line in hers.lines]
    assert said == ["- 我在上海工作", "- 我在北京工作", "- 我在广州工作"]
    assert len(await api.listed()) == 3


async def test_a_line_removed_here_and_changed_there_stays(api: Api, hers: Pages) -> None:
    name = await api.remember(*NAME)
    await api.remember(*ALLERGY)
    await sync(api)
    hers.drop("阿明")
    await api.did("/memory/update", memory_id=name, content="叫我小明")

    done = await sync(api)

    assert done["revoked"] == []
    assert f"- 叫我小明 ^pm-{name}" in hers.lines


async def test_a_line_changed_here_and_revoked_there_is_remembered_anew(
    api: Api, hers: Pages
) -> None:
    name = await api.remember(*NAME)
    await sync(api)
    hers.change("叫我阿明", "叫我小明")
    await api.did("/memory/revoke", memory_id=name)

    await sync(api)

    assert await api.listed() == ["叫我小明"]


async def test_a_secret_is_not_taken_in_and_stays_where_it_is(api: Api, hers: Pages) -> None:
    name = await api.remember(*NAME)
    await sync(api)
    hers.add("- 我的密码是hunter2secret")
    hers.change("叫我阿明", "my api token: sk-abcdefghijklmnopqrstuvwx1234")
    before = hers.core

    done = await sync(api)

    assert [one["reason"] for one in done["skipped"]] == ["sensitive: credential"] * 2  # type: ignore[attr-defined]
    assert hers.core == before
    assert await api.listed() == ["叫我阿明"]
    hers.change("my api token: sk-abcdefghijklmnopqrstuvwx1234", "叫我小明")
    assert (await sync(api))["changed"] == [name + 1]


async def test_what_was_forgotten_for_good_may_be_written_down_again(api: Api, hers: Pages) -> None:
    memory_id = await api.remember(*ALLERGY)
    await api.did("/memory/forget", memory_id=memory_id, never_again=True)
    hers.write("- 我对海鲜过敏\n")

    await sync(api)

    assert await api.listed() == ["我对海鲜过敏"]


async def test_the_other_sides_line_endings_and_encoding_are_kept(api: Api, hers: Pages) -> None:
    hers.write("x")
    page = hers.folder / "core.md"
    page.write_bytes("# 我\r\n- 喜欢茶\r\n".encode("gb18030"))
    await api.remember(*NAME)

    await sync(api)

    text = page.read_bytes().decode("gb18030")
    assert text.startswith("# 我\r\n- 喜欢茶 ^pm-")
    assert "\n" not in text.replace("\r\n", "")


@pytest.mark.parametrize("raw", [b"\xff\xfe\x00\x01\x02", b"\x00\x01binary", b"x" * 300_000])
async def test_a_page_that_cannot_be_read_whole_is_left_alone(
    api: Api, hers: Pages, raw: bytes
) -> None:
    await api.remember(*NAME)
    hers.write("x")
    (hers.folder / "core.md").write_bytes(raw)

    refused(await api.post("/memory/pages/sync"), 409, "conflict")

    assert (hers.folder / "core.md").read_bytes() == raw


async def test_a_key_bound_to_a_persona_leaves_the_shared_page_alone(api: Api, own: Pages) -> None:
    assert api.hub is not None
    own.write("- 我喜欢爬山\n")
    limits = KeyLimits(persona_id="p1")
    key, _ = await api.hub.keys.create("default", "userA", "bound", limits)
    bound = api.as_(key)

    items = (await bound.did("/memory/pages/sync"))["items"]

    assert [item["page"] for item in items] == ["memory://persona/core"]
    assert own.core == "- 我喜欢爬山\n"
    refused(await bound.of("p2").post("/memory/pages/sync"), 403, "forbidden")


async def test_another_users_anchors_mean_nothing(api: Api, own: Pages) -> None:
    memory_id = await api.remember(*ALLERGY)
    await sync(api)
    theirs = own.by("userB").of("p1")
    theirs.write(f"- something else ^pm-{memory_id}\n")

    await sync(api.as_("devkey2"))
    theirs.write("- nothing of it\n")
    await sync(api.as_("devkey2"))

    assert await api.status_of(memory_id) == "active"
    assert await api.listed() == ["我对海鲜过敏"]


# Watching


async def test_once_asked_for_both_sides_are_kept_in_step(api: Api, hers: Pages) -> None:
    assert api.hub is not None
    await api.remember(*NAME)
    assert await api.hub.page_sync.sync_changed(everybody=False) == 0
    assert not hers.exist()

    await sync(api)
    hers.add("- 我喜欢爬山")
    await api.remember(*ALLERGY)
    assert await api.hub.page_sync.sync_changed(everybody=False) > 0

    said = [line.split(" ^")[0] for line in hers.lines]
    assert said == ["- 叫我阿明", "- 我喜欢爬山", "- 我对海鲜过敏"]
    assert "我喜欢爬山" in await api.listed()


async def test_a_watched_page_that_is_in_step_is_left_alone(api: Api, hers: Pages) -> None:
    assert api.hub is not None
    await api.remember(*NAME)
    await sync(api)
    page = hers.folder / "core.md"
    await api.hub.page_sync.sync_changed(everybody=False)
    before = page.stat()

    await api.say("只是聊天")
    await api.hub.page_sync.sync_changed(everybody=False)

    assert page.stat().st_mtime_ns == before.st_mtime_ns
    assert page.stat().st_ino == before.st_ino


async def test_a_broken_page_does_not_hold_up_the_others(api: Api, own: Pages, hers: Pages) -> None:
    assert api.hub is not None
    await api.remember(*NAME)
    await sync(api)
    own.write("x")
    (own.folder / "core.md").write_bytes(b"\xff\xff\xff")
    hers.add("- 我喜欢爬山")

    await api.hub.page_sync.sync_changed(everybody=False)

    assert "我喜欢爬山" in await api.listed()


async def test_everybodys_pages_are_written_if_the_settings_say_so(
    start_hub: StartHub, own: Pages, hers: Pages
) -> None:
    api = await start_hub(markdown="sync", markdown_poll_s="3600")
    assert api.hub is not None
    await api.remember(*NAME)
    await api.as_("devkey2").remember("likes tea", "profile", "preference.like.tea")

    await api.hub.page_sync.sync_changed(everybody=True)

    assert [line.split(" ^")[0] for line in hers.lines] == ["- 叫我阿明"]
    assert [line.split(" ^")[0] for line in own.by("userB").of("p1").lines] == ["- likes tea"]
