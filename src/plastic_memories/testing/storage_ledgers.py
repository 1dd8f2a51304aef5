"""What must be kept beside memories and messages: personas, slots, goals, keys, marks, changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plastic_memories.model.event import Event
from plastic_memories.model.goal import Goal, GoalLink, GoalStatus
from plastic_memories.model.key import ApiKey, KeyLimits
from plastic_memories.model.memory import MemoryType, Scope
from plastic_memories.model.owner import Owner, Realm, User
from plastic_memories.model.persona import Persona, Slot, UserSettings
from plastic_memories.ports.memory_store import MemoryFilter
from plastic_memories.ports.message_store import MessageFilter
from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.testing.samples import (
    MINE,
    NOW,
    OTHER_PERSONA,
    OTHER_TENANT,
    OTHER_USER,
    STRANGERS,
    contents,
    core_of,
    found,
    memory,
    message,
    remember,
    say,
    view_of,
)


class PersonaStoreContract:
    async def test_a_persona_is_made_once(self, storage: StorageBackend) -> None:
        assert await storage.write(lambda s: s.personas.ensure(MINE, NOW)) is True
        assert await storage.write(lambda s: s.personas.ensure(MINE, NOW + 1)) is False

        made = await storage.read(lambda s: s.personas.get(MINE))
        assert made == Persona(owner=MINE, created_at=NOW, updated_at=NOW)

    async def test_an_unnamed_persona_does_not_exist(self, storage: StorageBackend) -> None:
        assert await storage.read(lambda s: s.personas.get(MINE)) is None
        assert await storage.read(lambda s: s.personas.all(MINE.user)) == []

    async def test_a_saved_persona_has_its_new_state(self, storage: StorageBackend) -> None:
        await _ensure(storage, MINE, *STRANGERS)
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
        await _ensure(storage, MINE, OTHER_USER, OTHER_TENANT, OTHER_PERSONA)

        personas = await storage.read(lambda s: s.personas.all(MINE.user))

        assert [persona.owner for persona in personas] == [MINE, OTHER_PERSONA]

    async def test_an_erased_persona_leaves_nothing(self, storage: StorageBackend) -> None:
        await _furnish(storage, MINE)

        erased = await storage.write(lambda s: s.personas.erase(MINE, NOW))

        assert erased["memories"] == 2
        assert erased["messages"] == 1
        assert await _holdings(storage, MINE) == _NOTHING
        assert await storage.read(lambda stores: stores.upkeep.check()) == []

    @pytest.mark.parametrize("stranger", STRANGERS, ids=str)
    async def test_erasing_a_persona_leaves_all_others_alone(
        self, storage: StorageBackend, stranger: Owner
    ) -> None:
        await _furnish(storage, stranger)
        before = await _holdings(storage, stranger)
        await _furnish(storage, MINE)

        await storage.write(lambda s: s.personas.erase(MINE, NOW))

        assert await _holdings(storage, stranger) == before

    async def test_erasing_nothing_erases_nothing(self, storage: StorageBackend) -> None:
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
        await _ensure(storage, MINE)
        await _put(storage, _slot(value="dev"))
        changed = _slot(value=["dev", "猫奴"], updated_at=NOW + 1)

        await _put(storage, changed)

        assert await storage.read(lambda s: s.slots.all(view_of())) == [changed]

    async def test_slots_are_kept_apart_by_owner_bot_and_realm(
        self, storage: StorageBackend
    ) -> None:
        await _ensure(storage, MINE, *STRANGERS)
        mine = _slot()
        others = [
            *(_slot(owner=stranger) for stranger in STRANGERS),
            _slot(bot_id="bot-1"),
            _slot(realm=Realm.STORY),
        ]

        await _put(storage, mine, *others)

        assert await storage.read(lambda s: s.slots.all(view_of())) == [mine]
        views = [view_of(slot.owner, bot_id=slot.bot_id, realm=slot.realm) for slot in others]
        seen = await storage.read(lambda s: [s.slots.all(view) for view in views])
        assert seen == [[slot] for slot in others]

    async def test_clearing_removes_one_slot(self, storage: StorageBackend) -> None:
        await _ensure(storage, MINE, OTHER_USER)
        others = [_slot(owner=OTHER_USER), _slot(bot_id="bot-1"), _slot(slot_name="values")]
        await _put(storage, _slot(), *others)

        def clear(stores: Stores) -> bool:
            return stores.slots.clear(MINE, "", Realm.REAL, "identity")

        assert await storage.write(clear) is True
        assert await storage.write(clear) is False
        assert await storage.read(lambda s: s.slots.all(view_of())) == [others[2]]
        others_of_bot = await storage.read(lambda s: s.slots.all(view_of(bot_id="bot-1")))
        assert others_of_bot == [others[1]]
        others_of_user = await storage.read(lambda s: s.slots.all(view_of(OTHER_USER)))
        assert others_of_user == [others[0]]


class TombstoneStoreContract:
    async def test_a_mark_covers_until_it_is_lifted(self, storage: StorageBackend) -> None:
        await storage.write(lambda s: s.tombstones.add(MINE, ["a", "b"], NOW))
        await storage.write(lambda s: s.tombstones.add(MINE, ["a"], NOW))
        assert await storage.read(lambda s: s.tombstones.covers(MINE, ["x", "a"])) is True
        assert await storage.read(lambda s: s.tombstones.covers(MINE, ["x"])) is False
        assert await storage.read(lambda s: s.tombstones.covers(MINE, [])) is False

        assert await storage.write(lambda s: s.tombstones.lift(MINE, ["a", "x"])) == 1

        assert await storage.read(lambda s: s.tombstones.covers(MINE, ["a"])) is False
        assert await storage.read(lambda s: s.tombstones.covers(MINE, ["b"])) is True

    @pytest.mark.parametrize("stranger", STRANGERS, ids=str)
    async def test_a_mark_is_its_owners_only(
        self, storage: StorageBackend, stranger: Owner
    ) -> None:
        await storage.write(lambda s: s.tombstones.add(MINE, ["a"], NOW))

        assert await storage.read(lambda s: s.tombstones.covers(stranger, ["a"])) is False
        assert await storage.write(lambda s: s.tombstones.lift(stranger, ["a"])) == 0
        assert await storage.read(lambda s: s.tombstones.covers(MINE, ["a"])) is True

    async def test_a_mark_outlives_the_persona(self, storage: StorageBackend) -> None:
        await _furnish(storage, MINE)
        await storage.write(lambda s: s.tombstones.add(MINE, ["a"], NOW))

        await storage.write(lambda s: s.personas.erase(MINE, NOW))

        assert await storage.read(lambda s: s.tombstones.covers(MINE, ["a"])) is True

    async def test_the_secret_is_long_and_stays_the_same(self, storage: StorageBackend) -> None:
        secret = await storage.write(lambda s: s.tombstones.secret())

        assert len(secret) >= 16
        assert await storage.read(lambda s: s.tombstones.secret()) == secret


class GoalStoreContract:
    async def test_a_goal_comes_back_with_its_links(self, storage: StorageBackend) -> None:
        goal = await _goal(storage, MINE)
        [row] = await remember(storage, memory())
        first = await _link(storage, goal, row.id)
        second = await _link(storage, goal, None, note="第一步")

        kept = replace(goal, links=(first, second))
        assert await storage.read(lambda s: s.goals.get(MINE, goal.id)) == kept
        assert await storage.read(lambda s: s.goals.find(MINE, None)) == [kept]
        assert second == GoalLink(
            id=second.id, goal_id=goal.id, memory_id=None, note="第一步", created_at=NOW
        )

    async def test_goals_come_oldest_first_and_by_status(self, storage: StorageBackend) -> None:
        one, two = await _goal(storage, MINE), await _goal(storage, MINE)
        done = replace(two, status=GoalStatus.DONE, title="学会了", updated_at=NOW + 1)

        await storage.write(lambda s: s.goals.save(done))

        assert await storage.read(lambda s: s.goals.find(MINE, None)) == [one, done]
        assert await storage.read(lambda s: s.goals.find(MINE, GoalStatus.DONE)) == [done]
        assert await storage.read(lambda s: s.goals.find(MINE, GoalStatus.PAUSED)) == []

    @pytest.mark.parametrize("stranger", STRANGERS, ids=str)
    async def test_a_stranger_reads_and_changes_no_goal(
        self, storage: StorageBackend, stranger: Owner
    ) -> None:
        await _ensure(storage, stranger)
        goal = await _goal(storage, MINE)
        forged = replace(goal, owner=stranger, title="forged")

        await storage.write(lambda s: s.goals.save(forged))

        assert await storage.read(lambda s: s.goals.get(stranger, goal.id)) is None
        assert await storage.read(lambda s: s.goals.find(stranger, None)) == []
        assert await storage.read(lambda s: s.goals.get(MINE, goal.id)) == goal

    async def test_an_erased_memory_takes_its_links_with_it(self, storage: StorageBackend) -> None:
        goal = await _goal(storage, MINE)
        [row] = await remember(storage, memory())
        await _link(storage, goal, row.id)
        kept = await _link(storage, goal, None)

        await storage.write(lambda s: s.memories.erase(MINE, [row.id], NOW))

        left = await storage.read(lambda s: s.goals.get(MINE, goal.id))
        assert left is not None
        assert left.links == (kept,)


class KeyStoreContract:
    async def test_a_key_is_known_by_its_digest(self, storage: StorageBackend) -> None:
        limits = KeyLimits(
            read_only=True,
            persona_id="xiaoyu",
            source_app="ide",
            allow_reset=True,
            expires_at=NOW + 0.5,
        )
        key = await _key(storage, "d-1", limits=limits)
        other = await _key(storage, "d-2")

        assert await storage.read(lambda s: s.keys.by_digest("d-1")) == key
        assert await storage.read(lambda s: s.keys.by_digest("d-3")) is None
        assert await storage.read(lambda s: s.keys.all()) == [key, other]

    async def test_a_revoked_key_stays_and_says_so(self, storage: StorageBackend) -> None:
        key = await _key(storage, "d-1")

        assert await storage.write(lambda s: s.keys.revoke(key.id, NOW)) is True
        assert await storage.write(lambda s: s.keys.revoke(key.id, NOW + 1)) is False

        revoked = replace(key, revoked_at=NOW)
        assert await storage.read(lambda s: s.keys.by_digest("d-1")) == revoked

    async def test_revoking_an_unknown_key_changes_nothing(self, storage: StorageBackend) -> None:
        key = await _key(storage, "d-1")

        assert await storage.write(lambda s: s.keys.revoke(key.id + 1, NOW)) is False
        assert await storage.read(lambda s: s.keys.by_digest("d-1")) == key


class AuditLogContract:
    async def test_events_come_in_the_order_of_commits(self, storage: StorageBackend) -> None:
        recorded = [await _record(storage, _event(ts=NOW - n)) for n in range(3)]

        assert await storage.read(lambda s: s.audit.find(MINE.user)) == recorded
        assert [event.id for event in recorded] == sorted(event.id for event in recorded)

    async def test_events_can_be_narrowed_and_resumed(self, storage: StorageBackend) -> None:
        one = await _record(storage, _event(ts=NOW, memory_id=7))
        two = await _record(storage, _event(ts=NOW + 1))
        three = await _record(storage, _event(ts=NOW + 2, memory_id=7))

        assert await storage.read(lambda s: s.audit.find(MINE.user, after_id=one.id)) == [
            two,
            three,
        ]
        assert await storage.read(lambda s: s.audit.find(MINE.user, since=NOW + 1)) == [two, three]
        assert await storage.read(lambda s: s.audit.find(MINE.user, memory_id=7)) == [one, three]
        assert await storage.read(lambda s: s.audit.find(MINE.user, limit=1)) == [one]

    async def test_another_user_sees_no_event(self, storage: StorageBackend) -> None:
        await _record(storage, _event())

        assert await storage.read(lambda s: s.audit.find(OTHER_USER.user)) == []
        assert await storage.read(lambda s: s.audit.find(OTHER_TENANT.user)) == []

    async def test_a_transaction_knows_what_it_recorded_itself(
        self, storage: StorageBackend
    ) -> None:
        await _record(storage, _event())

        def work(stores: Stores) -> tuple[list[Event], list[Event]]:
            recorded = [stores.audit.record(_event(event="a")), stores.audit.record(_event())]
            return recorded, list(stores.audit.recorded)

        recorded, known = await storage.write(work)

        assert known == recorded


class LedgersContract(
    PersonaStoreContract,
    SlotStoreContract,
    TombstoneStoreContract,
    GoalStoreContract,
    KeyStoreContract,
    AuditLogContract,
):
    """All of them."""


_NOTHING: dict[str, Any] = {
    "persona": None,
    "memories": [],
    "messages": [],
    "slots": [],
    "goals": [],
    "found": [],
    "core": [],
}


async def _furnish(storage: StorageBackend, owner: Owner) -> None:
    """Give a persona one of everything."""
    rows = await remember(
        storage,
        memory("tea here", owner, scope=Scope.GLOBAL),
        memory("dev", owner, type=MemoryType.IDENTITY),
    )
    await say(storage, message("a word on tea", owner))
    await _put(storage, _slot(owner=owner))
    await _link(storage, await _goal(storage, owner), rows[0].id)


async def _holdings(storage: StorageBackend, owner: Owner) -> dict[str, Any]:
    """Return what a persona holds itself, and what of it can be seen by search."""

    def work(stores: Stores) -> dict[str, Any]:
        return {
            "persona": stores.personas.get(owner),
            "memories": stores.memories.find(owner, MemoryFilter()),
            "messages": contents(stores.messages.find(owner, MessageFilter())),
            "slots": stores.slots.all(view_of(owner)),
            "goals": stores.goals.find(owner, None),
        }

    held = await storage.read(work)
    own = {row.content for row in held["memories"]}
    seen = await found(storage, "tea", view_of(owner))
    core = await core_of(storage, view_of(owner))
    return {**held, "found": sorted(own & set(seen)), "core": sorted(own & set(core))}


async def _ensure(storage: StorageBackend, *owners: Owner) -> None:
    def work(stores: Stores) -> None:
        for owner in owners:
            stores.personas.ensure(owner, NOW)

    await storage.write(work)


async def _put(storage: StorageBackend, *slots: Slot) -> None:
    def work(stores: Stores) -> None:
        for slot in slots:
            stores.slots.put(slot)

    await storage.write(work)


async def _goal(storage: StorageBackend, owner: Owner) -> Goal:
    goal = Goal(
        id=0,
        owner=owner,
        title="Learn Rust",
        details="练习",
        status=GoalStatus.ACTIVE,
        created_at=NOW,
        updated_at=NOW,
    )
    await _ensure(storage, owner)
    return await storage.write(lambda stores: stores.goals.add(goal))


async def _link(
    storage: StorageBackend, goal: Goal, memory_id: int | None, note: str = ""
) -> GoalLink:
    link = GoalLink(id=0, goal_id=goal.id, memory_id=memory_id, note=note, created_at=NOW)
    return await storage.write(lambda stores: stores.goals.link(goal.owner, link))


async def _key(storage: StorageBackend, digest: str, **given: Any) -> ApiKey:
    key = ApiKey(
        id=0, digest=digest, tenant_id="home", user_id="lin", label="桌宠", created_at=NOW, **given
    )
    return await storage.write(lambda stores: stores.keys.add(key))


async def _record(storage: StorageBackend, event: Event) -> Event:
    return await storage.write(lambda stores: stores.audit.record(event))


def _slot(**given: Any) -> Slot:
    fields: dict[str, Any] = {
        "owner": MINE,
        "bot_id": "",
        "realm": Realm.REAL,
        "slot_name": "identity",
        "value": "dev",
        "provenance": {"source": "user_explicit", "active_memory_id": 1, "superseded": [2]},
        "updated_at": NOW,
    }
    return Slot(**{**fields, **given})


def _event(user: User = MINE.user, **given: Any) -> Event:
    fields: dict[str, Any] = {
        "user": user,
        "persona_id": "xiaoyu",
        "event": "memory.write",
        "ts": NOW,
        "request_id": "r-1",
        "key_label": "桌宠",
        "data": {"type": "fact", "n": 1},
    }
    return Event(**{**fields, **given})
