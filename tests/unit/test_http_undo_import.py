"""An import can be taken back: all it added, and nothing that was there or is used since."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness import Api, Json, environment, refused
from plastic_memories.cli.main import main
from plastic_memories.model.key import KeyLimits

MESSAGE = {"kind": "message", "id": 7, "role": "user", "content": "我喜欢绿茶", "ts": 1.0,
           "session_id": "s"}  # fmt: skip
TEA = {"kind": "memory", "id": 1, "type": "fact", "key": "tea", "content": "绿茶",
       "status": "active", "source_message_ids": [7]}  # fmt: skip
NAME = {"kind": "memory", "id": 2, "type": "profile", "key": "basic_info.name",
        "content": "阿明", "status": "active"}  # fmt: skip
GOAL = {"kind": "goal", "id": 1, "title": "学 Rust"}
ALL = (MESSAGE, TEA, NAME, GOAL)


def lines(*rows: Json, persona: str = "p1") -> str:
    return "\n".join(json.dumps({"persona_id": persona, **row}) for row in rows)


async def imported(api: Api, *rows: Json, **more: Any) -> Json:
    body: Json = (await api.bring_in(lines(*rows), **more)).json()["data"]
    return body


async def undone(api: Api, import_id: int) -> Json:
    return await api.did("/import/undo", import_id=import_id)


async def test_what_an_import_added_is_taken_back(api: Api) -> None:
    await api.remember("咖啡", key="coffee")
    await api.say("早上好")
    done = await imported(api, *ALL)

    taken = await undone(api, done["import_id"])

    assert taken["counts"] == {"memories": 2, "messages": 1, "goals": 1}
    assert await api.listed(status="all") == ["咖啡"]
    [left] = (await api.saw("/messages/recent"))["messages"]
    assert left["content"] == "早上好"
    assert "绿茶" not in (await api.recall("绿茶"))["injection_block"]


async def test_what_was_there_before_stays(api: Api) -> None:
    await imported(api, *ALL)
    again = await imported(api, *ALL)

    taken = await undone(api, again["import_id"])

    assert taken["counts"] == {}
    assert len(await api.listed(status="all")) == 2


async def test_a_persona_that_came_with_the_import_goes_with_it(api: Api) -> None:
    done = (await api.bring_in(lines(TEA, persona="new"))).json()["data"]

    taken = await undone(api, done["import_id"])

    assert taken["counts"] == {"memories": 1, "personas": 1}
    assert (await api.saw("/persona/list"))["items"] == []


async def test_what_was_confirmed_or_learned_from_since_is_kept_and_named(api: Api) -> None:
    done = await imported(api, MESSAGE, TEA, NAME)
    [name] = (await api.saw("/memory/list", status="candidate"))["items"]
    await api.did("/memory/confirm", memory_id=name["id"])
    [message] = (await api.saw("/messages/recent"))["messages"]
    await api.remember("爱喝茶", key="mine", source_message_ids=[message["id"]])

    taken = await undone(api, done["import_id"])

    assert taken["counts"] == {"memories": 1}
    assert taken["kept"] == {"memories": [name["id"]], "messages": [message["id"]]}
    assert set(await api.listed()) == {"阿明", "爱喝茶"}


async def test_a_slot_is_cleared_with_the_row_it_came_from(api: Api) -> None:
    identity = {**TEA, "type": "identity", "key": "id", "content": "dev", "source_message_ids": []}
    done = await imported(api, identity, trust=True)
    assert await api.slots() == {"identity": "dev"}

    await undone(api, done["import_id"])

    assert await api.slots() == {}


async def test_a_continued_import_is_taken_back_as_one(api: Api) -> None:
    first = await imported(api, TEA)
    await imported(api, NAME, import_id=first["import_id"])

    taken = await undone(api, first["import_id"])

    assert taken["counts"]["memories"] == 2


async def test_taking_back_twice_changes_nothing_more(api: Api) -> None:
    done = await imported(api, *ALL)
    await undone(api, done["import_id"])

    assert (await undone(api, done["import_id"]))["counts"] == {}


async def test_nobody_takes_back_the_import_of_another(api: Api) -> None:
    done = await imported(api, *ALL)

    answer = await api.as_("devkey2").post("/import/undo", import_id=done["import_id"])

    refused(answer, 404, "not_found")
    assert len(await api.listed(status="all")) == 2


@pytest.mark.parametrize(
    ("limits", "status", "code"),
    [
        (KeyLimits(source_app="ide"), 404, "not_found"),
        (KeyLimits(persona_id="other"), 403, "forbidden"),
        (KeyLimits(read_only=True), 403, "forbidden"),
    ],
)
async def test_a_bound_key_takes_back_no_more_than_it_may_reach(
    api: Api, limits: KeyLimits, status: int, code: str
) -> None:
    done = await imported(api, *ALL)
    assert api.hub is not None
    key, _ = await api.hub.keys.create("default", "userA", "bound", limits)

    answer = await api.as_(key).post("/import/undo", import_id=done["import_id"])

    refused(answer, status, code)
    assert len(await api.listed(status="all")) == 2


async def test_a_number_that_is_no_import_is_not_found(api: Api) -> None:
    await api.remember("咖啡")

    for number in (1, 999_999):
        refused(await api.post("/import/undo", import_id=number), 404, "not_found")


async def test_a_dry_run_has_nothing_to_take_back(api: Api) -> None:
    assert (await imported(api, *ALL, dry_run=True))["import_id"] is None


def test_the_command_line_says_how_to_take_it_back(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(lines(TEA), encoding="utf-8")
    env = environment(tmp_path, api_keys="", port="1")

    told = CliRunner().invoke(main, ["import", str(file)], env=env).output
    number = told.split("--undo ")[1].split()[0]
    done = CliRunner().invoke(main, ["import", "--undo", number], env=env)

    assert done.exit_code == 0, done.output
    assert "memories" in done.output
    assert "绿茶" not in CliRunner().invoke(main, ["list"], env=env).output
