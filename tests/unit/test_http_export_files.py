"""Everything of a user as one file in the archive; what is forgotten does not live on there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness import Api, Json, StartHub, StillClock, refused
from plastic_memories.hub.erasure.forget import ForgetRequest
from plastic_memories.hub.formation.export_files import MAX_EXPORTS, ExportFiles
from plastic_memories.hub.transactions.audit_events import hub_caller
from plastic_memories.model.key import KeyLimits
from plastic_memories.model.owner import Owner, User, Viewpoint

MINE = User("default", "userA")


@pytest.fixture
async def timed(start_hub: StartHub, clock: StillClock) -> Api:
    return await start_hub(clock, worker="off")


async def exported(api: Api, folder: Path) -> Path:
    return folder / str((await api.did("/export/file"))["path"])


def content(file: Path) -> Json:
    found: Json = json.loads(file.read_text(encoding="utf-8"))
    return found


async def learn(api: Api, *sentences: str) -> list[int]:
    messages = [{"role": "user", "content": sentence} for sentence in sentences]
    said = await api.did("/messages/append", messages=messages, session_id="s1")
    await api.did("/jobs/run", session_id="s1", wait=True)
    return [int(one) for one in said["message_ids"]]


async def test_an_export_holds_everything_with_its_times_in_utc(timed: Api, tmp_path: Path) -> None:
    await learn(timed, "我海鲜过敏", "我生日是5月20日")
    await timed.remember("I like oolong tea 乌龙茶", key="tea")
    await timed.remember("明天面试 interview", type="event", key="job")
    await timed.did("/goals/create", title="学会法语")

    made = await timed.did("/export/file")

    assert made["path"] == "exports/userA/full_export_20250615T150640.000000Z.json"
    assert made["exported_at"] == "2025-06-15T15:06:40Z"
    held = content(tmp_path / made["path"])
    assert (held["user_id"], held["exported_at"]) == ("userA", made["exported_at"])
    assert held["settings"] == {"time_zone": "UTC", "language": ""}
    [persona] = held["personas"]
    assert persona["character_id"] == "p1"
    assert {"我海鲜过敏", "I like oolong tea 乌龙茶"} <= {
        row["content"] for row in persona["memories"]
    }
    assert [row["type"] for row in persona["events"]] == ["event"]
    [first, _] = persona["messages"]
    assert (first["role"], first["content"]) == ("user", "我海鲜过敏")
    assert first["timestamp"] == "2025-06-15T15:06:40Z"
    assert persona["memories"][0]["created_at"].endswith("Z")
    assert [goal["title"] for goal in persona["goals"]] == ["学会法语"]
    assert (await timed.saw("/export/files"))["items"] == [
        {"path": made["path"], "exported_at": made["exported_at"]}
    ]


async def test_only_the_newest_are_kept(timed: Api, clock: StillClock, tmp_path: Path) -> None:
    files = []
    for _ in range(MAX_EXPORTS + 2):
        files.append(await exported(timed, tmp_path))
        clock.at += 1.5

    assert [file.exists() for file in files] == [False, False, *([True] * MAX_EXPORTS)]
    listed = [tmp_path / one["path"] for one in (await timed.saw("/export/files"))["items"]]
    assert listed == files[:1:-1]


@pytest.mark.parametrize("user", ["小明", "../../etc", "..", "con", "a/b", "名" * 100])
async def test_no_user_leaves_the_folder_or_reads_anothers(
    start_hub: StartHub, clock: StillClock, tmp_path: Path, user: str
) -> None:
    api = (await start_hub(clock)).as_("appkey", user)
    other = api.as_("appkey", f"{user}x")
    await api.remember("秘密 secret")

    file = await exported(api, tmp_path)

    assert file.resolve().parent.parent == (tmp_path / "exports").resolve()
    assert content(file)["user_id"] == user
    assert (await other.saw("/export/files"))["items"] == []


@pytest.mark.parametrize("never_again", [False, True])
async def test_what_is_forgotten_leaves_the_exports(
    timed: Api, clock: StillClock, tmp_path: Path, never_again: bool
) -> None:
    before = await exported(timed, tmp_path)
    untouched = before.read_bytes() if before.exists() else b""
    clock.at += 1
    await learn(timed, "我海鲜过敏", "叫我 tcmiku")
    await timed.remember("I like oolong tea", key="tea")
    file = await exported(timed, tmp_path)

    seafood = await timed.did(
        "/memory/forget",
        type="profile",
        key="constraint.allergy.seafood",
        never_again=never_again,
    )
    tea = await timed.did("/memory/forget", type="fact", key="tea", never_again=never_again)

    assert seafood["receipt"]["exports"] == {"rewritten": 1, "removed": 0, "waiting": 0}
    assert tea["receipt"]["exports"]["rewritten"] == 1
    text = file.read_text(encoding="utf-8")
    assert "海鲜" not in text
    assert "oolong" not in text
    assert "tcmiku" in text
    assert before.read_bytes() == untouched
    assert [one.name for one in file.parent.iterdir() if one.suffix != ".json"] == []


async def test_a_persona_leaves_the_exports_and_the_last_one_takes_them_along(
    timed: Api, tmp_path: Path
) -> None:
    await timed.remember("海鲜过敏 seafood")
    await timed.of("p2").remember("喜欢绿茶 green tea")
    file = await exported(timed, tmp_path)

    first = await timed.did("/persona/delete", confirm="p1")

    assert first["receipt"]["exports"] == {"rewritten": 1, "removed": 0, "waiting": 0}
    assert "海鲜" not in file.read_text(encoding="utf-8")
    assert [one["character_id"] for one in content(file)["personas"]] == ["p2"]
    last = await timed.of("p2").did("/persona/delete", confirm="p2")
    assert last["receipt"]["exports"] == {"rewritten": 0, "removed": 1, "waiting": 0}
    assert not file.exists()


async def test_messages_that_are_changed_or_erased_follow(timed: Api, tmp_path: Path) -> None:
    first, second, _ = await learn(timed, "密码是1234哦", "the red door", "再见")
    file = await exported(timed, tmp_path)

    await timed.did("/messages/edit", message_id=first, content="没什么", session_id="s1")
    await timed.did("/messages/delete", message_id=second, session_id="s1")

    assert [row["content"] for row in content(file)["personas"][0]["messages"]] == [
        "没什么",
        "再见",
    ]
    await timed.did("/messages/purge", session_id="s1", all=True)
    assert content(file)["personas"][0]["messages"] == []


class Dying(ExportFiles):
    """Is killed before it touches a file."""

    async def refresh(self, user: User, counts: dict[str, int]) -> None:
        raise SystemExit


async def test_a_forget_that_died_before_the_files_is_finished_by_a_job(
    timed: Api, clock: StillClock, tmp_path: Path
) -> None:
    hub = timed.hub
    assert hub is not None
    memory_id = await timed.remember("海鲜过敏 seafood")
    await timed.remember("green tea 绿茶", key="tea")
    file = await exported(timed, tmp_path)
    mortal = Dying(hub.storage, hub.exports.archive, hub.exports.options)
    view = Viewpoint(Owner("default", "userA", "p1"))

    with pytest.raises(SystemExit):
        await replace(hub.forget, exports=mortal)(
            hub_caller(MINE), view, ForgetRequest(memory_ids=[memory_id])
        )
    assert "海鲜" in file.read_text(encoding="utf-8")
    clock.at += 10
    await hub.job_runner.run_all_due("test")

    text = file.read_text(encoding="utf-8")
    assert "海鲜" not in text
    assert "绿茶" in text
    [job] = (await timed.saw("/jobs", status="completed"))["items"]
    assert job["task_type"] == "exports"


async def test_without_exports_forgetting_leaves_no_job(timed: Api) -> None:
    memory_id = await timed.remember("海鲜过敏")

    forgotten = await timed.did("/memory/forget", memory_ids=[memory_id])

    assert forgotten["receipt"]["exports"] == {"rewritten": 0, "removed": 0, "waiting": 0}
    assert (await timed.saw("/jobs"))["items"] == []


async def test_an_export_that_was_never_finished_goes_with_the_next_forget(
    timed: Api, tmp_path: Path
) -> None:
    memory_id = await timed.remember("海鲜过敏")
    file = await exported(timed, tmp_path)
    part = file.with_name("full_export_20200101T000000.000000Z.json.part")
    part.write_text('{"personas": [{"memories": [{"content": "海鲜', encoding="utf-8")

    forgotten = await timed.did("/memory/forget", memory_ids=[memory_id])

    assert forgotten["receipt"]["exports"] == {"rewritten": 1, "removed": 1, "waiting": 0}
    assert not part.exists()


async def test_a_bound_key_and_a_hub_without_an_archive_export_no_file(
    start_hub: StartHub,
) -> None:
    api = await start_hub(archive="none")
    assert api.hub is not None
    key, _ = await api.hub.keys.create("default", "userA", "bound", KeyLimits(persona_id="p1"))

    refused(await api.post("/export/file"), 403, "forbidden")
    refused(await api.as_(key).post("/export/file"), 403, "forbidden")
    assert (await api.saw("/export/files"))["items"] == []
