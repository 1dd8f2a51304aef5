"""Logs and audit: who did what, and never what was said (contract, section 10)."""

from __future__ import annotations

import json
import logging
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from harness import Api, StartHub, refused

WORD = "quokka"


def log_lines(folder: Path) -> list[dict[str, Any]]:
    for handler in logging.getLogger("plastic_memories").handlers:
        handler.flush()
    text = (folder / "logs" / "plastic_memories.log").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


async def a_busy_day(api: Api) -> None:
    await api.say(f"{WORD} 你好")
    memory_id = await api.remember(f"{WORD} 海鲜", tags=[WORD], metadata={WORD: WORD})
    await api.recall(WORD)
    await api.learn(f"我喜欢 {WORD}")
    await api.did("/memory/update", memory_id=memory_id, content=f"{WORD} 2")
    await api.post("/memory/write", type=WORD, key=WORD, content=WORD)
    await api.post("/memory/write", type="fact", key=WORD, content=f"password: {WORD}99")
    await api.http.get(f"/{WORD}")
    await api.as_(f"wrong-{WORD}").get("/memory/list")
    await api.get("/memory/list", q=WORD)
    await api.bring_in(f'{{"{WORD}"')
    await api.did("/memory/forget", query=WORD, dry_run=True)


async def test_every_line_is_json_with_the_usual_fields(api: Api, tmp_path: Path) -> None:
    await a_busy_day(api)

    lines = log_lines(tmp_path)

    assert lines
    for line in lines:
        assert {"ts", "level", "event", "logger", "msg"} <= set(line)


async def test_no_line_holds_text_or_keys(api: Api, tmp_path: Path) -> None:
    await a_busy_day(api)

    log = (tmp_path / "logs" / "plastic_memories.log").read_text(encoding="utf-8")

    assert WORD not in log
    assert "devkey" not in log
    assert "海鲜" not in log


async def test_half_a_character_harms_no_line(api: Api, tmp_path: Path) -> None:
    logging.getLogger("plastic_memories.test").info("half", extra={"fields": {"id": "\ud83d"}})

    [line] = [line for line in log_lines(tmp_path) if line["event"] == "half"]

    assert line["id"] == "\ud83d"


async def test_a_request_is_logged_with_its_ids(api: Api, tmp_path: Path) -> None:
    headers = {"X-API-Key": "devkey", "X-Request-Id": "r-1"}
    body = {"persona_id": "p1", "type": "fact", "key": "k", "content": "x"}

    await api.http.post("/memory/write", json=body, headers=headers)

    [line] = [
        line
        for line in log_lines(tmp_path)
        if line["event"] == "api.request" and line.get("request_id") == "r-1"
    ]
    assert (line["user_id"], line["persona_id"], line["status"]) == ("userA", "p1", 200)
    assert line["duration_ms"] >= 0


@pytest.mark.parametrize(
    "event", ["db.init", "db.migrate", "messages.append", "memory.write", "memory.recall"]
)
async def test_what_happens_is_logged_by_its_name(
    start_hub: StartHub, tmp_path: Path, event: str
) -> None:
    await a_busy_day(await start_hub(db_path=str(tmp_path / "of_its_own.db")))

    assert event in {line["event"] for line in log_lines(tmp_path)}


async def test_a_batch_is_logged_once_and_audited_one_by_one(api: Api, tmp_path: Path) -> None:
    items = [{"type": "note", "key": f"k{n}", "content": WORD} for n in range(30)]

    written = await api.did("/memory/write", items=items)

    [line] = [line for line in log_lines(tmp_path) if line["event"] == "memory.write"]
    ids = [item["memory_id"] for item in written["items"]]
    assert (line["number"], line["memory_ids"]) == (30, ids[:20])
    audited = (await api.saw("/audit", limit=200))["items"]
    assert [one["data"]["memory_id"] for one in audited if one["event"] == "memory.write"] == ids


async def test_an_error_is_logged_by_its_code(api: Api, tmp_path: Path) -> None:
    await api.get("/memory/get", memory_id=4711)

    errors = [line for line in log_lines(tmp_path) if line["event"] == "api.error"]
    assert [line["code"] for line in errors] == ["not_found"]


async def test_the_audit_says_who_did_what(api: Api) -> None:
    memory_id = await api.remember(WORD, "identity")
    await api.did("/memory/confirm", memory_id=memory_id)
    await api.as_("appkey", "userA").did("/memory/revoke", memory_id=memory_id)

    lines = (await api.saw("/audit", memory_id=memory_id))["items"]

    assert [line["event"] for line in lines] == ["memory.write", "memory.confirm", "memory.revoke"]
    assert lines[0]["by"] != lines[2]["by"]
    assert all(line["request_id"] for line in lines)
    assert WORD not in str(lines)


async def test_the_audit_is_paged_in_order(api: Api) -> None:
    for n in range(5):
        await api.remember(f"n{n}", key=f"k{n}")

    first = await api.saw("/audit", limit=3)
    rest = await api.saw("/audit", limit=200, after_id=first["next_after_id"])

    ids = [line["id"] for line in first["items"] + rest["items"]]
    assert ids == sorted(ids)
    assert len(ids) == 5
    assert rest["next_after_id"] is None


async def test_the_audit_of_a_forgotten_memory_holds_ids_only(api: Api) -> None:
    memory_id = await api.remember(WORD)
    await api.did("/memory/forget", memory_id=memory_id)

    lines = (await api.saw("/audit"))["items"]

    assert lines[-1]["event"] == "memory.forget"
    assert WORD not in str(lines)


async def test_a_history_says_who_when_and_why(api: Api) -> None:
    first = await api.remember("one", "profile", "place")
    await api.remember("two", "profile", "place")

    history = (await api.saw("/memory/history", memory_id=first))["items"]

    assert [row["content"] for row in history] == ["one", "two"]
    assert all(change["by"] and change["ts"] for row in history for change in row["changes"])


async def test_the_audit_of_an_unknown_memory_is_empty(api: Api) -> None:
    assert (await api.saw("/audit", memory_id=4711))["items"] == []
    refused(await api.get("/audit", memory_id=0), 422, "validation_error")


async def test_a_line_says_what_was_logged(api: Api, tmp_path: Path) -> None:
    logger = logging.getLogger("plastic_memories.test")
    logger.info("plain", extra={"fields": {"persona_id": "小林"}})
    logger.info("with %s", "words")
    logger.error("failed", exc_info=RuntimeError("broken"))

    plain, worded, failed = [line for line in log_lines(tmp_path) if line["logger"] == logger.name]

    assert (plain["level"], plain["event"], plain["msg"]) == ("INFO", "plain", "plain")
    assert plain["persona_id"] == "小林"
    assert (worded["event"], worded["msg"]) == ("with %s", "with words")
    assert failed["level"] == "ERROR"
    assert "RuntimeError: broken" in failed["err"]
    at = [datetime.fromisoformat(line["ts"]).timestamp() for line in (plain, worded, failed)]
    assert at == sorted(at)
