"""Forgetting hides sentences, not messages (contract, section 5 rule 7)."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from harness import Api, Json, StartHub

JAZZ, MANGO = "我喜欢爵士乐。", "我对芒果过敏。"


async def talk(api: Api, *lines: tuple[str, str], session_id: str = "s1") -> list[int]:
    """Say lines as (role, text), and let the hub learn from them."""
    ids = []
    for role, text in lines:
        said = await api.did("/messages/append", role=role, content=text, session_id=session_id)
        ids.append(int(said["message_id"]))
    await api.did("/jobs/run", session_id=session_id, wait=True)
    return ids


async def known(api: Api, word: str) -> Json:
    """Return the one learned fact that has a word."""
    rows = (await api.saw("/memory/list", type="profile"))["items"]
    [row] = [row for row in rows if word in row["content"]]
    return dict(row)


async def forget(api: Api, word: str, **more: object) -> Json:
    fact = await known(api, word)
    return await api.did("/memory/forget", memory_id=fact["id"], **more)


async def snippets(api: Api, query: str) -> str:
    found = await api.recall(query)
    return "\n".join(row["content"] for row in found["CHAT_SNIPPETS"])


async def everything_read(api: Api) -> str:
    queries = ("", "芒果", "过敏", "爵士乐", "mango")
    parts = [str({**await api.recall(query, limit=50), "intent": None}) for query in queries]
    parts += await api.listed("all")
    parts.append((await api.export("jsonl")).decode())
    parts.append((await api.export("markdown")).decode())
    return "\n".join(parts)


async def test_the_other_sentences_of_a_message_stay(api: Api) -> None:
    await talk(api, ("user", JAZZ + MANGO))

    await forget(api, "芒果")

    said = await everything_read(api)
    assert "芒果" not in said
    assert "爵士乐" in await snippets(api, "爵士乐")
    assert await known(api, "爵士乐")


async def test_nearly_the_same_words_and_the_echo_are_hidden_too(api: Api) -> None:
    await talk(
        api,
        ("user", MANGO),
        ("assistant", "好的，芒果过敏我记下了。今晚吃什么？"),
        ("user", "随便"),
        ("user", "反正我对芒果过敏啊！别的都行"),
    )

    receipt = (await forget(api, "芒果"))["receipt"]

    said = await everything_read(api)
    assert "芒果" not in said
    assert "今晚吃什么" in said
    assert "别的都行" in said
    assert receipt["hidden"]["sentences"] == 3


async def test_what_yields_the_same_item_in_another_language_is_hidden(api: Api) -> None:
    await talk(api, ("user", "我对海鲜过敏"))
    await api.say("I'm allergic to seafood. I live in Paris.", session_id="s2")

    await forget(api, "海鲜")

    said = await everything_read(api)
    assert "seafood" not in said
    assert "海鲜" not in said
    assert "Paris" in said


async def test_a_hidden_sentence_is_not_learned_again_from_a_reread_session(api: Api) -> None:
    [message_id] = await talk(api, ("user", JAZZ + MANGO))
    await forget(api, "芒果")
    await talk(api, ("user", "今天很累"))

    await api.did("/messages/edit", message_id=message_id, content=JAZZ + "我住在上海。")

    assert "芒果" not in str(await api.listed("all"))
    assert "上海" in str(await api.listed())


async def test_an_edited_message_is_wholly_visible(api: Api) -> None:
    [message_id] = await talk(api, ("user", MANGO))
    await forget(api, "芒果")

    await api.did("/messages/edit", message_id=message_id, content="我住在上海。")

    [row] = (await api.saw("/messages/recent"))["messages"]
    assert (row["hidden"], row["hidden_spans"]) == (False, [])
    assert "上海" in await snippets(api, "上海")


async def test_the_chat_log_shows_its_owner_what_is_hidden(api: Api) -> None:
    await talk(api, ("user", JAZZ + MANGO))

    await forget(api, "芒果")

    [row] = (await api.saw("/messages/recent"))["messages"]
    assert row["content"] == JAZZ + MANGO
    assert row["hidden_spans"] == [[len(JAZZ), len(JAZZ + MANGO)]]
    assert row["hidden"] is False


async def test_the_text_index_holds_only_the_visible_part(api: Api, tmp_path: Path) -> None:
    await talk(api, ("user", JAZZ + "My pet quokka is my favourite. " + MANGO))

    await forget(api, "芒果")

    db = apsw.Connection(str(tmp_path / "hub.db"))
    terms = [term for (term,) in db.execute("SELECT term FROM fts_messages_terms")]
    db.close()
    assert not [term for term in terms if "芒果" in term]
    assert [term for term in terms if "quokka" in term]


async def test_forgetting_a_summary_hides_nothing_else(api: Api) -> None:
    await talk(api, ("user", JAZZ), ("user", MANGO))
    [summary] = (await api.saw("/memory/list", type="summary"))["items"]

    gone = await api.did("/memory/forget", memory_id=summary["id"])

    assert gone["receipt"]["hidden"] == {"messages": 0, "sentences": 0}
    assert "芒果" in await snippets(api, "芒果")
    assert len(await api.listed(type="profile")) == 2


async def test_a_summary_that_told_it_is_written_again_without_it(api: Api) -> None:
    await talk(api, ("user", JAZZ), ("user", MANGO))

    receipt = (await forget(api, "芒果"))["receipt"]

    [text] = await api.listed("all", type="summary")
    assert "爵士乐" in text
    assert "芒果" not in text
    assert receipt["rewritten"] == {"summaries": 1}


async def test_a_query_means_no_summary_and_no_other_allergy(api: Api) -> None:
    await talk(api, ("user", "我对芒果过敏。"), ("user", "我对花生过敏。"), ("user", JAZZ))

    looked = await api.did("/memory/forget", query="芒果过敏", dry_run=True)

    rows = {row["id"]: row for row in (await api.saw("/memory/list"))["items"]}
    assert [rows[memory_id]["content"] for memory_id in looked["memory_ids"]] == ["我对芒果过敏"]
    others = [row.get("memory_id") for row in looked["receipt"]["also_mentions"]]
    assert [i for i in others if i and rows[i]["type"] == "summary"]
    assert looked["receipt"]["would_hide"] == {"messages": 1, "sentences": 1}


async def test_the_receipt_lists_what_may_be_about_it(api: Api) -> None:
    await talk(api, ("user", MANGO), ("user", "昨天超市的芒果打折，妈妈买了一大箱回来送邻居"))

    receipt = (await forget(api, "芒果"))["receipt"]

    [mention] = receipt["also_mentions"]
    assert "超市" in mention["text"]
    assert mention["role"] == "user"
    assert receipt["checked"]["messages"] == 2
    assert "超市" in await snippets(api, "超市的芒果")


async def test_include_messages_erases_the_messages_that_tell_it(api: Api) -> None:
    await talk(api, ("user", JAZZ + MANGO), ("user", "今天很累"))

    receipt = (await forget(api, "芒果", include_messages=True))["receipt"]

    left = [row["content"] for row in (await api.saw("/messages/recent"))["messages"]]
    assert left == ["今天很累"]
    assert receipt["erased"]["messages"] == 1


async def test_a_quote_that_told_it_goes_from_other_memories(api: Api, tmp_path: Path) -> None:
    await talk(api, ("user", "我对芒果和虾过敏"))
    rows = await api.listed(type="profile")
    assert len(rows) == 2

    await forget(api, "芒果")

    [left] = (await api.saw("/memory/list", type="profile"))["items"]
    assert "虾" in left["content"]
    assert "芒果" not in str(left)


async def test_a_note_of_a_whole_message_loses_the_sentence(api: Api) -> None:
    [message_id] = await talk(api, ("user", "茶叶在左边的柜子里。" + MANGO))
    note = await api.remember(
        "茶叶在左边的柜子里。我对芒果过敏。", "note", "n", source_message_ids=[message_id]
    )

    await forget(api, "芒果")

    row = await api.saw("/memory/get", memory_id=note)
    assert row["content"] == "茶叶在左边的柜子里。"


async def test_another_bot_keeps_what_it_was_told(api: Api) -> None:
    for bot in ("a", "b"):
        await api.did(
            "/messages/append", role="user", content=MANGO, session_id=f"s-{bot}", bot_id=bot
        )
        await api.did("/jobs/run", session_id=f"s-{bot}", bot_id=bot, wait=True)
    [row] = (await api.saw("/memory/list", type="profile", bot_id="a"))["items"]

    await api.did("/memory/forget", memory_id=row["id"], bot_id="a")

    found = await api.recall("芒果", bot_id="b")
    assert "芒果" in found["injection_block"]
    assert "芒果" not in (await api.recall("芒果", bot_id="a"))["injection_block"]


@pytest.mark.parametrize("kind", ["jsonl", "markdown", "bundle"])
async def test_no_export_holds_a_hidden_sentence(api: Api, kind: str) -> None:
    await talk(api, ("user", JAZZ + MANGO))
    await forget(api, "芒果")

    assert "芒果".encode() not in await api.export(kind)


async def test_the_archive_holds_only_the_visible_part(start_hub: StartHub) -> None:
    api = await start_hub(worker="off")
    await api.say(JAZZ + MANGO, session_id="s1")
    await api.did("/sessions/end", session_id="s1")
    await api.hub.job_runner.run_all_due("test")
    await forget(api, "芒果")

    archived = await api.saw("/archive/get", session_id="s1")

    assert "芒果" not in str(archived)
    assert archived["messages"][0]["content"] == JAZZ
