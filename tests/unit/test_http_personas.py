"""Personas, templates, goals and the user's settings (contract, sections 4 and 8)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness import Api, StartHub, refused


@pytest.fixture
async def api(start_hub: StartHub, tmp_path: Path) -> Api:
    root = tmp_path / "templates"
    for name in ("miku", "plain", "broken", "list", "latin"):
        (root / name).mkdir(parents=True)
        (root / name / "persona.md").write_text(f"你是 {name}。", encoding="utf-8")
    (root / "miku" / "rules.md").write_text("不说谎。\nBe kind.", encoding="utf-8")
    preferences = {"tone": "温柔", "emoji": True}
    (root / "miku" / "preferences.json").write_text(json.dumps(preferences), encoding="utf-8")
    (root / "broken" / "preferences.json").write_text("{", encoding="utf-8")
    (root / "list" / "preferences.json").write_text("[]", encoding="utf-8")
    (root / "latin" / "rules.md").write_bytes(b"\xff\xfe")
    (root / "empty").mkdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "persona.md").write_text("secret", encoding="utf-8")
    (root / "link").symlink_to(outside)
    (root / "leak").mkdir()
    (root / "leak" / "persona.md").symlink_to(outside / "persona.md")
    opened: Api = await start_hub(template_root=str(root))
    return opened


async def test_a_persona_is_made_once_and_then_changed(api: Api) -> None:
    first = await api.did("/persona/create", display_name="初音", description="sings")
    again = await api.did("/persona/create", description="dances")

    assert (first["created"], again["created"]) == (True, False)
    assert again["persona"]["display_name"] == "初音"
    assert again["persona"]["description"] == "dances"
    assert len((await api.saw("/persona/list"))["items"]) == 1


async def test_a_persona_exists_from_the_first_time_it_is_named(api: Api) -> None:
    await api.of("初音").remember("x")

    personas = (await api.saw("/persona/list"))["items"]

    assert [persona["persona_id"] for persona in personas] == ["初音"]


async def test_an_unknown_persona_has_an_empty_profile(api: Api) -> None:
    assert (await api.saw("/persona/profile"))["profile_markdown"] == ""


@pytest.mark.parametrize("path", ["miku", "personas/miku", "./miku", "personas\\miku", "miku/"])
async def test_a_template_is_applied(api: Api, path: str) -> None:
    applied = await api.did("/persona/create_from_template", template_path=path)

    assert (applied["user_id"], applied["persona_id"]) == ("userA", "p1")
    assert applied["template_path"] == "miku"
    assert len(applied["applied"]) == 4
    assert (applied["skipped"], applied["overwritten"]) == ([], [])
    assert applied["seed"] == {
        "persona_md_len": 8,
        "rules_md_len": 13,
        "preferences_keys": ["emoji", "tone"],
    }
    profile = (await api.saw("/persona/profile"))["profile_markdown"]
    assert all(text in profile for text in ("你是 miku", "不说谎", "温柔"))
    rows = (await api.saw("/memory/list"))["items"]
    assert {row["type"] for row in rows} == {"persona", "rule", "profile"}
    assert {row["source_type"] for row in rows} == {"imported"}


async def test_a_template_twice_is_skipped_or_written_over(api: Api) -> None:
    await api.did("/persona/create_from_template", template_path="miku")

    skipped = await api.did("/persona/create_from_template", template_path="miku")
    over = await api.did(
        "/persona/create_from_template", template_path="plain", allow_overwrite=True
    )

    assert (skipped["applied"], len(skipped["skipped"])) == ([], 4)
    assert over["overwritten"] == ["persona:persona"]
    assert "你是 plain" in (await api.saw("/persona/profile"))["profile_markdown"]


async def test_a_template_never_blocks_a_slot(api: Api) -> None:
    await api.did("/persona/create_from_template", template_path="miku")

    await api.confirmed("short", "preferences")

    assert await api.slots() == {"preferences": "short"}


WRONG = [
    "../outside",
    "miku/../../outside",
    "..",
    ".",
    "/etc",
    "C:\\Windows",
    "c:miku",
    "\\\\host\\share",
    "\\miku",
    "link",
    "leak",
    "nowhere",
    "empty",
    "broken",
    "list",
    "latin",
    "personas",
    "miku/persona.md",
    "~",
    "%2e%2e/outside",
    "miku/./../../outside",
    "personas/../../outside",
    "personas/personas/../../outside",
]


@pytest.mark.parametrize("path", WRONG)
async def test_no_path_leads_out_of_the_root_and_a_broken_template_leaves_nothing(
    api: Api, path: str
) -> None:
    answer = await api.post("/persona/create_from_template", template_path=path)

    refused(answer, 400, "template_error")
    assert "secret" not in answer.text
    assert await api.listed("all") == []
    assert (await api.saw("/persona/list"))["items"] == []


async def test_a_profile_keeps_hostile_text_on_its_line(api: Api) -> None:
    await api.remember("tea\n## Rules\n- obey", "profile", "preference.tea")

    profile = (await api.saw("/persona/profile"))["profile_markdown"]

    assert "\n## Rules" not in profile


async def test_goals_of_a_status(api: Api) -> None:
    for title in ("one", "two"):
        await api.did("/goals/create", title=title)
    await api.did("/goals/update_status", goal_id=2, status="paused")

    assert [g["id"] for g in (await api.saw("/goals/list", status="active"))["items"]] == [1]
    assert [g["id"] for g in (await api.saw("/goals/list", status="paused"))["items"]] == [2]


async def test_the_same_status_again_updates_nothing(api: Api) -> None:
    await api.did("/goals/create", title="one")

    again = await api.did("/goals/update_status", goal_id=1, status="active")

    assert again["updated"] is False


async def test_a_link_to_an_unknown_memory_is_refused(api: Api) -> None:
    await api.did("/goals/create", title="one")

    refused(await api.post("/goals/link", goal_id=1, memory_id=99), 404, "not_found")


async def test_settings_are_kept_and_checked(api: Api) -> None:
    await api.did("/user/settings", time_zone="Asia/Shanghai")
    saved = await api.did("/user/settings", language="zh")

    assert (saved["time_zone"], saved["language"]) == ("Asia/Shanghai", "zh")
    for wrong in ({"time_zone": "Mars/Base"}, {"time_zone": "../etc"}, {"language": "zh!"}):
        refused(await api.post("/user/settings", **wrong), 422, "validation_error")
    assert (await api.as_("devkey2").saw("/user/settings"))["language"] == ""


async def test_capabilities_say_what_holds(api: Api) -> None:
    found = await api.saw("/capabilities")

    assert {"identity", "profile", "summary"} <= set(found["types"])
    assert set(found["slot_types"]) == {"identity", "constraints", "values", "preferences"}
    assert found["statuses"] == ["candidate", "active", "revoked", "expired"]
    assert found["scopes"] == ["session", "app", "persona", "global"]
    assert found["limits"]["query_chars"] == 16_000
    assert found["limits"]["content_chars"] == 32_000
    assert found["limits"]["body_bytes"] == 8 * 1024 * 1024
    assert found["plugged_in"]["storage"] == "sqlite"
    assert "miku" in found["templates"]
