"""What every message store must keep, hide and forget."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plastic_memories.model.message import (
    AppendOutcome,
    CorrectedIds,
    Message,
    Role,
    hide_spans,
)
from plastic_memories.model.owner import Owner, Realm, Viewpoint
from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.testing.samples import (
    HOSTILE_TEXTS,
    MINE,
    NOW,
    STRANGERS,
    contents,
    message,
    store_messages,
    viewpoint_of,
)

EVERYTHING = MessageFilter()
FULL = message(
    "早上好 good morning",
    role=Role.ASSISTANT,
    speaker="小雨",
    session_id="s-1",
    source_app="tools_live2D",
    bot_id="bot-1",
    branch_id="b-1",
    platform="qq",
    message_type="group",
    realm=Realm.STORY,
    client_msg_id="c-1",
    ts=NOW - 0.5,
)
FILTER_CASES: tuple[tuple[MessageFilter, dict[str, Any], dict[str, Any]], ...] = (
    (MessageFilter(session_id="s-1"), {"session_id": "s-1"}, {"session_id": "s-2"}),
    (MessageFilter(session_id=""), {}, {"session_id": "s-1"}),
    (MessageFilter(source_app="ide"), {"source_app": "ide"}, {}),
    (MessageFilter(bot_id="bot-1"), {"bot_id": "bot-1"}, {}),
    (MessageFilter(bot_id=""), {}, {"bot_id": "bot-1"}),
    (MessageFilter(since_ts=NOW), {"ts": NOW}, {"ts": NOW - 1}),
    (MessageFilter(until_ts=NOW), {"ts": NOW - 1}, {"ts": NOW}),
)


class MessageStoreContract:
    """Append, find, quote, hide, erase: for the owner's messages, and for no other's."""

    async def test_what_was_appended_comes_back_whole(self, storage: StorageBackend) -> None:
        [message_id] = await store_messages(storage, FULL)

        assert await _find(storage) == [replace(FULL, id=message_id)]

    @pytest.mark.parametrize("text", HOSTILE_TEXTS, ids=range(len(HOSTILE_TEXTS)))
    async def test_any_message_is_kept_as_it_is(self, storage: StorageBackend, text: str) -> None:
        await store_messages(storage, message(text, speaker=text[:20], session_id=text[:20]))

        [kept] = await _find(storage, MINE, MessageFilter(session_id=text[:20]))
        assert (kept.content, kept.speaker) == (text, text[:20])

    async def test_a_known_client_id_is_not_stored_again(self, storage: StorageBackend) -> None:
        first = message("one", client_msg_id="c-1")
        [message_id] = await store_messages(storage, first)

        def work(stores: Stores) -> list[AppendOutcome]:
            return stores.messages.append([message("two"), first, message("three")])

        second, again, third = await storage.write(work)

        assert again == AppendOutcome(message_id, deduped=True)
        assert not second.deduped
        assert not third.deduped
        assert contents(await _find(storage)) == ["three", "two", "one"]

    async def test_a_client_id_twice_in_one_batch_is_stored_once(
        self, storage: StorageBackend
    ) -> None:
        one = message("one", client_msg_id="c-1")
        await store_messages(storage, one, replace(one, content="retry"))

        assert contents(await _find(storage)) == ["one"]

    async def test_messages_without_a_client_id_are_all_stored(
        self, storage: StorageBackend
    ) -> None:
        await store_messages(storage, message("same"), message("same"))

        assert contents(await _find(storage)) == ["same", "same"]

    @pytest.mark.parametrize("stranger", STRANGERS, ids=str)
    async def test_a_client_id_is_known_to_its_owner_only(
        self, storage: StorageBackend, stranger: Owner
    ) -> None:
        await store_messages(storage, message("mine", client_msg_id="c-1"))

        await store_messages(storage, message("theirs", stranger, client_msg_id="c-1"))

        assert contents(await _find(storage, stranger)) == ["theirs"]

    async def test_messages_come_newest_first_page_by_page(self, storage: StorageBackend) -> None:
        ids = await store_messages(storage, *(message(f"line {n}") for n in range(4)))

        first = await _find(storage, MINE, MessageFilter(limit=2))
        second = await _find(storage, MINE, MessageFilter(limit=2, before_id=first[-1].id))

        assert [one.id for one in (*first, *second)] == ids[::-1]

    @pytest.mark.parametrize(("wanted", "fitting", "other"), FILTER_CASES)
    async def test_a_message_filter_lets_through_what_fits(
        self,
        storage: StorageBackend,
        wanted: MessageFilter,
        fitting: dict[str, Any],
        other: dict[str, Any],
    ) -> None:
        await store_messages(storage, message("fits", **fitting), message("does not", **other))

        assert contents(await _find(storage, MINE, wanted)) == ["fits"]

    async def test_recent_messages_are_quoted_newest_first(self, storage: StorageBackend) -> None:
        await store_messages(
            storage,
            message("new", ts=NOW),
            message("old", ts=NOW - 100),
            message("between", ts=NOW - 50),
        )

        assert await _recent(storage) == ["new", "between", "old"]
        assert await _recent(storage, since_ts=NOW - 50) == ["new", "between"]
        assert await _recent(storage, limit=1) == ["new"]

    async def test_what_was_said_in_a_time_is_found_by_its_words(
        self, storage: StorageBackend
    ) -> None:
        await store_messages(
            storage,
            message("oolong 茶", ts=NOW),
            message("green 茶", ts=NOW - 100),
            message("coffee", ts=NOW - 100),
            message("white 茶", ts=NOW - 200),
        )

        def work(stores: Stores) -> list[str]:
            within = (NOW - 100, NOW)
            return contents(stores.message_search.search(viewpoint_of(), ["茶"], 10, within))

        assert await storage.read(work) == ["green 茶"]
        quoted = await storage.read(
            lambda stores: stores.message_search.recent(viewpoint_of(), NOW - 150, 10, NOW)
        )
        assert sorted(contents(quoted)) == ["coffee", "green 茶"]

    async def test_what_is_hidden_or_a_strangers_is_not_counted(
        self, storage: StorageBackend
    ) -> None:
        hidden, _ = await store_messages(storage, message("moon tea"), message("green tea"))
        await store_messages(storage, *(message("moon tea", stranger) for stranger in STRANGERS))
        await storage.write(lambda s: s.messages.hide(MINE, [hidden], NOW))

        spread = await storage.read(lambda s: s.message_search.document_counts(MINE, ["tea", '"']))

        assert spread.messages >= 1
        assert spread.counts["tea"] == 1
        assert spread.count_cap is None or spread.count_cap > 1

    async def test_another_bot_or_realm_is_not_quoted(self, storage: StorageBackend) -> None:
        await store_messages(
            storage,
            message("plain"),
            message("of a bot", bot_id="bot-1"),
            message("in a story", realm=Realm.STORY),
        )

        assert await _recent(storage) == ["plain"]
        assert await _recent(storage, viewpoint_of(bot_id="bot-1")) == ["of a bot"]
        assert await _recent(storage, viewpoint_of(realm=Realm.STORY)) == ["in a story"]
        assert await _recent(storage, viewpoint_of(all_bots=True)) == ["of a bot", "plain"]

    async def test_a_reader_of_one_app_is_quoted_nothing_of_another(
        self, storage: StorageBackend
    ) -> None:
        place: dict[str, Any] = {"session_id": "s-1"}
        _, between, _ = await store_messages(
            storage,
            message("茶 one", source_app="chat", ts=NOW - 3, **place),
            message("茶 two", source_app="ide", ts=NOW - 2, **place),
            message("茶 three", ts=NOW - 1, **place),
        )
        view = viewpoint_of(source_app="ide", only_app="ide")

        def work(stores: Stores) -> list[list[str]]:
            [middle] = stores.messages.find(MINE, MessageFilter(ids=[between]))
            quoted = [
                stores.message_search.recent(view, NOW - 9, 10),
                stores.message_search.search(view, ["茶"], 10),
                stores.message_search.search(view, ["茶"], 10, (NOW - 9, NOW)),
                stores.message_search.neighbours(view, middle),
            ]
            return [contents(rows) for rows in quoted]

        assert await storage.read(work) == [["茶 two"], ["茶 two"], ["茶 two"], []]

    async def test_a_hidden_message_stays_and_is_not_quoted(self, storage: StorageBackend) -> None:
        hidden, _ = await store_messages(storage, message("secret"), message("plain"))

        count = await storage.write(lambda s: s.messages.hide(MINE, [hidden], NOW))

        assert count == 1
        assert await _recent(storage) == ["plain"]
        assert contents(await _find(storage, MINE, MessageFilter(hidden=True))) == ["secret"]
        assert contents(await _find(storage, MINE, MessageFilter(hidden=False))) == ["plain"]
        assert await storage.read(lambda stores: stores.upkeep.check()) == []

    async def test_a_moved_message_keeps_its_client_id_unless_it_is_taken(
        self, storage: StorageBackend
    ) -> None:
        await store_messages(
            storage,
            message("there", bot_id="bot-1", client_msg_id="1"),
            message("taken", client_msg_id="1"),
            message("free", client_msg_id="2"),
        )

        def work(stores: Stores) -> list[Message]:
            for row in stores.messages.find(MINE, MessageFilter(bot_id="")):
                stores.messages.move(replace(row, bot_id="bot-1"))
            return stores.messages.find(MINE, MessageFilter(bot_id="bot-1"))

        moved = {row.content: row.client_msg_id for row in await storage.write(work)}
        assert moved == {"there": "1", "taken": "", "free": "2"}

    async def test_hiding_again_hides_nothing_more(self, storage: StorageBackend) -> None:
        [message_id] = await store_messages(storage, message())
        await storage.write(lambda s: s.messages.hide(MINE, [message_id], NOW))

        assert await storage.write(lambda s: s.messages.hide(MINE, [message_id], NOW + 1)) == 0

        assert [one.hidden_at for one in await _find(storage)] == [NOW]

    async def test_a_hidden_sentence_is_neither_quoted_nor_found(
        self, storage: StorageBackend
    ) -> None:
        [message_id] = await store_messages(storage, message("I like jazz. I fear quokkas."))
        [stored] = await _find(storage)

        changed = await _set_visibility(storage, hide_spans(stored, [(13, 28)], NOW))

        assert changed == 1
        view = viewpoint_of(MINE)
        [quoted] = await storage.read(lambda s: s.message_search.recent(view, 0, 10))
        assert (quoted.id, quoted.content, quoted.hidden_spans) == (message_id, "I like jazz.", ())
        assert await _search(storage, "quokka") == []
        assert await _search(storage, "jazz") == ["I like jazz."]

    async def test_what_was_hidden_can_be_shown_again(self, storage: StorageBackend) -> None:
        await store_messages(storage, message("I fear quokkas."))
        [stored] = await _find(storage)
        await _set_visibility(storage, hide_spans(stored, [(0, 15)], NOW))
        assert await _search(storage, "quokka") == []

        changed = await _set_visibility(storage, stored)

        assert changed == 1
        assert await _search(storage, "quokka") == ["I fear quokkas."]

    async def test_an_edited_message_is_wholly_visible(self, storage: StorageBackend) -> None:
        await store_messages(storage, message("I fear quokkas."))
        [stored] = await _find(storage)
        await _set_visibility(storage, hide_spans(stored, [(0, 15)], NOW))

        await storage.write(lambda s: s.messages.edit(replace(stored, content="I like cats.")))

        assert await _search(storage, "cat") == ["I like cats."]

    @pytest.mark.parametrize("stranger", STRANGERS, ids=str)
    async def test_a_stranger_hides_no_sentence(
        self, storage: StorageBackend, stranger: Owner
    ) -> None:
        await store_messages(storage, message("I fear quokkas."))
        [stored] = await _find(storage)
        hidden = replace(hide_spans(stored, [(0, 15)], NOW), owner=stranger)

        assert await _set_visibility(storage, hidden) == 0

        assert await _find(storage) == [stored]

    async def test_an_empty_collection_of_ids_names_no_message(
        self, storage: StorageBackend
    ) -> None:
        await store_messages(storage, message())
        nothing = MessageFilter(ids=())

        assert await _find(storage, MINE, nothing) == []
        assert await storage.write(lambda s: s.messages.hide(MINE, [], NOW)) == 0
        assert await storage.write(lambda s: s.messages.erase(MINE, nothing, NOW)) == []
        assert await _recent(storage) == ["hello"]

    async def test_erasing_removes_what_fits_and_says_which(self, storage: StorageBackend) -> None:
        one, _, three = await store_messages(
            storage,
            message("a", session_id="s-1"),
            message("b"),
            message("c", session_id="s-1"),
        )

        wanted = MessageFilter(session_id="s-1")
        erased = await storage.write(lambda s: s.messages.erase(MINE, wanted, NOW))

        assert sorted(erased) == [one, three]
        assert contents(await _find(storage)) == ["b"]
        assert await storage.read(lambda stores: stores.upkeep.check()) == []

    @pytest.mark.parametrize("stranger", STRANGERS, ids=str)
    async def test_a_stranger_reads_and_changes_no_message(
        self, storage: StorageBackend, stranger: Owner
    ) -> None:
        [mine] = await store_messages(storage, message("mine"))
        await store_messages(storage, message("theirs", stranger))
        mine_only = MessageFilter(ids={mine})

        assert await _find(storage, stranger, mine_only) == []
        assert await _recent(storage, viewpoint_of(stranger, all_bots=True)) == ["theirs"]
        assert await storage.write(lambda s: s.messages.hide(stranger, [mine], NOW)) == 0
        assert await storage.write(lambda s: s.messages.erase(stranger, mine_only, NOW)) == []

        assert await _recent(storage) == ["mine"]
        assert await storage.read(lambda stores: stores.upkeep.check()) == []


class CorrectionStoreContract:
    """What a message corrects is known until it is taken back, and to its owner only."""

    async def test_a_correction_comes_back_with_its_message(self, storage: StorageBackend) -> None:
        old, new = await store_messages(storage, message("a"), message("b"))
        corrected = CorrectedIds(frozenset({old}), frozenset({7}))

        await storage.write(lambda s: s.corrections.add(MINE, new, corrected))
        await storage.write(lambda s: s.corrections.add(MINE, new, corrected))

        [found] = await storage.read(lambda s: s.corrections.newest(MINE, 10))
        assert (found.old_message_id, found.message.content) == (old, "b")
        assert await storage.read(lambda s: s.corrections.find(MINE, new)) == corrected
        assert await storage.read(lambda s: s.corrections.find_correcting(MINE, [old])) == {new}

    async def test_what_is_removed_names_the_ended_memories(self, storage: StorageBackend) -> None:
        old, new = await store_messages(storage, message("a"), message("b"))
        corrected = CorrectedIds(frozenset({old}), frozenset({7, 8}))
        await storage.write(lambda s: s.corrections.add(MINE, new, corrected))

        ended = await storage.write(lambda s: s.corrections.remove(MINE, [new]))

        assert ended == {7, 8}
        assert await storage.read(lambda s: s.corrections.newest(MINE, 10)) == []

    async def test_a_corrected_message_takes_its_corrections_with_it(
        self, storage: StorageBackend
    ) -> None:
        old, new = await store_messages(storage, message("a"), message("b"))
        corrected = CorrectedIds(frozenset({old}), frozenset({7}))
        await storage.write(lambda s: s.corrections.add(MINE, new, corrected))

        await storage.write(lambda s: s.messages.erase(MINE, MessageFilter(ids=[old]), NOW))

        kept = CorrectedIds(memory_ids=frozenset({7}))
        assert await storage.read(lambda s: s.corrections.find(MINE, new)) == kept

    async def test_a_hidden_correction_is_not_quoted(self, storage: StorageBackend) -> None:
        old, new = await store_messages(storage, message("a"), message("b"))
        corrected = CorrectedIds(frozenset({old}))
        await storage.write(lambda s: s.corrections.add(MINE, new, corrected))

        await storage.write(lambda s: s.messages.hide(MINE, [new], NOW))

        assert await storage.read(lambda s: s.corrections.newest(MINE, 10)) == []

    @pytest.mark.parametrize("stranger", STRANGERS, ids=str)
    async def test_a_stranger_sees_and_removes_no_correction(
        self, storage: StorageBackend, stranger: Owner
    ) -> None:
        old, new = await store_messages(storage, message("a"), message("b"))
        corrected = CorrectedIds(frozenset({old}), frozenset({7}))
        await storage.write(lambda s: s.corrections.add(MINE, new, corrected))

        removed = await storage.write(lambda s: s.corrections.remove(stranger, [new]))

        assert removed == set()
        assert await storage.read(lambda s: s.corrections.newest(stranger, 10)) == []
        assert await storage.read(lambda s: s.corrections.find(stranger, new)) == CorrectedIds()


async def _find(
    storage: StorageBackend, owner: Owner = MINE, wanted: MessageFilter = EVERYTHING
) -> list[Message]:
    return await storage.read(lambda stores: stores.messages.find(owner, wanted))


async def _recent(
    storage: StorageBackend,
    view: Viewpoint | None = None,
    *,
    since_ts: float = 0.0,
    limit: int = 50,
) -> list[str]:
    rows = await storage.read(
        lambda stores: stores.message_search.recent(view or viewpoint_of(), since_ts, limit)
    )
    return contents(rows)


async def _set_visibility(storage: StorageBackend, changed: Message) -> int:
    return await storage.write(lambda s: s.messages.set_visibility([changed]))


async def _search(storage: StorageBackend, term: str) -> list[str]:
    view = viewpoint_of(MINE)
    return contents(await storage.read(lambda s: s.message_search.search(view, [term], 10)))
