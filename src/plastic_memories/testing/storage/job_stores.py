"""Conversations, branches and jobs: what a storage backend promises about them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from plastic_memories.model.job import Job, JobStatus, TaskType, Trigger
from plastic_memories.model.message import Role
from plastic_memories.model.owner import Owner, Realm
from plastic_memories.model.session import Branch, Conversation, Session
from plastic_memories.ports.storage import StorageBackend, Stores
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.testing.samples import (
    MINE,
    NOW,
    OTHER_USER,
    STRANGERS,
    contents,
    create_personas,
    memory,
    message,
    store_memories,
    store_messages,
)

TALK = Conversation(MINE, "s1", "", "cli")


def new_job(session: Session, **given: Any) -> Job:
    fields = {"task_type": TaskType.FULL, "trigger": Trigger.EXPLICIT, **given}
    return Job(
        owner=session.owner, session_ref=session.id, created_at=NOW, next_try_at=NOW, **fields
    )


def _add_branch(stores: Stores, branch: Branch) -> None:
    stores.branches.add(branch)


async def create_session(
    storage: StorageBackend, place: Conversation = TALK, number: int = 1
) -> Session:
    await create_personas(storage, place.owner)
    return await storage.write(lambda s: s.sessions.record_messages(place, number, number, NOW))


async def open_job(storage: StorageBackend, job: Job) -> Job:
    return await storage.write(lambda s: s.jobs.open(job))


def _visible_sessions(
    owner: Owner, ref: int, stores: Stores
) -> tuple[list[Session], Session | None, Realm | None]:
    sessions = stores.sessions
    return sessions.find(owner), sessions.get(owner, ref), sessions.realm_of(owner, "s1", "")


def _save_job(job: Job, stores: Stores) -> None:
    stores.jobs.save(job)


class SessionStoreContract:
    async def test_a_moved_session_keeps_what_waits(self, storage: StorageBackend) -> None:
        session = await create_session(storage, number=2)
        place = replace(TALK, bot_id="bot-1", session_id="s2")

        await storage.write(lambda s: s.sessions.move(session, place))

        assert await storage.read(lambda s: s.sessions.find(MINE)) == [
            replace(session, place=place)
        ]

    async def test_a_session_takes_in_one_that_is_moved_there(
        self, storage: StorageBackend
    ) -> None:
        place = replace(TALK, bot_id="bot-1")
        session, there = (
            await create_session(storage, number=2),
            await create_session(storage, place, number=3),
        )
        for each in (session, there):
            await open_job(storage, new_job(each))

        await storage.write(lambda s: s.sessions.move(session, place))

        [left] = await storage.read(lambda s: s.sessions.find(MINE))
        assert (left.id, left.waiting, left.rounds) == (there.id, 5, 5)
        jobs = await storage.read(lambda s: s.jobs.find(MINE.user))
        assert [job.session_ref for job in jobs] == [there.id]

    async def test_what_is_heard_is_counted(self, storage: StorageBackend) -> None:
        first = await create_session(storage)
        again = await storage.write(lambda s: s.sessions.record_messages(TALK, 3, 1, NOW + 5))

        assert (first.id, again.waiting, again.rounds) == (again.id, 4, 2)
        assert (again.waiting_since, again.last_active) == (NOW, NOW + 5)

    async def test_apps_bots_and_branches_are_conversations_of_their_own(
        self, storage: StorageBackend
    ) -> None:
        places = [
            TALK,
            replace(TALK, source_app="web"),
            replace(TALK, bot_id="b1"),
            replace(TALK, branch_id="x"),
            replace(TALK, session_id="s2"),
            replace(TALK, owner=OTHER_USER),
        ]

        assert len({(await create_session(storage, place)).id for place in places}) == len(places)

    async def test_a_session_is_saved_as_it_is(self, storage: StorageBackend) -> None:
        session = await create_session(storage)
        changed = replace(
            session,
            realm=Realm.STORY,
            watermark=7,
            waiting=0,
            ended_at=NOW,
            archive_path="a/b",
            archived_upto=7,
        )

        await storage.write(lambda s: s.sessions.save(changed))

        assert await storage.read(lambda s: s.sessions.get(MINE, session.id)) == changed

    async def test_new_talk_opens_an_ended_session_again(self, storage: StorageBackend) -> None:
        session = await create_session(storage)
        await storage.write(lambda s: s.sessions.save(replace(session, ended_at=NOW)))

        again = await create_session(storage)

        assert again.ended_at is None

    async def test_no_stranger_finds_a_session(self, storage: StorageBackend) -> None:
        session = await create_session(storage)
        await storage.write(lambda s: s.sessions.save(replace(session, realm=Realm.STORY)))

        for stranger in STRANGERS:
            found, got, realm = await storage.read(partial(_visible_sessions, stranger, session.id))
            assert (found, got, realm) == ([], None, None)

    async def test_the_realm_of_a_session_holds_in_every_app(self, storage: StorageBackend) -> None:
        session = await create_session(storage)
        await storage.write(lambda s: s.sessions.save(replace(session, realm=Realm.STORY)))

        assert await storage.read(lambda s: s.sessions.realm_of(MINE, "s1", "")) is Realm.STORY
        assert await storage.read(lambda s: s.sessions.realm_of(MINE, "s2", "")) is None
        assert await storage.read(lambda s: s.sessions.realm_of(MINE, "s1", "b1")) is None

    async def test_the_messages_after_one_are_those_of_the_conversation(
        self, storage: StorageBackend
    ) -> None:
        session = await create_session(storage)
        place: dict[str, Any] = {"session_id": "s1", "source_app": "cli"}
        ids = await store_messages(
            storage,
            *(message(f"line {n}", **place) for n in range(4)),
            message("elsewhere", session_id="s2", source_app="cli"),
            message("another app", session_id="s1"),
            message("another branch", branch_id="x", **place),
        )
        await storage.write(lambda s: s.messages.hide(MINE, [ids[2]], NOW))

        found = await storage.read(lambda s: s.sessions.messages_after(session, ids[0], 10))
        few = await storage.read(lambda s: s.sessions.messages_after(session, 0, 2))

        assert contents(found) == ["line 1", "line 3"]
        assert contents(few) == ["line 0", "line 1"]

    async def test_branches_are_kept_for_their_owner(self, storage: StorageBackend) -> None:
        await create_personas(storage, MINE)
        branch = Branch(
            owner=MINE,
            session_id="s1",
            branch_id="b",
            parent_id="",
            from_message_id=3,
            created_at=NOW,
        )
        await storage.write(lambda s: s.branches.add(branch))

        assert await storage.read(lambda s: s.branches.all(MINE)) == [branch]
        assert await storage.read(lambda s: s.branches.all(OTHER_USER)) == []

    async def test_branches_go_with_their_session_and_owner_only(
        self, storage: StorageBackend
    ) -> None:
        await create_personas(storage, MINE, OTHER_USER)
        of = [(MINE, "s1"), (MINE, "s2"), (OTHER_USER, "s1")]
        made = [
            Branch(
                owner=owner,
                session_id=session_id,
                branch_id="b",
                parent_id="",
                from_message_id=3,
                created_at=NOW,
            )
            for owner, session_id in of
        ]
        for branch in made:
            await storage.write(partial(_add_branch, branch=branch))

        await storage.write(lambda s: s.branches.drop(MINE, "s1"))

        assert await storage.read(lambda s: s.branches.all(MINE)) == [made[1]]
        assert await storage.read(lambda s: s.branches.all(OTHER_USER)) == [made[2]]

    async def test_an_edited_message_is_found_by_its_new_words_only(
        self, storage: StorageBackend
    ) -> None:
        [message_id] = await store_messages(storage, message("green tea"))
        [stored] = await storage.read(
            lambda s: s.messages.find(MINE, MessageFilter(ids=[message_id]))
        )

        await storage.write(lambda s: s.messages.edit(replace(stored, content="coffee")))
        await storage.write(
            lambda s: s.messages.edit(replace(stored, owner=OTHER_USER, content="theirs"))
        )

        assert contents(await storage.read(lambda s: s.messages.find(MINE, MessageFilter()))) == [
            "coffee"
        ]
        assert await storage.read(lambda s: s.upkeep.check()) == []

    async def test_what_was_erased_on_purpose_is_known(self, storage: StorageBackend) -> None:
        ids = await store_messages(storage, message("a"), message("b"))
        await storage.write(lambda s: s.messages.erase(MINE, MessageFilter(ids=[ids[0]]), NOW))
        await storage.write(lambda s: s.messages.record_erased(MINE, [999], NOW))

        wanted = [*ids, 999]
        assert await storage.read(lambda s: s.messages.find_erased(MINE, wanted)) == {ids[0], 999}
        assert await storage.read(lambda s: s.messages.find_erased(OTHER_USER, wanted)) == set()

    async def test_the_sources_of_a_memory_can_change(self, storage: StorageBackend) -> None:
        [row] = await store_memories(storage, memory(source_message_ids=(1, 2)))

        changed = await storage.write(lambda s: s.memories.set_sources(row, [3, 2]))

        assert changed.source_message_ids == (2, 3)
        assert await storage.read(lambda s: s.memories.get(MINE, row.id)) == changed


class JobStoreContract:
    async def test_a_session_has_one_open_job_of_a_kind(self, storage: StorageBackend) -> None:
        session = await create_session(storage)
        first = await open_job(storage, new_job(session))

        again = await open_job(storage, new_job(session, trigger=Trigger.IDLE))
        archive = await open_job(storage, new_job(session, task_type=TaskType.ARCHIVE))

        assert again == first
        assert archive.id != first.id

    async def test_a_finished_job_makes_room(self, storage: StorageBackend) -> None:
        session = await create_session(storage)
        first = await open_job(storage, new_job(session))
        await storage.write(lambda s: s.jobs.save(replace(first, status=JobStatus.COMPLETED)))

        assert (await open_job(storage, new_job(session))).id != first.id

    async def test_a_job_is_saved_as_it_is(self, storage: StorageBackend) -> None:
        job = await open_job(storage, new_job(await create_session(storage)))
        changed = replace(
            job,
            status=JobStatus.DEAD,
            retry_count=3,
            error_message="no",
            started_at=NOW,
            completed_at=NOW,
            lease_owner="w",
            memory_ids=(1, 2),
        )

        await storage.write(lambda s: s.jobs.save(changed))

        assert await storage.read(lambda s: s.jobs.get(MINE.user, job.id)) == changed

    async def test_jobs_that_were_done_long_ago_go(self, storage: StorageBackend) -> None:
        session = await create_session(storage)
        for status, completed in (
            (JobStatus.COMPLETED, NOW - 9),
            (JobStatus.COMPLETED, NOW + 9),
            (JobStatus.DEAD, NOW - 9),
        ):
            job = await open_job(storage, new_job(session))
            over = replace(job, status=status, completed_at=completed)
            await storage.write(partial(_save_job, over))

        assert await storage.write(lambda s: s.jobs.prune(NOW)) == 1

        left = await storage.read(lambda s: s.jobs.find(MINE.user))
        assert {job.status for job in left} == {JobStatus.COMPLETED, JobStatus.DEAD}

    async def test_jobs_of_another_user_do_not_exist(self, storage: StorageBackend) -> None:
        job = await open_job(storage, new_job(await create_session(storage)))

        theirs = replace(job, owner=OTHER_USER, status=JobStatus.DEAD)
        await storage.write(lambda s: s.jobs.save(theirs))

        assert await storage.read(lambda s: s.jobs.get(OTHER_USER.user, job.id)) is None
        assert await storage.read(lambda s: s.jobs.find(OTHER_USER.user)) == []
        assert await storage.read(lambda s: s.jobs.get(MINE.user, job.id)) == job

    async def test_jobs_can_be_asked_for_by_the_app_of_their_session(
        self, storage: StorageBackend
    ) -> None:
        await open_job(storage, new_job(await create_session(storage)))
        web = await create_session(storage, replace(TALK, source_app="web"))
        await open_job(storage, new_job(web))

        found = await storage.read(lambda s: s.jobs.find(MINE.user, only_app="web"))

        assert [job.session_ref for job in found] == [web.id]

    async def test_what_is_due_comes_longest_waiting_first(self, storage: StorageBackend) -> None:
        async def job(name: str, at: float, status: JobStatus) -> int:
            session = await create_session(storage, replace(TALK, session_id=name))
            stored = await open_job(storage, new_job(session))
            changed = replace(stored, next_try_at=at, status=status)
            await storage.write(lambda s: s.jobs.save(changed))
            return stored.id

        late = await job("late", NOW - 1, JobStatus.PENDING)
        early = await job("early", NOW - 9, JobStatus.FAILED)
        left = await job("left", NOW - 5, JobStatus.PROCESSING)
        await job("held", NOW + 9, JobStatus.PROCESSING)
        await job("dead", NOW - 9, JobStatus.DEAD)
        await job("done", NOW - 9, JobStatus.COMPLETED)

        due = await storage.read(lambda s: s.jobs.due(NOW, 10))

        assert [one.id for one in due] == [early, left, late]

    async def test_due_jobs_come_in_turns_of_users(self, storage: StorageBackend) -> None:
        mine = await create_session(storage, replace(TALK, session_id="mine"))
        more = await create_session(storage, replace(TALK, session_id="more"))
        theirs = await create_session(storage, replace(TALK, owner=OTHER_USER))
        for session in (mine, more, theirs):
            await open_job(storage, new_job(session))

        first = await storage.read(lambda s: s.jobs.due_by_turns(NOW, None, 10))
        last = first[-1].owner.user
        second = await storage.read(lambda s: s.jobs.due_by_turns(NOW, first[0].owner.user, 10))
        again = await storage.read(lambda s: s.jobs.due_by_turns(NOW, last, 10))

        assert sorted(job.session_ref for job in first) == [mine.id, more.id, theirs.id]
        assert {job.owner.user for job in second} == {last}
        assert again == first

    async def test_a_session_that_is_worked_on_has_no_due_job(
        self, storage: StorageBackend
    ) -> None:
        session = await create_session(storage)
        await open_job(storage, new_job(session))
        archiving = await open_job(storage, replace(new_job(session), task_type=TaskType.ARCHIVE))
        held = replace(archiving, status=JobStatus.PROCESSING, next_try_at=NOW + 9)
        await storage.write(lambda s: s.jobs.save(held))

        now = await storage.read(lambda s: s.jobs.due_by_turns(NOW, None, 10))
        later = await storage.read(lambda s: s.jobs.due_by_turns(NOW + 9, None, 10))

        assert now == []
        assert len(later) == 2  # the lease has run out

    async def test_quiet_sessions_are_those_that_wait_without_a_job(
        self, storage: StorageBackend
    ) -> None:
        quiet = await create_session(storage, replace(TALK, session_id="quiet"))
        await create_session(storage, replace(TALK, session_id="empty"), 0)
        busy = await create_session(storage, replace(TALK, session_id="busy"))
        await open_job(storage, new_job(busy))
        given_up = await create_session(storage, replace(TALK, session_id="given up"))
        dead = await open_job(storage, new_job(given_up))
        over = replace(dead, status=JobStatus.DEAD, completed_at=NOW + 1)
        await storage.write(lambda s: s.jobs.save(over))

        found = await storage.read(lambda s: s.formation.idle_sessions(NOW, 0, 10))
        early = await storage.read(lambda s: s.formation.idle_sessions(NOW - 1, 0, 10))
        long = await storage.read(lambda s: s.formation.idle_sessions(NOW - 1, NOW, 10))

        assert [session.id for session in found] == [quiet.id]
        assert early == []
        assert [session.id for session in long] == [quiet.id]

    async def test_the_queue_is_counted_by_tenant(self, storage: StorageBackend) -> None:
        await open_job(storage, new_job(await create_session(storage)))
        other = Owner("elsewhere", "u", "p")
        theirs = await open_job(
            storage, new_job(await create_session(storage, Conversation(other, "s")))
        )
        await storage.write(lambda s: s.jobs.save(replace(theirs, status=JobStatus.DEAD)))

        depth = {one.tenant_id: one for one in await storage.read(lambda s: s.jobs.depth())}

        mine, elsewhere = depth[MINE.tenant_id], depth["elsewhere"]
        assert (mine.waiting, mine.oldest, mine.dead) == (1, NOW, 0)
        assert (elsewhere.waiting, elsewhere.oldest, elsewhere.dead) == (0, None, 1)

    async def test_every_message_stands_somewhere_or_is_lost(self, storage: StorageBackend) -> None:
        place: dict[str, Any] = {"session_id": "s1", "source_app": "cli", "role": Role.USER}
        ids = await store_messages(storage, *(message(f"line {n}", **place) for n in range(4)))
        unclaimed = await storage.read(lambda s: s.formation.reconcile())
        session = await create_session(storage, number=2)
        await storage.write(lambda s: s.sessions.save(replace(session, watermark=ids[1])))
        waiting = await storage.read(lambda s: s.formation.reconcile())
        dropped = replace(session, watermark=ids[1], waiting=0)
        await storage.write(lambda s: s.sessions.save(dropped))

        lost = await storage.read(lambda s: s.formation.reconcile())

        assert (unclaimed.lost, waiting.lost, lost.lost) == (4, 0, 2)
        assert (waiting.digested, waiting.waiting) == (2, 2)

    async def test_talk_while_it_was_off_waits_when_it_is_on_again(
        self, storage: StorageBackend
    ) -> None:
        await storage.write(lambda s: s.formation.set_enabled(on=False, now=NOW))
        await store_messages(storage, message("a", session_id="s1"), message("b", session_id="s1"))
        off = await storage.read(lambda s: s.formation.reconcile())

        await storage.write(lambda s: s.formation.set_enabled(on=True, now=NOW))

        [session] = await storage.read(lambda s: s.sessions.find(MINE))
        on = await storage.read(lambda s: s.formation.reconcile())
        assert (session.waiting, off.waiting, off.lost) == (2, 2, 0)
        assert (on.waiting, on.lost) == (2, 0)

    async def test_messages_go_only_after_they_were_archived(self, storage: StorageBackend) -> None:
        place: dict[str, Any] = {"session_id": "s1", "source_app": "cli", "ts": NOW - 10}
        ids = await store_messages(storage, message("first", **place), message("second", **place))
        session = await create_session(storage, number=2)
        waiting = await storage.read(lambda s: s.formation.unarchived_sessions(NOW, None, 10))
        await storage.write(
            lambda s: s.sessions.save(replace(session, archived_upto=ids[0], watermark=ids[1]))
        )

        pruned = await storage.write(lambda s: s.upkeep.prune_messages(NOW, None, 10))

        assert [one.id for one in waiting] == [session.id]
        assert pruned == 1
        left = await storage.read(lambda s: s.messages.find(MINE, MessageFilter()))
        assert contents(left) == ["second"]
