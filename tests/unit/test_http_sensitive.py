"""What must not be stored is not stored, not echoed and not logged (contract, section 11)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness import Api, StartHub, data_of, refused
from plastic_memories.model.memory import TEXT_FIELDS

# Put together here, so that no scanner mistakes this file for a leak.
KEY = "sk-" + "a1B2c3D4" * 5
SECRETS = {
    "credential": ["我的密码是hunter2", "password: hunter2x", f"my key {KEY}"],
    "payment": ["卡号 4111 1111 1111 1111", "my card is 5500005555555559"],
    "gov_id": ["我的身份证号是11010519491231002X"],
}
CASES = [(category, text) for category, texts in SECRETS.items() for text in texts]
INNOCENT = ["I love secret gardens", "妈妈的电话是13800138000", "密码学很有趣", "42"]
# Long enough that no time and no random number holds one by chance.
PARTS = ("hunter2", KEY, "4111 1111", "41111111", "5500005555555559", "1101051949")


def unsaid(folder: Path, *answers: str) -> bool:
    """Say whether no part of a secret stands in the answers or in any file of the hub."""
    files = [file.read_bytes() for file in folder.rglob("*") if file.is_file()]
    stored = b"\n".join([*files, *(answer.encode() for answer in answers)])
    return not any(part.encode() in stored for part in PARTS)


def places(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Return a request for each place a text can stand in."""
    fact = {"type": "fact", "key": "k", "content": "x"}
    return [
        ("/memory/write", {**fact, "content": text}),
        ("/memory/write", {**fact, "tags": ["ok", text]}),
        ("/memory/write", {**fact, "quote": text}),
        ("/memory/write", {**fact, "metadata": {"a": {"b": [text]}}}),
        ("/memory/write", {**fact, "attributes": {"title": text}}),
        ("/goals/create", {"title": text}),
        ("/goals/create", {"title": "x", "details": text}),
        ("/persona/create", {"description": text}),
        ("/persona/create", {"display_name": text}),
    ]


@pytest.mark.parametrize(("category", "text"), CASES)
async def test_a_secret_is_refused_wherever_it_stands(
    api: Api, tmp_path: Path, category: str, text: str
) -> None:
    answers = [await api.post(path, **body) for path, body in places(text)]

    for answer in answers:
        detail = refused(answer, 400, "judge_deny")
        assert detail["category"] == category
    assert unsaid(tmp_path, *(answer.text for answer in answers))


async def test_a_secret_is_refused_in_an_edit(api: Api, tmp_path: Path) -> None:
    memory_id = await api.remember("x")
    waiting = await api.remember("x", "identity")
    goal_id = (await api.did("/goals/create", title="x"))["goal_id"]
    text = "我的密码是hunter2"

    answers = [
        await api.post("/memory/update", memory_id=memory_id, content=text),
        await api.post("/memory/update", memory_id=memory_id, tags=[text]),
        await api.post("/memory/confirm", memory_id=waiting, content=text),
        await api.post("/goals/link", goal_id=goal_id, note=text),
    ]

    for answer in answers:
        refused(answer, 400, "judge_deny")
    assert unsaid(tmp_path, *(answer.text for answer in answers))


IDS = [
    "key",
    "source_ref",
    "session_id",
    "source_app",
    "bot_id",
    "speaker",
    "idempotency_key",
    "persona_id",
]


@pytest.mark.parametrize("name", IDS)
async def test_a_credential_is_refused_as_an_id(api: Api, tmp_path: Path, name: str) -> None:
    body = {"type": "fact", "key": "k", "content": "x", name: KEY}

    answer = await api.post("/memory/write", **body)

    assert refused(answer, 400, "judge_deny")["category"] == "credential"
    assert unsaid(tmp_path, answer.text)


@pytest.mark.parametrize("name", ["key", "source_ref", "session_id"])
async def test_a_snowflake_id_is_no_bank_card(api: Api, name: str) -> None:
    body = {"type": "fact", "key": "k", "content": "x", name: "4111111111111111"}

    assert (await api.post("/memory/write", **body)).status_code == 200


@pytest.mark.parametrize("text", INNOCENT)
async def test_innocent_text_is_kept(api: Api, text: str) -> None:
    await api.remember(text)

    assert await api.listed() == [text]


async def test_a_number_in_metadata_is_looked_at_too(api: Api) -> None:
    answer = await api.post(
        "/memory/write",
        type="fact",
        key="k",
        content="x",
        metadata={"card": 4111111111111111},
    )

    refused(answer, 400, "judge_deny")


@pytest.mark.parametrize(("category", "text"), CASES)
async def test_a_message_is_masked_not_refused(
    api: Api, tmp_path: Path, category: str, text: str
) -> None:
    await api.say(f"你好，{text}，谢谢")

    [message] = (await api.saw("/messages/recent"))["messages"]

    assert f"[{category}]" in message["content"]
    assert "你好" in message["content"]
    assert unsaid(tmp_path, str(message))


async def test_talk_with_a_secret_teaches_the_rest(api: Api, tmp_path: Path) -> None:
    learned = await api.learn("我的密码是hunter2", "我对海鲜过敏")

    assert [item["key"] for item in learned["items"]] == ["constraint.allergy.seafood"]
    assert unsaid(tmp_path, str(learned))


LINES = [
    '{"kind":"memory","persona_id":"p1","type":"fact","key":"k","content":"%s"}',
    '{"kind":"memory","persona_id":"p1","type":"fact","key":"k","content":"x","tags":["%s"]}',
    '{"kind":"memory","persona_id":"p1","type":"fact","key":"k","content":"x","quote":"%s"}',
    '{"kind":"memory","persona_id":"p1","type":"fact","key":"k","content":"x","speaker":"%s"}',
    '{"kind":"memory","persona_id":"p1","type":"fact","key":"k","content":"x","source_ref":"%s"}',
    '{"kind":"memory","persona_id":"p1","type":"fact","key":"k","content":"x","metadata":{"a":"%s"}}',
    '{"kind":"persona","persona_id":"p1","display_name":"%s"}',
    '{"kind":"persona","persona_id":"p1","description":"%s"}',
    '{"kind":"goal","persona_id":"p1","title":"%s"}',
    '{"kind":"goal","persona_id":"p1","title":"x","details":"%s"}',
    '{"kind":"goal","persona_id":"p1","title":"x","links":[{"note":"%s"}]}',
]


@pytest.mark.parametrize("line", LINES)
async def test_an_import_refuses_secrets_line_by_line(api: Api, tmp_path: Path, line: str) -> None:
    good = '{"kind":"memory","persona_id":"p1","type":"fact","key":"good","content":"tea"}'

    answer = await api.bring_in("\n".join([line % f"my key {KEY}", good]))

    report = data_of(answer)
    assert [skip["line"] for skip in report["skipped"]] == [1]
    assert await api.listed() == ["tea"]
    assert unsaid(tmp_path, answer.text)


@pytest.mark.parametrize("name", sorted(set(TEXT_FIELDS) - {"idempotency_key"}))
async def test_an_import_refuses_a_credential_in_any_text_of_a_memory(
    api: Api, tmp_path: Path, name: str
) -> None:
    line = {"kind": "memory", "persona_id": "p1", "type": "fact", "key": "k", "content": "x"}

    answer = await api.bring_in(json.dumps({**line, name: KEY}))

    assert [skip["line"] for skip in data_of(answer)["skipped"]] == [1]
    assert unsaid(tmp_path, answer.text)


async def test_an_import_masks_messages(api: Api, tmp_path: Path) -> None:
    line = '{"kind":"message","persona_id":"p1","role":"user","content":"我的密码是hunter2"}'

    await api.bring_in(line)

    [message] = (await api.saw("/messages/recent"))["messages"]
    assert message["content"] == "我的密码是[credential]"
    assert unsaid(tmp_path)


async def test_redact_masks(start_hub: StartHub, tmp_path: Path) -> None:
    api = await start_hub(sensitive="redact")

    await api.remember("我的密码是hunter2，别忘了")

    assert await api.listed() == ["我的密码是[credential]，别忘了"]
    assert unsaid(tmp_path)


async def test_off_passes(start_hub: StartHub) -> None:
    api = await start_hub(sensitive="off")

    await api.remember("我的密码是hunter2")

    assert await api.listed() == ["我的密码是hunter2"]


async def test_contact_data_can_be_refused(start_hub: StartHub) -> None:
    api = await start_hub(sensitive_contact="refuse")

    answer = await api.post(
        "/memory/write", type="fact", key="k", content="妈妈的电话是13800138000"
    )

    refused(answer, 400, "judge_deny")
