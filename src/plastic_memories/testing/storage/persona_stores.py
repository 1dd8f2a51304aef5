"""What must be kept of personas, their slots, and the user's settings."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from plastic_memories.model.memory import MemoryType, Scope, Status
from plastic_memories.model.owner import Owner, Realm
from plastic_memories.model.persona import Persona, Slot, UserSettings
from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.testing.samples import (
    MINE,
    NOW,
    OTHER_PERSONA,
    OTHER_TENANT,
    OTHER_USER,
    STRANGERS,
    contents,
    core_contents,
    create_personas,
    memory,
    message,
    search_contents,
    store_memories,
    store_messages,
    viewpoint_of,
)
from plastic_memories.testing.storage.audit_and_keys import create_goal, link_goal

_NOTHING: dict[str, Any] = {
    "persona": None,
    "memories": [],
    "messages": [],
    "slots": [],
    "goals": [],
    "found": [],
    "core": [],
}


class PersonaStoreContract:
    async def test_a_persona_is_made_once(self, storage: StorageBackend) -> None:
        assert await storage.write(lambda s: s.personas.ensure(MINE, NOW)) is True
        assert await storage.write(lambda s: s.personas.ensure(MINE, NOW + 1)) is False

        made = await storage.read(lambda s: s.personas.get(MINE))
        assert made == Persona(owner=MINE, created_at=NOW, updated_at=NOW)

    async def test_an_unnamed_persona_does_not_exist(self, storage: StorageBackend) -> None:
        assert await storage.read(lambda s: s.personas.get(MINE)) is None
        assert await storage.read(lambda s: s.personas.all(MINE.user)) == []

    async def test_what_is_held_is_counted_by_session_and_app(
        self, storage: StorageBackend
    ) -> None:
        await create_personas(storage, OTHER_PERSONA)
        await store_memories(
            storage,
            memory("a", session_id="s", created_at=NOW - 9),
            memory("b", session_id="s", updated_at=NOW + 9),
            memory("c", source_app="pet"),
            # None of these counts: revoked, over, a bot's, a story.
            memory("d", status=Status.REVOKED),
            memory("e", expires_at=NOW),
            memory("f", bot_id="bot"),
            memory("g", realm=Realm.STORY),
        )

        held = await storage.read(lambda s: s.personas.holdings(MINE.tenant_id, MINE.user_id, NOW))

        counted = {(one.owner, one.session_id, one.source_app): one for one in held}
        assert {place: one.memories for place, one in counted.items()} == {
            (MINE, "s", ""): 2,
            (MINE, "", "pet"): 1,
            (OTHER_PERSONA, "", ""): 0,
        }
        in_session = counted[MINE, "s", ""]
        assert (in_session.first_at, in_session.last_at) == (NOW - 9, NOW + 9)

    async def test_holdings_for_one_app_leave_out_what_another_keeps_to_itself(
        self, storage: StorageBackend
    ) -> None:
        await store_memories(
            storage,
            memory("a", scope=Scope.APP, source_app="ide"),
            memory("b", scope=Scope.APP, source_app="chat"),
            memory("c", source_app="pet"),
        )

        held = await storage.read(
            lambda s: s.personas.holdings(MINE.tenant_id, MINE.user_id, NOW, "ide")
        )

        assert [one.source_app for one in held] == ["ide", "pet"]

    async def test_holdings_are_of_one_user_or_of_a_whole_tenant(
        self, storage: StorageBackend
    ) -> None:
        await store_memories(storage, *(memory("a", owner) for owner in (MINE, *STRANGERS)))

        def owners(stores: Stores, user_id: str | None) -> set[Owner]:
            held = stores.personas.holdings(MINE.tenant_id, user_id, NOW)
            return {one.owner for one in held}

        assert await storage.read(lambda s: owners(s, MINE.user_id)) == {MINE, OTHER_PERSONA}
        everybody = {MINE, *STRANGERS} - {OTHER_TENANT}
        assert await storage.read(lambda s: owners(s, None)) == everybody

    async def test_a_saved_persona_has_its_new_state(self, storage: StorageBackend) -> None:
        await create_personas(storage, MINE, *STRANGERS)
        saved = Persona(
            owner=MINE,
            display_name="小雨",
            description="桌面上的伙伴",
            created_at=NOW,
            updated_at=NOW + 1,
        )

        await storage.write(lambda s: s.personas.save(saved))

        assert await storage.read(lambda s: s.personas.get(MINE)) == saved
        others = await storage.read(lambda s: [s.personas.get(who) for who in STRANGERS])
        assert others == [Persona(owner=who, created_at=NOW, updated_at=NOW) for who in STRANGERS]

    async def test_a_user_sees_their_own_personas_oldest_first(
        self, storage: StorageBackend
    ) -> None:
        await create_personas(storage, MINE, OTHER_USER, OTHER_TENANT, OTHER_PERSONA)

        personas = await storage.read(lambda s: s.personas.all(MINE.user))

        assert [persona.owner for persona in personas] == [MINE, OTHER_PERSONA]

    async def test_an_erased_persona_leaves_nothing(self, storage: StorageBackend) -> None:
        await _fill_persona(storage, MINE)

        erased = await storage.write(lambda s: s.personas.erase(MINE, NOW))

        assert erased["memories"] == 2
        assert erased["messages"] == 1
        assert await _persona_contents(storage, MINE) == _NOTHING
        assert await storage.read(lambda stores: stores.upkeep.check()) == []

    @pytest.mark.parametrize("stranger", STRANGERS, ids=str)
    async def test_erasing_a_persona_leaves_all_others_alone(
        self, storage: StorageBackend, stranger: Owner
    ) -> None:
        await _fill_persona(storage, stranger)
        before = await _persona_contents(storage, stranger)
        await _fill_persona(storage, MINE)

        await storage.write(lambda s: s.personas.erase(MINE, NOW))

        assert await _persona_contents(storage, stranger) == before

    async def test_an_erased_user_leaves_nothing(self, storage: StorageBackend) -> None:
        second = replace(MINE, persona_id="another")
        for owner in (MINE, second):
            await store_messages(storage, message("a secret", owner))
            await store_memories(storage, memory("a secret", owner, scope=Scope.GLOBAL))

        erased = await storage.write(lambda s: s.personas.erase_user(MINE.user, NOW))

        assert (erased["personas"], erased["memories"], erased["messages"]) == (2, 2, 2)
        for find in (_memories_of, _messages_of):
            assert await storage.read(partial(find, MINE)) == []
            assert await storage.read(partial(find, second)) == []
        assert await storage.read(lambda s: s.personas.all(MINE.user)) == []
        assert await storage.read(lambda s: s.upkeep.check()) == []

    @pytest.mark.parametrize("other", [OTHER_USER, OTHER_TENANT], ids=str)
    async def test_erasing_a_user_leaves_all_others_alone(
        self, storage: StorageBackend, other: Owner
    ) -> None:
        await store_memories(storage, memory("mine"), memory("theirs", other))
        await store_messages(storage, message("theirs", other))

        await storage.write(lambda s: s.personas.erase_user(MINE.user, NOW))

        kept = await storage.read(lambda s: s.memories.find(other, MemoryFilter()))
        said = await storage.read(lambda s: s.messages.find(other, MessageFilter()))
        assert (contents(kept), contents(said)) == (["theirs"], ["theirs"])

    async def test_an_empty_persona_can_be_erased(self, storage: StorageBackend) -> None:
        await create_personas(storage, MINE)

        await storage.write(lambda s: s.personas.erase(MINE, NOW))

        assert await storage.read(lambda s: s.personas.get(MINE)) is None

    async def test_erasing_a_persona_that_is_not_there_erases_nothing(
        self, storage: StorageBackend
    ) -> None:
        erased = await storage.write(lambda s: s.personas.erase(MINE, NOW))

        assert sum(erased.values()) == 0

    async def test_settings_have_defaults_and_are_kept(self, storage: StorageBackend) -> None:
        default = await storage.read(lambda s: s.personas.settings(MINE.user))
        assert default == UserSettings(user=MINE.user)
        saved = UserSettings(
            user=MINE.user, time_zone="Asia/Shanghai", language="zh-CN", updated_at=NOW
        )

        await storage.write(lambda s: s.personas.save_settings(saved))

        assert await storage.read(lambda s: s.personas.settings(MINE.user)) == saved
        others = (OTHER_USER.user, OTHER_TENANT.user)
        kept = await storage.read(lambda s: [s.personas.settings(who) for who in others])
        assert kept == [UserSettings(user=who) for who in others]


class SlotStoreContract:
    async def test_a_slot_holds_what_was_put_last(self, storage: StorageBackend) -> None:
        await create_personas(storage, MINE)
        await _put_slot(storage, _slot(value={"text": "dev"}))
        changed = _slot(value=[{"text": "dev"}, {"text": "猫奴"}], updated_at=NOW + 1)

        await _put_slot(storage, changed)

        assert await storage.read(lambda s: s.slots.all(viewpoint_of())) == [changed]

    async def test_slots_are_kept_apart_by_owner_bot_and_realm(
        self, storage: StorageBackend
    ) -> None:
        await create_personas(storage, MINE, *STRANGERS)
        mine = _slot()
        others = [
            *(_slot(owner=stranger) for stranger in STRANGERS),
            _slot(bot_id="bot-1"),
            _slot(realm=Realm.STORY),
        ]

        await _put_slot(storage, mine, *others)

        assert await storage.read(lambda s: s.slots.all(viewpoint_of())) == [mine]
        views = [viewpoint_of(slot.owner, bot_id=slot.bot_id, realm=slot.realm) for slot in others]
        seen = await storage.read(lambda s: [s.slots.all(view) for view in views])
        assert seen == [[slot] for slot in others]

    async def test_clearing_removes_one_slot(self, storage: StorageBackend) -> None:
        await create_personas(storage, MINE, OTHER_USER)
        others = [_slot(owner=OTHER_USER), _slot(bot_id="bot-1"), _slot(slot_name="values")]
        await _put_slot(storage, _slot(), *others)

        def clear(stores: Stores) -> bool:
            return stores.slots.clear(MINE, "", Realm.REAL, "identity")

        assert await storage.write(clear) is True
        assert await storage.write(clear) is False
        assert await storage.read(lambda s: s.slots.all(viewpoint_of())) == [others[2]]
        others_of_bot = await storage.read(lambda s: s.slots.all(viewpoint_of(bot_id="bot-1")))
        assert others_of_bot == [others[1]]
        others_of_user = await storage.read(lambda s: s.slots.all(viewpoint_of(OTHER_USER)))
        assert others_of_user == [others[0]]


async def _fill_persona(storage: StorageBackend, owner: Owner) -> None:
    """Give a persona one of everything."""
    rows = await store_memories(
        storage,
        memory("tea here", owner, scope=Scope.GLOBAL),
        memory("dev", owner, type=MemoryType.IDENTITY),
    )
    await store_messages(storage, message("a word on tea", owner))
    await _put_slot(storage, _slot(owner=owner))
    await link_goal(storage, await create_goal(storage, owner), rows[0].id)


async def _persona_contents(storage: StorageBackend, owner: Owner) -> dict[str, Any]:
    """Return what a persona holds itself, and what of it can be seen by search."""

    def work(stores: Stores) -> dict[str, Any]:
        return {
            "persona": stores.personas.get(owner),
            "memories": stores.memories.find(owner, MemoryFilter()),
            "messages": contents(stores.messages.find(owner, MessageFilter())),
            "slots": stores.slots.all(viewpoint_of(owner)),
            "goals": stores.goals.find(owner, None),
        }

    held = await storage.read(work)
    own = {row.content for row in held["memories"]}
    seen = await search_contents(storage, "tea", viewpoint_of(owner))
    core = await core_contents(storage, viewpoint_of(owner))
    return {**held, "found": sorted(own & set(seen)), "core": sorted(own & set(core))}


async def _put_slot(storage: StorageBackend, *slots: Slot) -> None:
    def work(stores: Stores) -> None:
        for slot in slots:
            stores.slots.put(slot)

    await storage.write(work)


def _slot(**given: Any) -> Slot:
    fields: dict[str, Any] = {
        "owner": MINE,
        "bot_id": "",
        "realm": Realm.REAL,
        "slot_name": "identity",
        "value": "dev",
        "provenance": {"source": "user_explicit", "active_memory_id": 1, "superseded": 2},
        "updated_at": NOW,
    }
    return Slot(**{**fields, **given})


def _memories_of(owner: Owner, stores: Stores) -> list[str]:
    return contents(stores.memories.find(owner, MemoryFilter()))


def _messages_of(owner: Owner, stores: Stores) -> list[str]:
    return contents(stores.messages.find(owner, MessageFilter()))
