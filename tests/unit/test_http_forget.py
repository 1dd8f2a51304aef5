"""Forget is hard: nothing is left in any read path, and the receipt proves it."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from harness import Api, refused

# Nothing else in these tests holds this word, so one look for it finds every trace.
WORD = "quokka"
TEXT = f"我养了一只 {WORD}，叫豆豆"


async def everything_said(api: Api) -> str:
    """Return the text of every read path there is."""
    parts = [
        *(await api.listed("all", bots="all")),
        str(await api.saw("/persona/profile", bots="all")),
        str(await api.did("/persona/slots/get", bots="all")),
        str(await api.saw("/goals/list")),
        str(await api.saw("/audit")),
        str(await api.saw("/persona/list")),
        (await api.export("jsonl")).decode(),
        (await api.export("markdown")).decode(),
    ]
    queries = ("", WORD, "豆豆", "what pet?")
    found = [await api.recall(query, explain=True, limit=200) for query in queries]
    # The answer names the query it was asked; that is no memory of it.
    asked = [str({**answer, "intent": None}) for answer in found]
    return "\n".join([*parts, *asked])


def in_database(folder: Path, word: str, kind: str = "NOT LIKE") -> list[str]:
    """Return the tables in which the word stands; those of the text index are looked at alone."""
    db = apsw.Connection(str(folder / "hub.db"))
    tables = f"SELECT name FROM sqlite_schema WHERE type = 'table' AND name {kind} 'fts_%'"
    found = [
        table
        for (table,) in db.execute(tables).fetchall()
        for row in db.execute(f"SELECT * FROM {table}").fetchall()
        if any(word in str(value) for value in row)
    ]
    db.close()
    return found


async def test_a_forgotten_memory_is_in_no_read_path(api: Api) -> None:
    message_id = await api.say(TEXT)
    memory_id = await api.remember(TEXT, "fact", "pet", source_message_ids=[message_id])
    summary = await api.remember(f"聊到 {WORD}", "summary", "s", source_message_ids=[message_id])
    goal = (await api.did("/goals/create", title="买笼子"))["goal_id"]
    await api.did("/goals/link", goal_id=goal, memory_id=memory_id, note="for it")
    await api.recall(WORD)

    forgotten = await api.did("/memory/forget", memory_id=memory_id, include_messages=True)

    assert forgotten["deleted"] == 1
    assert WORD not in await everything_said(api)
    assert (await api.saw("/goals/list"))["items"][0]["links"] == []
    for gone in (memory_id, summary):
        refused(await api.get("/memory/get", memory_id=gone), 404, "not_found")
        refused(await api.get("/memory/history", memory_id=gone), 404, "not_found")


async def test_the_receipt_says_what_was_erased_and_what_remains(api: Api) -> None:
    message_id = await api.say(TEXT)
    await api.remember(TEXT, "fact", "pet", source_message_ids=[message_id])
    await api.remember(f"聊到 {WORD}", "summary", "s", source_message_ids=[message_id])

    forgotten = await api.did("/memory/forget", type="fact", key="pet")

    receipt = forgotten["receipt"]
    assert receipt["erased"] == {"rows": 2, "summaries": 1, "messages": 0}
    assert receipt["hidden"] == {"messages": 1, "sentences": 1}
    assert receipt["remaining"] == {"rows": 0, "text_index": 0, "slots": 0, "goal_links": 0}


async def test_nothing_of_it_is_left_in_any_table(api: Api, tmp_path: Path) -> None:
    message_id = await api.say(TEXT)
    memory_id = await api.remember(TEXT, "fact", "pet", source_message_ids=[message_id])
    await api.did("/memory/update", memory_id=memory_id, content=f"{WORD} 不见了", tags=[WORD])

    await api.did("/memory/forget", type="fact", key="pet", include_messages=True)

    assert in_database(tmp_path, WORD) == []


async def test_the_text_index_forgets_too(api: Api, tmp_path: Path) -> None:
    message_id = await api.say(TEXT)
    memory_id = await api.remember(TEXT, "fact", "pet", source_message_ids=[message_id])

    await api.did("/memory/forget", memory_id=memory_id)

    db = apsw.Connection(str(tmp_path / "hub.db"))
    tables = ("fts_memory_terms", "fts_messages_terms")
    terms = [term for table in tables for (term,) in db.execute(f"SELECT term FROM {table}")]
    db.close()
    assert not [term for term in terms if WORD in term]


async def test_no_page_of_the_text_index_holds_a_forgotten_word(api: Api, tmp_path: Path) -> None:
    message_id = await api.say(TEXT)
    memory_id = await api.remember(TEXT, "fact", "pet", source_message_ids=[message_id])

    await api.did("/memory/forget", memory_id=memory_id, include_messages=True)

    assert in_database(tmp_path, WORD, "LIKE") == []


async def test_the_messages_it_was_learned_from_are_hidden(api: Api) -> None:
    message_id = await api.say(TEXT)
    other = await api.say("天气很好 today")
    memory_id = await api.remember(TEXT, "fact", "pet", source_message_ids=[message_id])

    await api.did("/memory/forget", memory_id=memory_id)

    found = await api.recall(WORD)
    assert [row["id"] for row in found["CHAT_SNIPPETS"]] == [other]
    assert WORD not in found["injection_block"]


async def test_every_version_goes(api: Api) -> None:
    first = await api.remember(TEXT, "profile", "pet")
    await api.remember(f"现在有两只 {WORD}", "profile", "pet")
    third = await api.remember(f"a third {WORD}", "profile", "pet")

    forgotten = await api.did("/memory/forget", memory_id=third)

    assert forgotten["deleted"] == 3
    assert first in forgotten["memory_ids"]
    assert WORD not in await everything_said(api)


async def test_a_forgotten_slot_is_empty(api: Api) -> None:
    memory_id = await api.confirmed(TEXT, "identity")

    await api.did("/memory/forget", memory_id=memory_id)

    assert await api.slots() == {}
    assert WORD not in await everything_said(api)


async def test_one_forgotten_of_a_list_leaves_the_others(api: Api) -> None:
    first = await api.confirmed(TEXT, "preferences", "a")
    await api.confirmed("短回答", "preferences", "b", coexist=True)

    await api.did("/memory/forget", memory_id=first)

    assert await api.slots() == {"preferences": "短回答"}


async def test_forgetting_an_old_name_leaves_the_other_slot_keys_alone(api: Api) -> None:
    await api.confirmed("短回答", "preferences", "a")
    await api.confirmed(TEXT, "preferences", "b", coexist=True)

    await api.did("/memory/forget", type="preferences", key="b")

    assert await api.slots() == {"preferences": "短回答"}


async def test_a_query_is_looked_at_first(api: Api) -> None:
    memory_id = await api.remember(TEXT)

    looked = await api.did("/memory/forget", query=WORD, dry_run=True)

    assert (looked["status"], looked["deleted"]) == ("dry_run", 0)
    assert looked["memory_ids"] == [memory_id]
    assert await api.listed() == [TEXT]


async def test_a_query_alone_forgets_nothing(api: Api) -> None:
    await api.remember(TEXT)

    refused(await api.post("/memory/forget", query=WORD), 422, "validation_error")

    assert await api.listed() == [TEXT]


async def test_several_ids_go_together_or_not_at_all(api: Api) -> None:
    first = await api.remember("one", key="a")
    second = await api.remember("two", key="b")

    refused(await api.post("/memory/forget", memory_ids=[first, second, 999]), 404, "not_found")

    assert len(await api.listed()) == 2
    done = await api.did("/memory/forget", memory_ids=[first, second])
    assert done["deleted"] == 2


@pytest.mark.parametrize(
    ("said", "again"),
    [
        ("我对海鲜过敏", "I'm allergic to seafood"),
        ("I'm allergic to peanuts", "我花生过敏"),
        ("叫我 tcmiku", "以后请叫我 tcmiku"),
    ],
)
async def test_never_again_stops_learning_it_in_other_words(
    api: Api, said: str, again: str
) -> None:
    learned = await api.learn(said)
    ids = [item["memory_id"] for item in learned["items"]]
    assert ids

    await api.did("/memory/forget", memory_ids=ids, never_again=True)

    for sentence in (said, again):
        relearned = await api.learn(sentence)
        assert relearned["items"] == []
        assert relearned["skipped"]
    assert await api.listed("all") == []


async def test_without_never_again_it_may_be_learned_anew(api: Api) -> None:
    learned = await api.learn("我对海鲜过敏")
    await api.did("/memory/forget", memory_id=learned["items"][0]["memory_id"])

    again = await api.learn("我对海鲜过敏")

    assert again["written"] == 1


async def test_an_explicit_write_lifts_the_tombstone(api: Api) -> None:
    learned = await api.learn("我对海鲜过敏")
    await api.did("/memory/forget", memory_id=learned["items"][0]["memory_id"], never_again=True)

    await api.remember("我对海鲜过敏", "profile", "constraint.allergy.seafood")

    assert await api.listed() == ["我对海鲜过敏"]
    await api.did("/memory/forget", type="profile", key="constraint.allergy.seafood")
    assert (await api.learn("我对海鲜过敏"))["written"] == 1


async def test_an_inferred_write_does_not_lift_the_tombstone(api: Api) -> None:
    memory_id = await api.remember("我对海鲜过敏", "profile", "constraint.allergy.seafood")
    await api.did("/memory/forget", memory_id=memory_id, never_again=True)

    written = await api.did(
        "/memory/write",
        type="profile",
        key="constraint.allergy.seafood",
        content="海鲜过敏",
        source_type="model_inferred",
    )

    assert (written["status"], written["memory_id"]) == ("skipped", None)


async def test_a_refused_item_lifts_no_tombstone(api: Api) -> None:
    memory_id = await api.remember("海鲜过敏", "profile", "constraint.allergy.seafood")
    await api.did("/memory/forget", memory_id=memory_id, never_again=True)
    item = {"type": "profile", "key": "constraint.allergy.seafood", "content": "海鲜过敏"}

    await api.did("/memory/write", items=[{**item, "supersedes_id": 999}])

    assert (await api.learn("我对海鲜过敏"))["items"] == []


async def test_a_rejected_candidate_is_not_proposed_again(api: Api) -> None:
    memory_id = await api.remember("喜欢猫", "fact", "likes", source_type="model_inferred")

    await api.did("/memory/reject", memory_id=memory_id, never_again=True)

    again = await api.did(
        "/memory/write",
        type="fact",
        key="likes",
        content="喜欢猫",
        source_type="model_inferred",
    )
    assert again["status"] == "skipped"


async def test_a_tombstone_holds_no_text(api: Api, tmp_path: Path) -> None:
    memory_id = await api.remember(TEXT, "profile", "pet")

    await api.did("/memory/forget", memory_id=memory_id, never_again=True)

    assert in_database(tmp_path, WORD) == []


async def test_an_import_does_not_bring_back_what_is_never_again(api: Api) -> None:
    memory_id = await api.remember(TEXT, "profile", "pet")
    exported = await api.export()
    await api.did("/memory/forget", memory_id=memory_id, never_again=True)

    report = (await api.bring_in(exported)).json()["data"]

    assert [skip["reason"] for skip in report["skipped"]] == ["forgotten, never again"]
    assert await api.listed("all") == []


async def test_a_deleted_persona_leaves_nothing(api: Api, tmp_path: Path) -> None:
    await api.say(TEXT)
    await api.remember(TEXT, "fact", "pet", scope="global")
    await api.confirmed(TEXT, "identity")
    await api.did("/goals/create", title=WORD)
    await api.did("/persona/create", description=WORD)

    deleted = await api.did("/persona/delete", confirm="p1")

    assert deleted["receipt"]["erased"]["memories"] == 2
    assert in_database(tmp_path, WORD) == []
    assert (await api.saw("/persona/list"))["items"] == []


async def test_a_persona_is_deleted_only_if_its_name_is_repeated(api: Api) -> None:
    await api.remember(TEXT)

    detail = refused(await api.post("/persona/delete", confirm="p2"), 422, "validation_error")

    assert isinstance(detail, list)
    assert await api.listed() == [TEXT]
