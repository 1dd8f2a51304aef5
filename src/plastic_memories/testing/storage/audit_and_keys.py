"""What must be kept of goals, keys, changes, and marks of what was forgotten for good."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from plastic_memories.model.console import (
    ConsoleSession,
    Person,
    SessionKind,
    TombstoneMark,
)
from plastic_memories.model.event import Event
from plastic_memories.model.goal import Goal, GoalLink, GoalStatus
from plastic_memories.model.key import ApiKey, KeyLimits
from plastic_memories.model.memory import MemoryType
from plastic_memories.model.message import PendingForget, PendingStatus
from plastic_memories.model.owner import Owner, User
from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.rules.lifecycle.tombstones import TombstoneDigests
from plastic_memories.testing.samples import (
    MINE,
    NOW,
    OTHER_TENANT,
    OTHER_USER,
    STRANGERS,
    create_personas,
    memory,
    store_memories,
)

PENDING = PendingForget(
    owner=MINE,
    message_id=7,
    requested_at=NOW,
    final_at=NOW + 10,
    revoked={3: "active"},
    restored=(2,),
    hidden={7: ((0, 4), (9, 12))},
)


def marks(value: str, key: str = "k", *, covers_key: bool = False) -> TombstoneDigests:
    return TombstoneDigests(value_digest=value, key_digest=key, covers_key=covers_key)


class TombstoneStoreContract:
    async def test_a_mark_covers_until_it_is_lifted(self, storage: StorageBackend) -> None:
        await storage.write(lambda s: s.tombstones.add(MINE, marks("a"), NOW))
        await storage.write(lambda s: s.tombstones.add(MINE, marks("b"), NOW))
        await storage.write(lambda s: s.tombstones.add(MINE, marks("a"), NOW))
        assert await storage.read(lambda s: s.tombstones.covers(MINE, marks("a"))) is True
        assert await storage.read(lambda s: s.tombstones.covers(MINE, marks("x"))) is False

        assert await storage.write(lambda s: s.tombstones.lift(MINE, marks("a"))) == 1

        assert await storage.read(lambda s: s.tombstones.covers(MINE, marks("a"))) is False
        assert await storage.read(lambda s: s.tombstones.covers(MINE, marks("b"))) is True

    async def test_where_a_key_holds_one_value_its_mark_covers_every_value(
        self, storage: StorageBackend
    ) -> None:
        said = marks("a", covers_key=True)
        in_other_words = marks("x", covers_key=True)
        elsewhere = marks("x", "another key", covers_key=True)

        await storage.write(lambda s: s.tombstones.add(MINE, said, NOW))

        assert await storage.read(lambda s: s.tombstones.covers(MINE, in_other_words)) is True
        assert await storage.read(lambda s: s.tombstones.covers(MINE, elsewhere)) is False
        await storage.write(lambda s: s.tombstones.lift(MINE, in_other_words))
        assert await storage.read(lambda s: s.tombstones.covers(MINE, said)) is False

    async def test_marks_are_listed_newest_first_and_each_can_be_lifted(
        self, storage: StorageBackend
    ) -> None:
        await storage.write(lambda s: s.tombstones.add(MINE, marks("a", covers_key=True), NOW))
        await storage.write(lambda s: s.tombstones.add(MINE, marks("b", "k2"), NOW + 1))

        def all_of(owner: Owner) -> Callable[[Stores], list[TombstoneMark]]:
            return lambda stores: stores.tombstones.all(owner, 10)

        listed = await storage.read(all_of(MINE))
        lifted = await storage.write(lambda s: s.tombstones.lift_mark(MINE, "a"))

        assert [mark.digest for mark in listed] == ["b", "a"]
        assert lifted == 2
        assert await storage.read(lambda s: s.tombstones.covers(MINE, marks("b", "k2"))) is True
        assert await storage.read(lambda s: s.tombstones.all(MINE, 1)) == listed[:1]
        for stranger in STRANGERS:
            assert await storage.read(all_of(stranger)) == []

    async def test_an_older_mark_holds_and_is_lifted_but_not_set(
        self, storage: StorageBackend
    ) -> None:
        now = replace(marks("a"), legacy_digests=("older",))
        await storage.write(lambda s: s.tombstones.add(MINE, marks("older"), NOW))
        assert await storage.read(lambda s: s.tombstones.covers(MINE, now)) is True
        await storage.write(lambda s: s.tombstones.lift(MINE, now))
        assert await storage.read(lambda s: s.tombstones.covers(MINE, now)) is False

        await storage.write(lambda s: s.tombstones.add(MINE, now, NOW))

        assert await storage.read(lambda s: s.tombstones.covers(MINE, marks("older"))) is False

    async def test_an_owner_knows_whether_there_is_any_mark(self, storage: StorageBackend) -> None:
        assert await storage.read(lambda s: s.tombstones.has_any(MINE)) is False

        await storage.write(lambda s: s.tombstones.add(MINE, marks("a"), NOW))

        assert await storage.read(lambda s: s.tombstones.has_any(MINE)) is True
        others = await storage.read(lambda s: [s.tombstones.has_any(who) for who in STRANGERS])
        assert others == [False, False, False]

    @pytest.mark.parametrize("stranger", STRANGERS, ids=str)
    async def test_a_mark_is_its_owners_only(
        self, storage: StorageBackend, stranger: Owner
    ) -> None:
        await storage.write(lambda s: s.tombstones.add(MINE, marks("a"), NOW))

        assert await storage.read(lambda s: s.tombstones.covers(stranger, marks("a"))) is False
        assert await storage.write(lambda s: s.tombstones.lift(stranger, marks("a"))) == 0
        assert await storage.read(lambda s: s.tombstones.covers(MINE, marks("a"))) is True

    async def test_a_mark_outlives_the_persona(self, storage: StorageBackend) -> None:
        await create_personas(storage, MINE)
        await storage.write(lambda s: s.tombstones.add(MINE, marks("a"), NOW))

        await storage.write(lambda s: s.personas.erase(MINE, NOW))

        assert await storage.read(lambda s: s.tombstones.covers(MINE, marks("a"))) is True

    async def test_the_secret_is_long_and_stays_the_same(self, storage: StorageBackend) -> None:
        secret = await storage.write(lambda s: s.tombstones.secret())

        assert len(secret) >= 16
        assert await storage.read(lambda s: s.tombstones.secret()) == secret

    async def test_a_pending_forget_comes_back_as_it_was(self, storage: StorageBackend) -> None:
        kept = await storage.write(lambda s: s.pending_forgets.add(PENDING))

        done = replace(kept, status=PendingStatus.UNDONE)
        await storage.write(lambda s: s.pending_forgets.save(done))

        assert await storage.read(lambda s: s.pending_forgets.get(MINE, kept.id)) == done
        assert await storage.read(lambda s: s.pending_forgets.find(MINE, message_id=7)) == [done]
        assert await storage.read(lambda s: s.pending_forgets.find(MINE, message_id=8)) == []

    async def test_a_pending_forget_is_due_when_its_time_has_come(
        self, storage: StorageBackend
    ) -> None:
        kept = await storage.write(lambda s: s.pending_forgets.add(PENDING))

        early = await storage.read(lambda s: s.pending_forgets.due_owners(NOW + 9, 10))
        due = await storage.read(lambda s: s.pending_forgets.due_owners(NOW + 10, 10))
        final = replace(kept, status=PendingStatus.FINAL)
        await storage.write(lambda s: s.pending_forgets.save(final))

        assert (early, due) == ([], [MINE])
        assert await storage.read(lambda s: s.pending_forgets.due_owners(NOW + 10, 10)) == []

    @pytest.mark.parametrize("stranger", STRANGERS, ids=str)
    async def test_a_stranger_sees_and_changes_no_pending_forget(
        self, storage: StorageBackend, stranger: Owner
    ) -> None:
        kept = await storage.write(lambda s: s.pending_forgets.add(PENDING))
        theirs = replace(kept, owner=stranger, status=PendingStatus.UNDONE)

        await storage.write(lambda s: s.pending_forgets.save(theirs))

        assert await storage.read(lambda s: s.pending_forgets.get(stranger, kept.id)) is None
        assert await storage.read(lambda s: s.pending_forgets.find(stranger)) == []
        assert await storage.read(lambda s: s.pending_forgets.get(MINE, kept.id)) == kept


class GoalStoreContract:
    async def test_a_goal_comes_back_with_its_links(self, storage: StorageBackend) -> None:
        goal = await create_goal(storage, MINE)
        [row] = await store_memories(storage, memory())
        first = await link_goal(storage, goal, row.id)
        second = await link_goal(storage, goal, None, note="第一步")

        kept = replace(goal, links=(first, second))
        assert await storage.read(lambda s: s.goals.get(MINE, goal.id)) == kept
        assert await storage.read(lambda s: s.goals.find(MINE, None)) == [kept]
        assert second == GoalLink(
            id=second.id, goal_id=goal.id, memory_id=None, note="第一步", created_at=NOW
        )

    async def test_goals_come_oldest_first_and_by_status(self, storage: StorageBackend) -> None:
        one, two = await create_goal(storage, MINE), await create_goal(storage, MINE)
        done = replace(two, status=GoalStatus.DONE, title="学会了", updated_at=NOW + 1)

        await storage.write(lambda s: s.goals.save(done))

        assert await storage.read(lambda s: s.goals.find(MINE, None)) == [one, done]
        assert await storage.read(lambda s: s.goals.find(MINE, GoalStatus.DONE)) == [done]
        assert await storage.read(lambda s: s.goals.find(MINE, GoalStatus.PAUSED)) == []

    @pytest.mark.parametrize("stranger", STRANGERS, ids=str)
    async def test_a_stranger_reads_and_changes_no_goal(
        self, storage: StorageBackend, stranger: Owner
    ) -> None:
        await create_personas(storage, stranger)
        goal = await create_goal(storage, MINE)
        forged = replace(goal, owner=stranger, title="forged")

        await storage.write(lambda s: s.goals.save(forged))

        assert await storage.read(lambda s: s.goals.get(stranger, goal.id)) is None
        assert await storage.read(lambda s: s.goals.find(stranger, None)) == []
        assert await storage.read(lambda s: s.goals.get(MINE, goal.id)) == goal

    async def test_an_erased_memory_takes_its_links_with_it(self, storage: StorageBackend) -> None:
        goal = await create_goal(storage, MINE)
        [row] = await store_memories(storage, memory())
        await link_goal(storage, goal, row.id)
        kept = await link_goal(storage, goal, None)

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
        key = await _store_key(storage, "d-1", limits=limits)
        other = await _store_key(storage, "d-2")

        assert await storage.read(lambda s: s.keys.find_by_digest("d-1")) == key
        assert await storage.read(lambda s: s.keys.find_by_digest("d-3")) is None
        assert await storage.read(lambda s: s.keys.all()) == [key, other]

    async def test_a_revoked_key_stays_and_says_so(self, storage: StorageBackend) -> None:
        key = await _store_key(storage, "d-1")

        assert await storage.write(lambda s: s.keys.revoke(key.id, NOW)) is True
        assert await storage.write(lambda s: s.keys.revoke(key.id, NOW + 1)) is False

        revoked = replace(key, revoked_at=NOW)
        assert await storage.read(lambda s: s.keys.find_by_digest("d-1")) == revoked

    async def test_revoking_an_unknown_key_changes_nothing(self, storage: StorageBackend) -> None:
        key = await _store_key(storage, "d-1")

        assert await storage.write(lambda s: s.keys.revoke(key.id + 1, NOW)) is False
        assert await storage.read(lambda s: s.keys.find_by_digest("d-1")) == key

    async def test_it_is_known_when_a_key_was_last_used(self, storage: StorageBackend) -> None:
        key = await _store_key(storage, "d-1")
        other = await _store_key(storage, "d-2")

        await storage.write(lambda s: s.keys.mark_used("d-1", NOW + 5))

        used = replace(key, last_used_at=NOW + 5)
        assert await storage.read(lambda s: s.keys.all()) == [used, other]


class ConsoleSessionContract:
    async def test_a_session_is_found_by_its_digest_and_kind_until_it_expires(
        self, storage: StorageBackend
    ) -> None:
        session = await _store_session(storage, "s-1", is_admin=True)

        def find(kind: SessionKind, now: float) -> Callable[[Stores], ConsoleSession | None]:
            return lambda stores: stores.console_sessions.find("s-1", kind, now)

        assert await storage.read(find(SessionKind.SESSION, NOW)) == session
        assert await storage.read(find(SessionKind.LINK, NOW)) is None
        assert await storage.read(find(SessionKind.SESSION, NOW + 60)) is None

    async def test_a_session_is_removed_once_by_its_key_or_when_it_has_expired(
        self, storage: StorageBackend
    ) -> None:
        for digest in ("s-1", "s-2", "s-3"):
            await _store_session(storage, digest)
        await _store_session(storage, "s-4", key_digest="d-2")

        assert await storage.write(lambda s: s.console_sessions.remove("s-1")) is True
        assert await storage.write(lambda s: s.console_sessions.remove("s-1")) is False
        assert await storage.write(lambda s: s.console_sessions.remove_of_key("d-1")) == 2
        assert await storage.write(lambda s: s.console_sessions.remove_expired(NOW + 59)) == 0
        assert await storage.write(lambda s: s.console_sessions.remove_expired(NOW + 60)) == 1

    async def test_people_of_a_tenant_come_with_their_names_last_seen_first(
        self, storage: StorageBackend
    ) -> None:
        await create_personas(storage, MINE, OTHER_USER, OTHER_TENANT)
        name = memory(
            "叫我小林",
            type=MemoryType.PROFILE,
            key="basic_info.nickname",
            attributes={"value": "小林"},
        )
        await store_memories(storage, name)
        await _record_event(storage, _new_event(ts=NOW))
        await _record_event(storage, _new_event(user=OTHER_USER.user, ts=NOW + 1))

        def people(user_id: str | None = None, text: str = "") -> Callable[[Stores], list[Person]]:
            return lambda stores: stores.console_sessions.find_people("home", user_id, text, 10)

        chen = Person(user_id="chen", last_seen_at=NOW + 1)
        lin = Person(user_id="lin", name="小林", memories=1, last_seen_at=NOW)
        assert await storage.read(people()) == [chen, lin]
        assert await storage.read(people("chen")) == [chen]
        assert await storage.read(people(text="小林")) == [lin]
        assert await storage.read(people(text="%")) == []


class AuditLogContract:
    async def test_events_come_in_the_order_of_commits(self, storage: StorageBackend) -> None:
        recorded = [await _record_event(storage, _new_event(ts=NOW - n)) for n in range(3)]

        assert await storage.read(lambda s: s.audit.find(MINE.user)) == recorded
        assert [event.id for event in recorded] == sorted(event.id for event in recorded)

    async def test_events_can_be_narrowed_and_resumed(self, storage: StorageBackend) -> None:
        one = await _record_event(storage, _new_event(ts=NOW, memory_id=7))
        two = await _record_event(storage, _new_event(ts=NOW + 1))
        three = await _record_event(storage, _new_event(ts=NOW + 2, memory_id=7))

        assert await storage.read(lambda s: s.audit.find(MINE.user, after_id=one.id)) == [
            two,
            three,
        ]
        assert await storage.read(lambda s: s.audit.find(MINE.user, since=NOW + 1)) == [two, three]
        assert await storage.read(lambda s: s.audit.find(MINE.user, memory_id=7)) == [one, three]
        assert await storage.read(lambda s: s.audit.find(MINE.user, limit=1)) == [one]

    async def test_a_reader_of_one_app_sees_its_events_and_those_of_no_app(
        self, storage: StorageBackend
    ) -> None:
        shared = await _record_event(storage, _new_event(memory_id=7))
        mine = await _record_event(storage, _new_event(memory_id=7, data={"source_app": "ide"}))
        other = await _record_event(storage, _new_event(memory_id=7, data={"source_app": "chat"}))
        nobodys = await _record_event(storage, _new_event(memory_id=7, data={"source_app": ""}))

        of_all = await storage.read(lambda s: s.audit.find(MINE.user, only_app="ide"))
        of_one = await storage.read(lambda s: s.audit.find(MINE.user, only_app="ide", memory_id=7))

        assert of_all == of_one == [shared, mine]
        every = [shared, mine, other, nobodys]
        assert [event.is_of("ide") for event in every] == [True, True, False, False]

    async def test_another_user_sees_no_event(self, storage: StorageBackend) -> None:
        await _record_event(storage, _new_event())

        assert await storage.read(lambda s: s.audit.find(OTHER_USER.user)) == []
        assert await storage.read(lambda s: s.audit.find(OTHER_TENANT.user)) == []

    async def test_a_transaction_knows_what_it_recorded_itself(
        self, storage: StorageBackend
    ) -> None:
        await _record_event(storage, _new_event())

        def work(stores: Stores) -> tuple[list[Event], list[Event]]:
            recorded = stores.audit.record([_new_event(event="a"), _new_event()])
            return recorded, list(stores.audit.recorded_events)

        recorded, known = await storage.write(work)

        assert known == recorded


async def create_goal(storage: StorageBackend, owner: Owner) -> Goal:
    goal = Goal(
        id=0,
        owner=owner,
        title="Learn Rust",
        details="练习",
        status=GoalStatus.ACTIVE,
        created_at=NOW,
        updated_at=NOW,
    )
    await create_personas(storage, owner)
    return await storage.write(lambda stores: stores.goals.add(goal))


async def link_goal(
    storage: StorageBackend, goal: Goal, memory_id: int | None, note: str = ""
) -> GoalLink:
    link = GoalLink(id=0, goal_id=goal.id, memory_id=memory_id, note=note, created_at=NOW)
    return await storage.write(lambda stores: stores.goals.link(goal.owner, link))


async def _store_key(storage: StorageBackend, digest: str, **given: Any) -> ApiKey:
    key = ApiKey(
        id=0, digest=digest, tenant_id="home", user_id="lin", label="桌宠", created_at=NOW, **given
    )
    return await storage.write(lambda stores: stores.keys.add(key))


async def _store_session(
    storage: StorageBackend, digest: str, key_digest: str = "d-1", *, is_admin: bool = False
) -> ConsoleSession:
    session = ConsoleSession(
        digest=digest,
        kind=SessionKind.SESSION,
        user=MINE.user,
        key_digest=key_digest,
        is_admin=is_admin,
        created_at=NOW,
        expires_at=NOW + 60,
    )
    await storage.write(lambda stores: stores.console_sessions.add(session))
    return session


async def _record_event(storage: StorageBackend, event: Event) -> Event:
    [recorded] = await storage.write(lambda stores: stores.audit.record([event]))
    return recorded


def _new_event(user: User = MINE.user, **given: Any) -> Event:
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
