"""Export and import: everything comes along, and nothing comes twice."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from harness import Api, data_of, refused
from plastic_memories.model.key import KeyLimits

Line = dict[str, Any]
# What differs from place to place by its nature.
LOCAL = {
    "id",
    "root_id",
    "supersedes_id",
    "superseded_by",
    "source_message_ids",
    "updated_at",
    "links",
}


async def a_life(api: Api) -> None:
    """Store one of everything an export holds."""
    await api.did("/persona/create", display_name="初音", description="sings")
    await api.did("/user/settings", language="zh-CN", time_zone="Asia/Shanghai")
    message_id = await api.say("我对海鲜过敏", session_id="s1", speaker="我", client_msg_id="c1")
    await api.remember(
        "我对海鲜过敏",
        "profile",
        "constraint.allergy.seafood",
        source_message_ids=[message_id],
        tags=["food"],
        metadata={"a": [1, {"b": None}]},
        importance=0.9,
    )
    first = await api.confirmed("dev", "identity", "id1")
    second = await api.remember("student", "identity", "id2")
    await api.did("/memory/confirm", memory_id=second, supersedes_id=first)
    await api.remember("maybe", "fact", "m", source_type="model_inferred")
    await api.confirmed("a", "preferences", "a")
    await api.confirmed("b", "preferences", "b", coexist=True)
    await api.remember("botty", "fact", "bot", bot_id="b1")
    await api.remember("story", "fact", "st", realm="story")
    await api.remember("everywhere", "fact", "g", scope="global", pinned=True)
    goal_id = (await api.did("/goals/create", title="学 Rust", details="每天"))["goal_id"]
    await api.did("/goals/link", goal_id=goal_id, memory_id=second, note="why")
    await api.of("p2").remember("other persona", "note", "n")


def lines_of(exported: bytes) -> list[Line]:
    """Return the lines of an export without the last one, which signs them."""
    *lines, last = [json.loads(line) for line in exported.decode().splitlines()]
    assert last["kind"] == "signature"
    return lines


def essence(lines: list[Line], kind: str) -> list[str]:
    """Return the lines of a kind without what differs from place to place."""
    local = LOCAL | ({"created_at"} if kind == "persona" else set())
    kept = [
        {name: value for name, value in line.items() if name not in local}
        for line in lines
        if line["kind"] == kind
    ]
    return sorted(json.dumps(line, sort_keys=True, ensure_ascii=False) for line in kept)


@pytest.mark.parametrize("kind", ["jsonl", "bundle"])
@pytest.mark.parametrize("whose", [("default", "userB"), ("acme", "alice")])
async def test_another_user_who_trusts_it_can_take_it_all_over(
    api: Api, kind: str, whose: tuple[str, str]
) -> None:
    await a_life(api)
    exported = await api.export(kind)
    assert api.hub is not None
    key, _ = await api.hub.keys.create(*whose, "test", KeyLimits())
    other = api.as_(key)

    report = data_of(await other.bring_in(exported, trust=True))

    assert (report["conflicts"], report["skipped"]) == ([], [])
    mine, theirs = lines_of(await api.export()), lines_of(await other.export())
    for part in ("persona", "message", "memory", "goal"):
        assert essence(mine, part) == essence(theirs, part)


async def test_statuses_chains_slots_and_links_come_along(api: Api) -> None:
    await a_life(api)
    other = api.as_("devkey2")

    await other.bring_in(await api.export(), trust=True)

    assert await other.slots() == await api.slots()
    assert sorted(await other.listed("all", bots="all")) == sorted(
        await api.listed("all", bots="all")
    )
    rows = {row["key"]: row for row in (await other.saw("/memory/list", status="all"))["items"]}
    assert rows["id1"]["superseded_by"] == rows["id2"]["id"]
    assert rows["id2"]["supersedes_id"] == rows["id1"]["id"]
    [goal] = (await other.saw("/goals/list"))["items"]
    assert [link["memory_id"] for link in goal["links"]] == [rows["id2"]["id"]]
    allergy = rows["constraint.allergy.seafood"]
    [message] = (await other.saw("/messages/recent"))["messages"]
    assert allergy["source_message_ids"] == [message["id"]]
    assert await other.recalled("海鲜")


async def test_the_settings_come_along(api: Api) -> None:
    await a_life(api)
    other = api.as_("devkey2")

    await other.bring_in(await api.export(), trust=True)

    settings = await other.saw("/user/settings")
    assert (settings["language"], settings["time_zone"]) == ("zh-CN", "Asia/Shanghai")


async def test_importing_twice_changes_nothing(api: Api) -> None:
    await a_life(api)
    exported = await api.export()
    before = lines_of(exported)[1:]

    report = data_of(await api.bring_in(exported))

    assert set(report["counts"]) <= {"already_there"}
    assert report["conflicts"] == []
    assert lines_of(await api.export())[1:] == before


async def test_a_dry_run_stores_nothing(api: Api) -> None:
    await a_life(api)
    other = api.as_("devkey2")

    tried = data_of(await other.bring_in(await api.export(), dry_run=True))
    after_trial = lines_of(await other.export())
    done = data_of(await other.bring_in(await api.export()))

    assert tried["dry_run"] is True
    assert [line["kind"] for line in after_trial] == ["plastic_memories", "settings"]
    assert tried["counts"] == done["counts"]


async def test_a_conflict_is_named_and_the_rest_comes_in(api: Api) -> None:
    await a_life(api)
    other = api.as_("devkey2")
    mine = await other.confirmed("teacher", "identity", "x")

    report = data_of(await other.bring_in(await api.export()))

    [conflict] = report["conflicts"]
    assert (conflict["type"], conflict["active_memory_id"]) == ("identity", mine)
    assert (await other.slots())["identity"] == "teacher"
    assert await other.recalled("海鲜")


async def test_rows_of_every_scope_come_along(api: Api) -> None:
    for session in ("s1", "s2"):
        await api.remember("同样的话", "fact", "k", scope="session", session_id=session)
    await api.remember("同样的话", "fact", "k")
    await api.remember("同样的话", "fact", "k", scope="global")
    await api.remember("同样的话", "fact", "k", realm="story")
    other = api.as_("devkey2")

    await other.bring_in(await api.export(), trust=True)

    assert len(await other.listed()) == 5


async def test_a_history_that_returns_to_its_start_comes_along(api: Api) -> None:
    for place in ("上海", "Paris", "上海", "Paris"):
        await api.remember(place, "profile", "place")
    other = api.as_("devkey2")

    await other.bring_in(await api.export())

    assert await other.listed() == ["Paris"]
    assert len(await other.listed("all")) == 4


@pytest.mark.parametrize("kind", ["jsonl", "markdown", "bundle"])
async def test_an_export_holds_nothing_of_others(api: Api, kind: str) -> None:
    await api.as_("devkey2").remember("zanzibar")
    await api.as_("acmekey", "userA").remember("zanzibar")

    assert b"zanzibar" not in await api.export(kind)


async def test_a_bundle_holds_lines_and_a_readable_form(api: Api) -> None:
    await a_life(api)

    archive = zipfile.ZipFile(io.BytesIO(await api.export("bundle")))

    assert set(archive.namelist()) == {"export.jsonl", "memories.md"}
    assert "海鲜" in archive.read("memories.md").decode()


async def test_an_export_of_one_persona(api: Api) -> None:
    await a_life(api)

    answer = await api.http.get(
        "/export", params={"persona_id": "p2"}, headers={"X-API-Key": "devkey"}
    )

    personas = {line.get("persona_id") for line in lines_of(answer.content)} - {None}
    assert personas == {"p2"}


MEMORY = {"kind": "memory", "persona_id": "p1", "type": "fact", "key": "k", "content": "tea"}
STRANGE: list[dict[str, Any]] = [
    {"type": "nonsense"},
    {"content": 1},
    {"content": ""},
    {"content": "x\x00y"},
    {"key": None},
    {"key": ""},
    {"persona_id": ""},
    {"persona_id": 5},
    {"status": "dead"},
    {"status": None},
    {"tags": "x"},
    {"tags": [1]},
    {"metadata": ["x"]},
    {"confidence": 7},
    {"importance": -1},
    {"supersedes_id": "x"},
    {"source_message_ids": ["x"]},
    {"expires_at": "soon"},
]


async def test_strange_lines_are_skipped_one_by_one(api: Api) -> None:
    lines = [json.dumps({**MEMORY, **change}) for change in STRANGE]
    good = json.dumps({**MEMORY, "key": "good"})

    report = data_of(await api.bring_in("\n".join([*lines, "{", "[]", "7", '{"a":1}', good])))

    assert sorted(skip["line"] for skip in report["skipped"]) == list(range(1, len(lines) + 5))
    assert report["counts"] == {"memories": 1}


POISON = [
    '"recall_count": 1e400',
    '"recall_count": 99999999999999999999999',
    '"id": 99999999999999999999999',
    '"created_at": Infinity',
    '"created_at": NaN',
    '"created_at": 1e300',
    '"occurred_at": 1e18',
    '"occurred_at": -1e18',
    '"occurred_at": -Infinity',
    '"updated_at": NaN',
    '"expires_at": NaN',
    '"expires_at": ' + "9" * 400,
    '"confidence": NaN',
    '"content": "tea \\ud800"',
    '"key": "\\ud800"',
    '"tags": ["\\ud800"]',
    '"metadata": {"a": "\\ud800"}',
    '"metadata": {"a": NaN}',
    '"attributes": {"value": Infinity}',
    '"persona_id": "\\ud800"',
    '"key": "a\\n# heading"',
    '"persona_id": "' + "p" * 10_000 + '"',
    '"metadata": ' + '{"a":' * 20_000 + "1" + "}" * 20_000,
    '"user_id": ' + "[" * 100_000,
]


@pytest.mark.parametrize("part", POISON, ids=range(len(POISON)))
async def test_no_line_can_poison_the_hub(api: Api, part: str) -> None:
    known = '"kind": "memory", "persona_id": "p1", "type": "fact", "key": "k", "content": "tea"'
    persona = '{"kind": "memory", "persona_id": "p1", "type": "rule", "key": "r", "content": "x"}'
    before = await api.saw("/persona/list")

    answer = await api.bring_in("{" + known + ", " + part + "}\n" + persona)

    assert answer.status_code in (200, 400, 422), before
    assert (await api.post("/memory/recall", query="tea", limit=50)).status_code == 200
    page = await api.get("/memory/list", status="all")
    assert page.status_code == 200
    assert all(isinstance(row["created_at"], float) for row in page.json()["data"]["items"])
    lines_of(await api.export())


@pytest.mark.parametrize("name", ["message", "goal", "persona"])
@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e18", "9" * 400], ids=str.__len__)
async def test_no_time_can_poison_the_hub(api: Api, name: str, value: str) -> None:
    known = '"persona_id": "p1", "role": "user", "content": "tea", "title": "goal"'

    answer = await api.bring_in(
        f'{{"kind": "{name}", {known}, "created_at": {value}, "ts": {value}}}'
    )

    assert answer.status_code in (200, 400, 422)
    for path in ("/memory/recall", "/messages/purge"):
        assert (await api.post(path, query="tea", days=9999)).status_code == 200
    for path in ("/messages/recent", "/goals/list", "/persona/list", "/persona/profile"):
        assert (await api.get(path)).status_code == 200


def cut(whole: bytearray) -> bytes:
    return bytes(whole[: len(whole) // 2])


def flipped(whole: bytearray) -> bytes:
    return bytes(whole[:60] + bytes(byte ^ 0xFF for byte in whole[60:160]) + whole[160:])


def marked(whole: bytearray, place: int, value: int) -> bytes:
    """Set a byte of both headers of the first entry; the central one is two bytes longer."""
    for sign, more in ((b"PK\x03\x04", 0), (b"PK\x01\x02", 2)):
        whole[whole.index(sign) + place + more] = value
    return bytes(whole)


def encrypted(whole: bytearray) -> bytes:
    return marked(whole, 6, 1)


def of_unknown_method(whole: bytearray) -> bytes:
    return marked(whole, 8, 99)


def without_lines(_whole: bytearray) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("other.txt", "x")
    return out.getvalue()


DAMAGES = [cut, flipped, encrypted, of_unknown_method, without_lines]


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_bundle_is_a_bad_request(
    api: Api, damage: Callable[[bytearray], bytes]
) -> None:
    await a_life(api)
    body = damage(bytearray(await api.export("bundle")))

    refused(await api.bring_in(body), 400, "bad_request")


@pytest.mark.parametrize("body", [b"\xff\xfe\x00", b"PK\x03\x04", b"PK\x03\x04" + b"\x00" * 100])
async def test_a_body_that_is_no_export_is_a_bad_request(api: Api, body: bytes) -> None:
    refused(await api.bring_in(body), 400, "bad_request")


async def test_an_empty_body_is_a_bad_request(api: Api) -> None:
    refused(await api.bring_in(""), 400, "bad_request")


async def test_the_readable_export_is_a_diary(api: Api) -> None:
    await api.did("/user/settings", language="zh", time_zone="Asia/Shanghai")
    await api.learn("我对海鲜过敏")
    await api.remember("资深工程师", "identity")

    text = (await api.export("markdown")).decode()

    days = re.split(r"^## \d+年\d+月\d+日 星期.$", text, flags=re.M)
    assert [day.strip() for day in days[1:]] == ["- 我对海鲜过敏\n- 资深工程师（待确认）"]
