"""Edit, delete, replace and branch messages; update what was learned from them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from secrets import token_hex
from typing import TypeVar

from plastic_memories.errors import NotFound
from plastic_memories.hub.formation.archiving import queue_archiving
from plastic_memories.hub.formation.correcting_messages import apply_corrections
from plastic_memories.hub.formation.export_files import ExportFiles
from plastic_memories.hub.formation.jobs import FormationOptions, open_job, scrub
from plastic_memories.hub.formation.learn import (
    RetractionOutcome,
    copy_to_branch,
    retract,
    store_learned_draft,
)
from plastic_memories.hub.transactions.audit_events import hub_caller, record_event
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.language.reading.rule_summary import summarise_drafts, summary_draft
from plastic_memories.language.reading.talk_window import without_injected_text
from plastic_memories.language.text.majority_language import majority_language
from plastic_memories.model.formation import TalkWindow
from plastic_memories.model.job import Trigger
from plastic_memories.model.key import Caller
from plastic_memories.model.memory import Draft, Memory, MemoryType, Status
from plastic_memories.model.message import Message, Role, visible_message
from plastic_memories.model.owner import Owner, Viewpoint
from plastic_memories.model.session import Branch, Session, conversation_of
from plastic_memories.ports.judge import JudgeEngine
from plastic_memories.ports.storage import Stores
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.rules.conversation.branch_lines import first_source_message_id
from plastic_memories.runtime.wakeup import WakeUp

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReference:
    """One message, by the hub's id or by the client's."""

    view: Viewpoint
    message_id: int | None = None
    client_msg_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionOutcome:
    """The effects of changing a message."""

    message: Message
    retracted: Sequence[int] = ()
    restored: Sequence[int] = ()
    rederived: Sequence[int] = ()
    waiting: bool = False  # not digested yet: the digest will read it as it is now
    job_id: int | None = None  # the job in which the model reads again from this message on
    pending: Sequence[str] = ()  # places where the old text is not cleared yet


@dataclass(frozen=True, slots=True)
class ConversationTimeline:
    storage: AuditedStorage
    screening: Screening
    judge: JudgeEngine
    formation: FormationOptions
    wakeup: WakeUp
    exports: ExportFiles
    has_model: bool

    async def edit(
        self, caller: Caller, which: MessageReference, content: str, *, replaced: bool
    ) -> RevisionOutcome:
        """Change the text of a message; retract what was learned from the old text."""
        now = self.storage.clock.now()
        message, time_zone = await self.storage.read(lambda stores: _find_message(stores, which))
        new = self.screening.mask_message(replace(message, content=content))
        drafts = await self._extract_drafts([new], time_zone)

        def work(stores: Stores) -> RevisionOutcome:
            old, _ = _find_message(stores, which)
            stores.messages.edit(replace(old, content=new.content))
            record_event(
                stores, caller, "messages.edit", old.owner.persona_id, now,
                message_id=old.id, replaced=replaced, source_app=old.source_app,
            )  # fmt: skip
            if old.content == new.content and (old.hidden_spans or old.hidden_at is not None):
                # Nothing was edited, and what is hidden stays so.
                return RevisionOutcome(message=old)
            edited = replace(old, content=new.content)
            revision = self._relearn(stores, edited, drafts, now)
            if not revision.waiting:
                apply_corrections(stores, hub_caller(old.owner.user), old.owner, [edited], now)
            return revision

        revision = await self.write_and_refresh_exports(which.view.owner, work)
        # A swipe is part of the conversation, not a forget: the next scrub clears its old text.
        return revision if replaced else await self._scrub_revision(which.view.owner, revision)

    async def delete(self, caller: Caller, which: MessageReference) -> RevisionOutcome:
        """Erase a message with everything learned from it."""
        now = self.storage.clock.now()

        def work(stores: Stores) -> RevisionOutcome:
            message, _ = _find_message(stores, which)
            stores.messages.erase(message.owner, MessageFilter(ids=[message.id]), now)
            record_event(
                stores, caller, "messages.delete", message.owner.persona_id, now,
                message_id=message.id, source_app=message.source_app,
            )  # fmt: skip
            return self._relearn(stores, message, [], now)

        revision = await self.write_and_refresh_exports(which.view.owner, work)
        return await self._scrub_revision(which.view.owner, revision)

    async def branch(self, caller: Caller, which: MessageReference, branch_id: str = "") -> Branch:
        """Start a branch at a message; an existing branch of that name is returned."""
        now = self.storage.clock.now()
        owner, session_id = which.view.owner, which.view.session_id
        name = branch_id or f"b{token_hex(6)}"

        def work(stores: Stores) -> Branch:
            for known in stores.branches.all(owner):
                if (known.session_id, known.branch_id) == (session_id, name):
                    return known
            message, _ = _find_message(stores, which)
            branch = Branch(
                owner=owner,
                session_id=session_id,
                branch_id=name,
                parent_id=message.branch_id,
                from_message_id=message.id,
                created_at=now,
            )
            stores.branches.add(branch)
            stores.sessions.record_messages(
                replace(conversation_of(message), branch_id=name), 0, 0, now
            )
            _copy_past_to_branch(stores, branch)
            record_event(
                stores, caller, "messages.branch", owner.persona_id, now,
                session_id=session_id, branch_id=name, source_app=message.source_app,
            )  # fmt: skip
            return branch

        return await self.storage.write(work)

    async def write_and_refresh_exports(
        self, owner: Owner, work: Callable[[Stores], ResultT]
    ) -> ResultT:
        """Run work that changes the past, then refresh exports and wake the archive job."""
        done, _ = await self.exports.write_and_refresh(owner, work)
        self.wakeup.notify()  # the archive is rewritten, and a model may read again
        return done

    async def _scrub_revision(self, owner: Owner, revision: RevisionOutcome) -> RevisionOutcome:
        residue = await scrub(self.storage, owner, self.formation)
        return replace(revision, pending=residue.pending)

    async def _extract_drafts(self, messages: Sequence[Message], time_zone: str) -> list[Draft]:
        found = await asyncio.to_thread(
            self.judge.extract, without_injected_text(messages), time_zone
        )
        return [draft for _, draft in self.screening.screen_drafts(found)[0]]

    def _relearn(
        self, stores: Stores, message: Message, drafts: Sequence[Draft], now: float
    ) -> RevisionOutcome:
        """Update what was learned after a change of one message."""
        hub = hub_caller(message.owner.user)
        place = conversation_of(message)
        session = next(
            (
                row
                for row in stores.sessions.find(place.owner, session_id=place.session_id)
                if row.place == place
            ),
            None,
        )
        retraction = retract(stores, hub, message.owner, [message.id], now)
        is_digested = session is not None and message.id <= session.watermark
        learned: list[Memory] = []
        for draft in drafts if is_digested else ():
            written = store_learned_draft(stores, hub, message.owner, draft, now)
            learned += [written.memory] if written.memory else []
        if session is not None:
            learned += self.rewrite_summaries(stores, session, retraction.retracted, drafts, now)
            queue_archiving(stores, [session], now, self.formation)
        revision = _revision_outcome(message, retraction, learned)
        if session is None or not is_digested:
            return replace(revision, waiting=session is not None)
        if not self.has_model:
            return revision
        job_id = self.queue_rereading(stores, session, message.id, retraction.retracted, now)
        return replace(revision, job_id=job_id)

    def queue_rereading(
        self, stores: Stores, session: Session, first: int, retracted: Sequence[Memory], now: float
    ) -> int:
        """Queue a job that reads from a message on, or from the start of a retracted summary.

        What the model extracts again from unchanged messages changes nothing.
        """
        summaries = [row for row in retracted if row.type is MemoryType.SUMMARY]
        start = min([first, *(first_source_message_id(row) or first for row in summaries)])
        left = stores.sessions.messages_after(session, start - 1, self.formation.window)
        rewound = replace(
            session,
            watermark=start - 1,
            waiting=len(left),
            rounds=sum(message.role is Role.USER for message in left),
            waiting_since=now if left else None,
        )
        stores.sessions.save(rewound)
        return open_job(stores, rewound, Trigger.EXPLICIT, now, self.formation).id

    def rewrite_summaries(
        self,
        stores: Stores,
        session: Session,
        retracted: Sequence[Memory],
        drafts: Sequence[Draft],
        now: float,
    ) -> list[Memory]:
        """Replace retracted summaries by new ones, made from the memories that remain."""
        rewritten: list[Memory] = []
        for old in retracted:
            if old.type is not MemoryType.SUMMARY:
                continue
            wanted = MessageFilter(
                ids={*old.source_message_ids, *(i for d in drafts for i in d.source_message_ids)},
                hidden=False,
            )
            found = [visible_message(row) for row in stores.messages.find(session.owner, wanted)]
            messages = without_injected_text(found[::-1])
            draft = _summary_draft(stores, session, messages)
            if draft is not None:
                for _, screened in self.screening.screen_drafts([draft])[0]:
                    hub = hub_caller(session.owner.user)
                    written = store_learned_draft(stores, hub, session.owner, screened, now)
                    rewritten += [written.memory] if written.memory else []
        return rewritten


def _summary_draft(stores: Stores, session: Session, messages: Sequence[Message]) -> Draft | None:
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
    language = majority_language(message.content for message in messages)
    summary = summarise_drafts(points, language)
    if summary is None:
        return None
    window = TalkWindow(owner=session.owner, messages=tuple(messages))
    return summary_draft(session, window, summary, 0)


def _find_message(stores: Stores, which: MessageReference) -> tuple[Message, str]:
    """Return a message this viewpoint may change, and the user's time zone."""
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


def _copy_past_to_branch(stores: Stores, branch: Branch) -> None:
    """Copy to a branch the memories of its past that the parent has replaced since."""
    wanted = MemoryFilter(statuses={Status.ACTIVE})
    for row in stores.memories.find(branch.owner, wanted):
        is_of_parent = (row.session_id, row.branch_id) == (branch.session_id, branch.parent_id)
        if not is_of_parent or first_source_message_id(row) <= branch.from_message_id:
            continue
        version = row
        while version.supersedes_id is not None:
            older = stores.memories.get(branch.owner, version.supersedes_id)
            if older is None:
                break
            if first_source_message_id(older) <= branch.from_message_id:
                copy_to_branch(stores, older, branch)
                break
            version = older


def _revision_outcome(
    message: Message, retraction: RetractionOutcome, learned: Sequence[Memory]
) -> RevisionOutcome:
    return RevisionOutcome(
        message=message,
        retracted=sorted(row.id for row in retraction.retracted),
        restored=sorted(row.id for row in retraction.restored),
        rederived=sorted({row.id for row in learned}),
    )
