"""The client for ordinary code."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, Unpack

import httpx
from websockets.sync.client import connect

from .calls import Calls
from .calls.hub import Lines
from .calls.messages import Utterances
from .card_methods import CardMethods
from .connection import FAILURES, Connection, may_repeat
from .errors import PlasticMemoriesClientError
from .event_feed import LOST, EventFeed
from .export_methods import ExportMethods
from .models import (
    AppendResult,
    AuditEntry,
    Capabilities,
    Changed,
    ChangedMany,
    Forgotten,
    Goal,
    GoalCreated,
    GoalLinked,
    Health,
    HubEvent,
    Imported,
    Job,
    MemoryItem,
    MemoryPage,
    Message,
    Persona,
    PersonaCreated,
    PersonaProfile,
    Rebuilt,
    RecallResult,
    Removed,
    Result,
    Slot,
    TemplateApplied,
    UserSettings,
    WriteResult,
)
from .options import (
    ExportFormat,
    ForgetOptions,
    MemoryChange,
    MemoryFilter,
    MessageFilter,
    NewMemory,
    RecallOptions,
    TalkOptions,
    WhichMessage,
    WriteOptions,
)
from .page_methods import PageMethods
from .partial_file import partial_file
from .protocol import Call, Reply, check
from .session_methods import SessionMethods

T = TypeVar("T")


class PlasticMemoriesClient(CardMethods, ExportMethods, PageMethods, SessionMethods):
    """Talk to a hub; close it, or use it in a `with` statement.

    Without `api_key` the key is taken from PLASTIC_MEMORIES_API_KEY or, for a hub on this
    machine, from its key file. Every method raises `PlasticMemoriesClientError` or one of
    its kinds. `persona_id`, where it is left out, is the client's own.
    """

    def __init__(
        self,
        base_url: str = "http://127.0.0.1:8007",
        user_id: str = "local",
        persona_id: str = "default",
        source_app: str = "python_sdk",
        timeout_s: float = 10,
        api_key: str | None = None,
        *,
        session_id: str | None = None,
        transport: httpx.BaseTransport | None = None,
        bot_id: str | None = None,
        bots: Literal["all"] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._calls = Calls(persona_id, source_app, session_id, bot_id, bots)
        self._connection = Connection(
            base_url, user_id=user_id, api_key=api_key, timeout_s=timeout_s, headers=headers
        )
        self._http = httpx.Client(transport=transport, **self._connection.client_options())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    # The hub

    def health(self) -> Health:
        """Say how the hub is; its parts are named only to a caller with a key."""
        return self._send(self._calls.health())

    def capabilities(self) -> Capabilities:
        """Say what is plugged in and which limits hold."""
        return self._send(self._calls.capabilities())

    def metrics(self) -> str:
        """Return the metrics as Prometheus text."""
        return self._send(self._calls.metrics())

    def user_settings(self) -> UserSettings:
        """Return the user's time zone and language."""
        return self._send(self._calls.user_settings())

    def user_settings_update(
        self, *, time_zone: str | None = None, language: str | None = None
    ) -> UserSettings:
        """Change what is given, and return the settings."""
        return self._send(self._calls.user_settings_update(time_zone, language))

    # Personas

    def persona_create(
        self,
        persona_id: str | None = None,
        display_name: str | None = None,
        description: str | None = None,
    ) -> PersonaCreated:
        """Create a persona; again, update the fields given."""
        return self._send(self._calls.persona_create(persona_id, display_name, description))

    def create_from_template(
        self, template_path: str, *, persona_id: str | None = None, allow_overwrite: bool = False
    ) -> TemplateApplied:
        """Give a persona what a template of the hub's template folder says."""
        call = self._calls.create_from_template(template_path, persona_id, allow_overwrite)
        return self._send(call)

    def persona_list(self) -> list[Persona]:
        """Return the user's personas."""
        return self._send(self._calls.persona_list())

    def persona_profile(self, persona_id: str | None = None) -> PersonaProfile:
        """Return a persona's profile as Markdown."""
        return self._send(self._calls.persona_profile(persona_id))

    def slots(self, persona_id: str | None = None) -> list[Slot]:
        """Return a persona's confirmed identity."""
        return self._send(self._calls.slots(persona_id))

    def persona_delete(self, persona_id: str) -> Result:
        """Erase a persona and all it remembers; the receipt is in `raw`."""
        return self._send(self._calls.persona_delete(persona_id))

    # Recall

    def recall(
        self, query: str, *, fail_open: bool = False, **options: Unpack[RecallOptions]
    ) -> RecallResult:
        """Return what bears on `query`, ready for a prompt.

        With `fail_open` a hub that fails or does not answer gives an empty result, and
        `degraded` says why: the conversation goes on without its memory.
        """
        return self._send(self._calls.recall(query, fail_open, **options))

    # Messages

    def append_messages(self, messages: Utterances, **options: Unpack[TalkOptions]) -> AppendResult:
        """Store one message or many, a hundred at a time.

        If a later hundred fails the earlier ones are stored; messages with a
        `client_msg_id` may be sent again and are stored once.
        """
        calls = self._calls.append_messages(messages, **options)
        return AppendResult.joined([self._send(call) for call in calls])

    def recent_messages(self, **wanted: Unpack[MessageFilter]) -> list[Message]:
        """Return what was said, newest first."""
        return self._send(self._calls.recent_messages(**wanted))

    def purge_messages(
        self,
        *,
        before_ts: float | None = None,
        days: float | None = None,
        everything: bool = False,
        session_id: str | None = None,
        persona_id: str | None = None,
    ) -> Removed:
        """Erase messages: those before a time, older than some days, or everything."""
        return self._send(
            self._calls.purge_messages(before_ts, days, everything, session_id, persona_id)
        )

    def message_edit(self, content: str, **which: Unpack[WhichMessage]) -> Result:
        """Change a message; what was learned from it is derived anew."""
        return self._send(self._calls.message_edit(content, **which))

    def message_replace(self, content: str, **which: Unpack[WhichMessage]) -> Result:
        """Put another answer in a message's place (a swipe)."""
        return self._send(self._calls.message_replace(content, **which))

    def message_delete(self, **which: Unpack[WhichMessage]) -> Result:
        """Delete a message, and what only it supported."""
        return self._send(self._calls.message_delete(**which))

    # Memories

    def write(
        self, messages: Utterances, confirm: bool = False, **options: Unpack[TalkOptions]
    ) -> WriteResult:
        """Learn from what was said.

        `confirm` accepts the candidates of this call that conflict with nothing.
        """
        return self._send(self._calls.write(messages, confirm, **options))

    def write_item(
        self,
        type: str,  # noqa: A002 - the contract's word
        key: str,
        content: str,
        **fields: Unpack[WriteOptions],
    ) -> WriteResult:
        """Remember one thing; slot types wait as candidates for `confirm`."""
        return self._send(self._calls.write_item(type, key, content, **fields))

    def write_items(
        self, items: Sequence[NewMemory], *, persona_id: str | None = None
    ) -> WriteResult:
        """Remember many things, five hundred at a time; a bad one does not stop the rest."""
        calls = self._calls.write_items(items, persona_id)
        return WriteResult.joined([self._send(call) for call in calls])

    def confirm(
        self,
        memory_id: int,
        supersedes_id: int | None = None,
        *,
        coexist: bool = False,
        content: str | None = None,
        persona_id: str | None = None,
    ) -> Changed:
        """Make a candidate active; `NeedsSupersedes` names the row that is in its place."""
        call = self._calls.confirm(memory_id, supersedes_id, coexist, content, persona_id)
        return self._send(call)

    def reject(
        self, memory_id: int, *, never_again: bool = False, persona_id: str | None = None
    ) -> Changed:
        """Turn a candidate down."""
        return self._send(self._calls.reject(memory_id, never_again, persona_id))

    def confirm_many(
        self, memory_ids: Sequence[int], *, coexist: bool = False, persona_id: str | None = None
    ) -> ChangedMany:
        """Make candidates active; what stands against one does not stop the rest."""
        return self._send(self._calls.confirm_many(memory_ids, coexist, persona_id))

    def reject_many(
        self,
        memory_ids: Sequence[int],
        *,
        never_again: bool = False,
        persona_id: str | None = None,
    ) -> ChangedMany:
        """Turn candidates down."""
        return self._send(self._calls.reject_many(memory_ids, never_again, persona_id))

    def undo(self, audit_id: int, *, persona_id: str | None = None) -> Changed:
        """Undo what the hub has done by itself; `audit` shows the number."""
        return self._send(self._calls.undo(audit_id, persona_id))

    def revoke(self, memory_id: int, *, persona_id: str | None = None) -> Changed:
        """Take a memory back; its row stays in the history."""
        return self._send(self._calls.revoke(memory_id, persona_id))

    def forget_memory(
        self,
        type: str | None = None,  # noqa: A002 - the contract's word
        key: str | None = None,
        **options: Unpack[ForgetOptions],
    ) -> Forgotten:
        """Erase memories for good: by type and key, by id, or by a query (`dry_run` first)."""
        return self._send(self._calls.forget_memory(type, key, **options))

    def update_memory(
        self, memory_id: int, *, persona_id: str | None = None, **change: Unpack[MemoryChange]
    ) -> WriteResult:
        """Write a new version of a memory."""
        return self._send(self._calls.update_memory(memory_id, persona_id, **change))

    def list_memory(self, **wanted: Unpack[MemoryFilter]) -> MemoryPage:
        """Return one page of a persona's memories."""
        return self._send(self._calls.list_memory(**wanted))

    def iter_memory(self, **wanted: Unpack[MemoryFilter]) -> Iterator[MemoryItem]:
        """Yield a persona's memories, page after page."""
        page = self.list_memory(**wanted)
        yield from page.items
        while page.next_cursor:
            wanted["cursor"] = page.next_cursor
            page = self.list_memory(**wanted)
            yield from page.items

    def memory_get(self, memory_id: int, *, persona_id: str | None = None) -> MemoryItem:
        """Return one memory."""
        return self._send(self._calls.memory_get(memory_id, persona_id))

    def memory_history(self, memory_id: int, *, persona_id: str | None = None) -> list[MemoryItem]:
        """Return the versions of a memory."""
        return self._send(self._calls.memory_history(memory_id, persona_id))

    def rebuild(self, persona_id: str | None = None) -> Rebuilt:
        """Make text index and vectors anew."""
        return self._send(self._calls.rebuild(persona_id))

    # Goals, events, jobs

    def goal_create(
        self, title: str, details: str | None = None, *, persona_id: str | None = None
    ) -> GoalCreated:
        """Note what the user wants to reach."""
        return self._send(self._calls.goal_create(title, details, persona_id))

    def goals(self, status: str | None = None, *, persona_id: str | None = None) -> list[Goal]:
        """Return the user's goals."""
        return self._send(self._calls.goals(status, persona_id))

    def goal_update_status(
        self, goal_id: int, status: str, *, persona_id: str | None = None
    ) -> Changed:
        """Set a goal's status: active, paused, done or dropped."""
        return self._send(self._calls.goal_update_status(goal_id, status, persona_id))

    def goal_link(
        self,
        goal_id: int,
        memory_id: int | None = None,
        note: str | None = None,
        *,
        persona_id: str | None = None,
    ) -> GoalLinked:
        """Tie a memory or a note to a goal."""
        return self._send(self._calls.goal_link(goal_id, memory_id, note, persona_id))

    def upcoming_events(self, days: int = 30, *, persona_id: str | None = None) -> list[MemoryItem]:
        """Return remembered events that come in the next days."""
        return self._send(self._calls.upcoming_events(days, persona_id))

    def jobs(self, status: str | None = None) -> list[Job]:
        """Return the hub's work on the user's conversations."""
        return self._send(self._calls.jobs(status))

    def jobs_run(
        self,
        session_id: str | None = None,
        *,
        wait: bool = False,
        persona_id: str | None = None,
    ) -> Job:
        """Digest now; with `wait`, answer when it is done."""
        return self._send(self._calls.jobs_run(session_id, wait, persona_id))

    def jobs_replay(self, job_id: int | str | None = None, *, status: str | None = None) -> Result:
        """Try a job again, or all of a status (`dead`)."""
        return self._send(self._calls.jobs_replay(job_id, status))

    def audit(
        self, *, since: float | None = None, memory_id: int | None = None
    ) -> list[AuditEntry]:
        """Return who changed what, when and by which key."""
        return self._send(self._calls.audit(since, memory_id))

    def events(
        self, persona_id: str | None = None, resume_from: int | None = None
    ) -> Generator[HubEvent, None, None]:
        """Yield what changes, as it changes; a lost connection is taken up again once."""
        feed = EventFeed(self._connection, persona_id, resume_from)
        while feed.is_open:
            try:
                with connect(**feed.socket()) as socket:
                    while True:
                        event = feed.read(socket.recv())
                        if event is not None:
                            yield event
            except LOST as error:
                feed.lost(error)

    # Export and import

    def export(self, format: ExportFormat = "jsonl") -> bytes:  # noqa: A002 - the contract's word
        """Return everything of the user's as one file."""
        return self._send(self._calls.export(format))

    def export_iter(self, format: ExportFormat = "jsonl") -> Generator[bytes, None, None]:  # noqa: A002
        """Yield the same file in pieces."""
        request = self._http.build_request(**self._connection.request(self._calls.export(format)))
        try:
            response = self._http.send(request, stream=True)
            try:
                if response.is_error:
                    check(Reply(response.status_code, response.headers, response.read()))
                yield from response.iter_bytes()
            finally:
                response.close()
        except FAILURES as error:
            raise self._connection.failed(error) from error

    def export_to(
        self,
        path: str | PathLike[str],
        format: ExportFormat = "jsonl",  # noqa: A002
    ) -> Path:
        """Save the same file; at `path` there is either all of it or nothing new."""
        with partial_file(path) as file:
            for piece in self.export_iter(format):
                file.write(piece)
        return Path(path)

    def import_(self, source: Lines, *, dry_run: bool = False, trust: bool = False) -> Imported:
        """Take in JSON lines: a text, an iterable of lines, or a file named by a `Path`.

        `trust` vouches for a file that the hub did not write for this user itself.
        """
        return self._send(self._calls.import_lines(source, dry_run, trust))

    def _send(self, call: Call[T]) -> T:
        try:
            return call.read(self._exchange(call))
        except PlasticMemoriesClientError as error:
            return call.recover(error)

    def _exchange(self, call: Call[Any], *, again: bool = True) -> Reply:
        try:
            response = self._http.request(**self._connection.request(call))
        except FAILURES as error:
            if again and may_repeat(call, error):
                return self._exchange(call, again=False)
            raise self._connection.failed(error) from error
        return Reply(response.status_code, response.headers, response.content)
