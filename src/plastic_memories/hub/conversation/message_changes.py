"""Edit, delete, replace and branch what was said; what was learned follows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from secrets import token_hex
from typing import TypeVar

from plastic_memories.errors import NotFound
from plastic_memories.hub.formation.archiving import archive_again
from plastic_memories.hub.formation.export_files import ExportFiles
from plastic_memories.hub.formation.jobs import FormationOptions, open_job, scrub
from plastic_memories.hub.formation.learn import Retraction, copy_to_branch, learn, retract
from plastic_memories.hub.transactions.audit_events import record, the_hub
from plastic_memories.hub.transactions.audited_storage import Ledger
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.language.reading.rule_summary import by_rules, summary_draft
from plastic_memories.language.reading.talk_window import language_of, readable
from plastic_memories.model.job import Trigger
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Draft, Memory, MemoryType, Status
from plastic_memories.model.message import Message, Role
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.model.session import Branch, Session, conversation_of
from plastic_memories.model.talk import TalkWindow
from plastic_memories.ports.judge import JudgeEngine
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.rules.conversation.branch_lines import first_source
from plastic_memories.runtime.wakeup import Bell

Done = TypeVar("Done")


@dataclass(frozen=True, slots=True, kw_only=True)
class WhichMessage:
    """One message, by our id or by the client's."""

    view: Viewpoint
    message_id: int | None = None
    client_msg_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What a change of the past has led to."""

    message: Message
    retracted: Sequence[int] = ()
    restored: Sequence[int] = ()
    rederived: Sequence[int] = ()
    waiting: bool = False  # not digested yet: it will be, as it is now
    job_id: int | None = None  # reads the talk again from there on, with the model
    pending: Sequence[str] = ()  # where the old words still wait to go


@dataclass(frozen=True, slots=True)
class KeepTimeline:
    ledger: Ledger
    screening: Screening
    judge: JudgeEngine
    formation: FormationOptions
    bell: Bell
    exports: ExportFiles
    has_model: bool

    async def edit(
        self, caller: Caller, which: WhichMessage, content: str, *, replaced: bool
    ) -> Revision:
        """Change what a message says; what was learned from the old words is taken back."""
        now = self.ledger.clock.now()
        message, time_zone = await self.ledger.read(lambda stores: _found(stores, which))
        new = self.screening.message(replace(message, content=content))
        drafts = await self._drafts([new], time_zone)

        def work(stores: Stores) -> Revision:
            old, _ = _found(stores, which)
            stores.messages.edit(replace(old, content=new.content))
            record(
                stores, caller, "messages.edit", old.owner.persona_id, now,
                message_id=old.id, replaced=replaced, source_app=old.source_app,
            )  # fmt: skip
            is_seen = old.hidden_at is None
            return self._follow(stores, replace(old, content=new.content), drafts * is_seen, now)

        revision = await self.told(which.view.owner, work)
        # A swipe is part of the talk, and forgets nothing: its old words go with the next scrub.
        return revision if replaced else await self._scrubbed(which.view.owner, revision)

    async def delete(self, caller: Caller, which: WhichMessage) -> Revision:
        """Erase a message with what was learned from it."""
        now = self.ledger.clock.now()

        def work(stores: Stores) -> Revision:
            message, _ = _found(stores, which)
            stores.messages.erase(message.owner, MessageFilter(ids=[message.id]), now)
            record(
                stores, caller, "messages.delete", message.owner.persona_id, now,
                message_id=message.id, source_app=message.source_app,
            )  # fmt: skip
            return self._follow(stores, message, [], now)

        revision = await self.told(which.view.owner, work)
        return await self._scrubbed(which.view.owner, revision)

    async def branch(self, caller: Caller, which: WhichMessage, branch_id: str = "") -> Branch:
        """Start a second way on from a message; one that has that name already is returned."""
        now = self.ledger.clock.now()
        owner, session_id = which.view.owner, which.view.session_id
        name = branch_id or f"b{token_hex(6)}"

        def work(stores: Stores) -> Branch:
            for known in stores.sessions.branches(owner):
                if (known.session_id, known.branch_id) == (session_id, name):
                    return known
            message, _ = _found(stores, which)
            branch = Branch(
                owner=owner,
                session_id=session_id,
                branch_id=name,
                parent_id=message.branch_id,
                from_message_id=message.id,
                created_at=now,
            )
            stores.sessions.add_branch(branch)
            stores.sessions.heard(replace(conversation_of(message), branch_id=name), 0, 0, now)
            _keep_past(stores, branch)
            record(
                stores, caller, "messages.branch", owner.persona_id, now,
                session_id=session_id, branch_id=name, source_app=message.source_app,
            )  # fmt: skip
            return branch

        return await self.ledger.write(work)

    async def told(self, owner: Owner, work: Callable[[Stores], Done]) -> Done:
        """Do work that changes the past; the copies in the archive follow it."""
        done, _ = await self.exports.follow(owner, work)
        self.bell.ring()  # copies in the archive follow, and a model may read again
        return done

    async def _scrubbed(self, owner: Owner, revision: Revision) -> Revision:
        residue = await scrub(self.ledger, owner, self.formation)
        return replace(revision, pending=residue.pending)

    async def _drafts(self, messages: Sequence[Message], time_zone: str) -> list[Draft]:
        found = await asyncio.to_thread(self.judge.extract, readable(messages), time_zone)
        return [draft for _, draft in self.screening.each(found)[0]]

    def _follow(
        self, stores: Stores, message: Message, drafts: Sequence[Draft], now: float
    ) -> Revision:
        """Let what was learned follow a change of one message."""
        hub = the_hub(message.owner.user)
        place = conversation_of(message)
        session = next(
            (
                one
                for one in stores.sessions.find(place.owner, session_id=place.session_id)
                if one.place == place
            ),
            None,
        )
        undone = retract(stores, hub, message.owner, [message.id], now)
        is_digested = session is not None and message.id <= session.watermark
        learned: list[Memory] = []
        for draft in drafts if is_digested else ():
            written = learn(stores, hub, message.owner, draft, now)
            learned += [written.memory] if written.memory else []
        if session is not None:
            learned += self.sum_up_again(stores, session, undone.retracted, drafts, now)
            archive_again(stores, [session], now, self.formation)
        revision = _revision(message, undone, learned)
        if session is None or not is_digested:
            return replace(revision, waiting=session is not None)
        if not self.has_model:
            return revision
        job_id = self.read_again(stores, session, message.id, undone.retracted, now)
        return replace(revision, job_id=job_id)

    def read_again(
        self, stores: Stores, session: Session, first: int, retracted: Sequence[Memory], now: float
    ) -> int:
        """Have a model read the talk from a message on, or from where its summary began.

        What it finds again in the other messages changes nothing.
        """
        summaries = [row for row in retracted if row.type is MemoryType.SUMMARY]
        start = min([first, *(first_source(row) or first for row in summaries)])
        left = stores.sessions.after(session, start - 1, self.formation.window)
        rewound = replace(
            session,
            watermark=start - 1,
            waiting=len(left),
            rounds=sum(one.role is Role.USER for one in left),
            waiting_since=now if left else None,
        )
        stores.sessions.save(rewound)
        return open_job(stores, rewound, Trigger.EXPLICIT, now, self.formation).id

    def sum_up_again(
        self,
        stores: Stores,
        session: Session,
        retracted: Sequence[Memory],
        drafts: Sequence[Draft],
        now: float,
    ) -> list[Memory]:
        """Write new summaries, from what is still known, where old ones had to go."""
        made: list[Memory] = []
        for old in retracted:
            if old.type is not MemoryType.SUMMARY:
                continue
            wanted = MessageFilter(
                ids={*old.source_message_ids, *(i for d in drafts for i in d.source_message_ids)},
                hidden=False,
            )
            messages = readable(stores.messages.find(session.owner, wanted)[::-1])
            draft = _summary(stores, session, messages)
            if draft is not None:
                for _, screened in self.screening.each([draft])[0]:
                    hub = the_hub(session.owner.user)
                    written = learn(stores, hub, session.owner, screened, now)
                    made += [written.memory] if written.memory else []
        return made


def _summary(stores: Stores, session: Session, messages: Sequence[Message]) -> Draft | None:
    if not messages:
        return None
    wanted = MemoryFilter(
        statuses={Status.ACTIVE}, source_message_ids=[message.id for message in messages]
    )
    points = [
        Draft(
            type=row.type,
            key=row.key,
            content=row.content,
            importance=row.importance,
            attributes=row.attributes,
        )
        for row in stores.memories.find(session.owner, wanted)[::-1]
        if row.type is not MemoryType.SUMMARY
    ]
    summary = by_rules(points, language_of(messages))
    if summary is None:
        return None
    window = TalkWindow(owner=session.owner, messages=tuple(messages))
    return summary_draft(session, window, summary, 0)


def _found(stores: Stores, which: WhichMessage) -> tuple[Message, str]:
    """Return a message this viewpoint may touch, and the user's time zone."""
    view = which.view
    wanted = MessageFilter(
        ids=None if which.message_id is None else [which.message_id],
        client_msg_id=which.client_msg_id,
        bot_id=None if view.all_bots else view.bot_id,
        source_app=view.only_app or None,
        session_id=view.session_id or None,
        limit=1,
    )
    found = stores.messages.find(view.owner, wanted)
    if not found:
        raise NotFound("There is no such message here.")
    return found[0], stores.personas.settings(view.owner.user).time_zone


def _keep_past(stores: Stores, branch: Branch) -> None:
    """Copy for a branch what its past knew and the parent has replaced since."""
    wanted = MemoryFilter(statuses={Status.ACTIVE})
    for row in stores.memories.find(branch.owner, wanted):
        is_of_parent = (row.session_id, row.branch_id) == (branch.session_id, branch.parent_id)
        if not is_of_parent or first_source(row) <= branch.from_message_id:
            continue
        before = row
        while before.supersedes_id is not None:
            older = stores.memories.get(branch.owner, before.supersedes_id)
            if older is None:
                break
            if first_source(older) <= branch.from_message_id:
                copy_to_branch(stores, older, branch.session_id, branch.branch_id)
                break
            before = older


def _revision(message: Message, undone: Retraction, learned: Sequence[Memory]) -> Revision:
    return Revision(
        message=message,
        retracted=sorted(row.id for row in undone.retracted),
        restored=sorted(row.id for row in undone.restored),
        rederived=sorted({row.id for row in learned}),
    )
