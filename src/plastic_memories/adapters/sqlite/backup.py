"""Copies a database that is in use, and puts a copy back without what was forgotten since."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import apsw

from plastic_memories.adapters.sql.record_columns import to_json
from plastic_memories.adapters.sql.rows import message_of, owner_of
from plastic_memories.adapters.sql.sql_session import Row
from plastic_memories.adapters.sqlite.connection import connect, execute, fetch, fetch_one
from plastic_memories.adapters.sqlite.consistency import integrity_problems
from plastic_memories.adapters.sqlite.doctor import (
    FILE_ERRORS,
    is_indexed,
    rebuild_text_index,
)
from plastic_memories.adapters.sqlite.legacy.detection import check_not_legacy
from plastic_memories.adapters.sqlite.migrate import (
    has_text_index,
    migrate_schema,
    stored_schema_version,
)
from plastic_memories.adapters.sqlite.queries import QUERIES
from plastic_memories.adapters.sqlite.sqlite_session import SqliteStores
from plastic_memories.errors import Conflict, InvalidInput, NotFound, Unavailable
from plastic_memories.formats.card_memories import is_from_card
from plastic_memories.model.memory import Memory, MemoryType
from plastic_memories.model.message import hide_spans
from plastic_memories.model.owner import Owner
from plastic_memories.ports.storage import Residue
from plastic_memories.ports.stores.memory_store import MemoryFilter
from plastic_memories.ports.stores.message_store import MessageFilter
from plastic_memories.rules.lifecycle.slot_values import build_slot
from plastic_memories.rules.lifecycle.transitions import end_memory

Progress = Callable[[str, int, int], None]

# In the name of a database that a restore has replaced.
KEPT_MARK = ".before-restore-"
_PAGE_BATCH = 256
_FILE_SUFFIXES = ("", "-wal", "-shm")
_RAISE_SEQUENCE = "UPDATE sqlite_sequence SET seq = max(seq, :seq) WHERE name = :name"
_START_SEQUENCE = (
    "INSERT INTO sqlite_sequence (name, seq) SELECT :name, :seq "
    "WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = :name)"
)
_REVOKE = (
    "UPDATE api_keys SET revoked_at = :revoked_at "
    "WHERE digest = :digest AND revoked_at IS NULL AND :revoked_at IS NOT NULL"
)
_KEEP_KEY = (
    "INSERT INTO api_keys (id, digest, tenant_id, user_id, label, limits, created_at, revoked_at) "
    "VALUES (:id, :digest, :tenant_id, :user_id, :label, :limits, :created_at, :revoked_at) "
    "ON CONFLICT DO NOTHING"
)

_KEEP_PENDING = (
    "INSERT INTO pending_forgets (id, tenant_id, user_id, persona_id, message_id, status, "
    "requested_at, final_at, changes) VALUES (:id, :tenant_id, :user_id, :persona_id, "
    ":message_id, :status, :requested_at, :final_at, :changes) ON CONFLICT DO NOTHING"
)


@dataclass(frozen=True, slots=True)
class BackupReport:
    """A finished copy, checked."""

    path: Path
    size_bytes: int
    counts: Mapping[str, int]


@dataclass(slots=True)
class ErasureReplayReport:
    """What the restored database was made to forget, hide, refuse or keep again."""

    memories: int = 0
    messages: int = 0
    hidden: int = 0
    personas: int = 0
    users: int = 0
    tombstones: int = 0
    revoked_keys: int = 0
    kept_keys: int = 0

    def add(self, other: ErasureReplayReport) -> None:
        for name, number in asdict(other).items():
            setattr(self, name, getattr(self, name) + number)


@dataclass(frozen=True, slots=True)
class RestoreReport:
    counts: Mapping[str, int]
    replaced: Path | None  # where the database that stood here before is kept
    migrations: list[str]
    replayed: ErasureReplayReport | None  # None: nothing could be replayed, and `note` says why
    note: str = ""
    problems: list[str] = field(default_factory=list)


def back_up(
    source: Path, dest: Path, *, overwrite: bool = False, progress: Progress | None = None
) -> BackupReport:
    """Copy a database, in use or not, into one file that needs no other beside it."""
    if not source.is_file():
        raise NotFound(f"There is no database at {source}.")
    check_not_legacy(source)
    if dest.exists() and (source.samefile(dest) or not overwrite):
        raise Conflict(f"{dest} exists and is left as it is.")
    part = dest.with_name(dest.name + ".part")
    with _errors_naming(source), _temporary_file(part):
        counts = _copy_file(source, part, progress)
        _sync(part)
        part.replace(dest)
    _sync(dest.absolute().parent)
    return BackupReport(dest, dest.stat().st_size, counts)


def restore(
    source: Path, target: Path, *, keep: Path, now: float, progress: Progress | None = None
) -> RestoreReport:
    """Put a copy in the place of a database, in use or not; what stood there goes to `keep`.

    A copy of the same installation forgets again what was forgotten since it was made, and
    gives out no id a second time.
    """
    if not source.is_file():
        raise NotFound(f"There is no file {source}.")
    if target.exists() and source.samefile(target):
        raise Conflict(f"{source} is the database itself.")
    check_not_legacy(source)
    check_not_legacy(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    staging = target.with_name(target.name + ".restoring")
    with _errors_naming(source), _temporary_file(staging):
        _copy_file(source, staging, progress, counted=False)
        with closing(connect(str(staging), 0)) as staged:
            migrations = _migrate_copy(staged, source)
            replaced, note = _keep_current(target, keep, progress)
            replayed, note = _put_in_place(staged, target, now, note, progress)
    with _errors_naming(target), closing(connect(str(target), 5000)) as db:
        # Pages of the replaced database leave the log file too; a busy reader may hold this up.
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        upkeep = SqliteStores(db, indexed=has_text_index(db)).upkeep
        problems = upkeep.check() if has_text_index(db) else integrity_problems(db)
        return RestoreReport(upkeep.counts(), replaced, migrations, replayed, note, problems)


def restore_copies(database: Path) -> list[Path]:
    """Return the databases that a restore has replaced and kept beside this one."""
    return sorted(database.parent.glob(f"{database.name}{KEPT_MARK}*.db"))


def forget_in_copies(database: Path, now: float) -> Residue:
    """Carry out every forget of this database in the copies that a restore has kept.

    They are somebody's memories like any other; only those of another installation are left.
    """
    pending, kept = [], []
    for copy in restore_copies(database):
        try:
            left = _forget_in_copy(database, copy, now)
        except FILE_ERRORS:
            pending.append(f"copy kept by a restore: {copy.name}")
            continue
        what = "what was forgotten here is still in it" if left else "forgotten there as well"
        kept.append(f"copy kept by a restore: {copy.name} ({what})")
    return Residue(tuple(pending), tuple(kept))


def _forget_in_copy(database: Path, copy: Path, now: float) -> bool:
    """Return whether a copy is left as it is, because it is of another installation."""
    with closing(connect(str(database), 5000)) as live, closing(connect(str(copy), 5000)) as db:
        if not stored_schema_version(db) or _replay_obstacle(db, live):
            return True
        _migrate_copy(db, copy)
        _replay_erasures(db, live, now)
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("VACUUM")
    return False


@contextmanager
def _errors_naming(path: Path) -> Iterator[None]:
    """Name the file in what the driver complains of."""
    try:
        yield
    except apsw.NotADBError as error:
        raise InvalidInput(f"{path} is not a database.") from error
    except FILE_ERRORS as error:
        raise Unavailable(f"{path} cannot be copied: {error}.") from error


@contextmanager
def _temporary_file(path: Path) -> Iterator[None]:
    _remove(path)
    try:
        yield
    finally:
        _remove(path)


def _remove(path: Path) -> None:
    for suffix in _FILE_SUFFIXES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _copy_file(
    source: Path, dest: Path, progress: Progress | None, *, counted: bool = True
) -> Mapping[str, int]:
    """Copy into a new private file, and check what has arrived."""
    # Made with its mode: these are somebody's memories.
    os.close(os.open(dest, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
    with (
        closing(apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READONLY)) as from_db,
        closing(apsw.Connection(str(dest))) as to_db,
    ):
        from_db.set_busy_timeout(5000)
        # While this snapshot is held, no writer can make the copying start over.
        from_db.execute("BEGIN")
        fetch_one(from_db, "SELECT count(*) AS n FROM sqlite_schema")
        with to_db.backup("main", from_db, "main") as copying:
            _finish_copy(copying, "copying", progress)
        # A copy in one file: no log beside it that could be left behind.
        to_db.execute("PRAGMA journal_mode = DELETE")
        if problems := integrity_problems(to_db):
            raise Unavailable(f"The copy of {source} is damaged: {problems[0]}")
        if not counted or not stored_schema_version(to_db):
            return {}
        return SqliteStores(to_db, indexed=has_text_index(to_db)).upkeep.counts()


def _finish_copy(copying: apsw.Backup, what: str, progress: Progress | None) -> None:
    while not copying.done:
        copying.step(_PAGE_BATCH)
        if progress is not None:
            progress(what, copying.page_count - copying.remaining, copying.page_count)


def _sync(path: Path) -> None:
    if os.name == "nt" and path.is_dir():  # Windows cannot open a folder
        return
    descriptor = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _migrate_copy(staged: apsw.Connection, source: Path) -> list[str]:
    if not stored_schema_version(staged):
        raise InvalidInput(f"{source} is not a backup of Plastic Memories.")
    migrations = migrate_schema(staged)
    if has_text_index(staged) and not is_indexed(staged):
        rebuild_text_index(staged, lambda _done, _total: None)
    return migrations


def _keep_current(target: Path, keep: Path, progress: Progress | None) -> tuple[Path | None, str]:
    """Copy the database that stands here; one that cannot be read is moved aside."""
    if not target.is_file():
        return None, "There was no database here."
    try:
        return back_up(target, keep, progress=progress).path, ""
    except (InvalidInput, Unavailable):
        for suffix in _FILE_SUFFIXES:
            part = target.with_name(target.name + suffix)
            if part.exists():
                part.replace(keep.with_name(keep.name + suffix))
        return keep, "The replaced database could not be read: forgets made since are unknown."


def _put_in_place(
    staged: apsw.Connection, target: Path, now: float, note: str, progress: Progress | None
) -> tuple[ErasureReplayReport | None, str]:
    """Copy the staged database over the live one, which may be read and written meanwhile."""
    with closing(connect(str(target), 5000)) as dest, closing(connect(str(target), 5000)) as live:
        note = note or _replay_obstacle(staged, live)
        replayed = None if note else _replay_erasures(staged, live, now)
        with dest.backup("main", staged, "main") as copying:
            # The first page takes the write lock: from here on nobody can forget anything
            # that the second replay would not see.
            copying.step(1)
            if replayed is not None:
                replayed.add(_replay_erasures(staged, live, now))
            _finish_copy(copying, "restoring", progress)
    return replayed, note


def _replay_obstacle(staged: apsw.Connection, live: apsw.Connection) -> str:
    if not stored_schema_version(live):
        return "The replaced database was empty."
    if _installation_id(staged) != _installation_id(live):
        return (
            "The backup is of another installation: its keys and its memories hold, and what "
            "was forgotten here has no meaning there."
        )
    return ""


def _installation_id(db: apsw.Connection) -> str:
    row = fetch_one(db, "SELECT value FROM meta WHERE key = 'installation_id'")
    return row["value"] if row else ""


def _replay_erasures(
    staged: apsw.Connection, live: apsw.Connection, now: float
) -> ErasureReplayReport:
    """Do to the copy what was done to the live database since; doing it twice changes nothing."""
    staged.execute("BEGIN IMMEDIATE")
    try:
        done = _ErasureReplay(staged, live, now).run()
        staged.execute("COMMIT")
    finally:
        if staged.in_transaction:
            staged.execute("ROLLBACK")
    return done


class _ErasureReplay:
    def __init__(self, staged: apsw.Connection, live: apsw.Connection, now: float) -> None:
        self._staged = staged
        self._live = live
        self._now = now
        self._stores = SqliteStores(staged, indexed=has_text_index(staged))
        self._done = ErasureReplayReport()

    def run(self) -> ErasureReplayReport:
        new = self._new_erasures()
        for row in new:
            if row["kind"] == "user":
                self._erase_user(row)
        for row in new:
            if row["kind"] == "persona":
                self._erase_persona(row)
        for owner, ids in _by_owner(new, "memory").items():
            self._erase_memories(owner, ids)
        for owner, ids in _by_owner(new, "message").items():
            gone = self._stores.messages.erase(owner, MessageFilter(ids=ids), self._now)
            self._done.messages += len(gone)
        self._replay_hidden()
        self._replay_pending()
        self._replay_tombstones()
        self._replay_mutes()
        self._replay_keys()
        self._raise_sequences()
        return self._done

    def _new_erasures(self) -> list[Row]:
        """Take over the erasures the copy does not know of; return them."""
        return [
            row
            for row in fetch(self._live, "SELECT * FROM erasures")
            if execute(self._staged, QUERIES["note_erasure"].text, {**row, "now": row["erased_at"]})
        ]

    def _erase_memories(self, owner: Owner, ids: set[int]) -> None:
        found = self._stores.memories.find(owner, MemoryFilter(ids=ids))
        self._hide_pruned_sources(owner, found)
        gone = {memory.id: memory for memory in found}
        if not gone:
            return
        self._stores.memories.erase(owner, gone, self._now)
        for memory in gone.values():
            self._refresh_slot(memory)
        if any(is_from_card(memory) for memory in gone.values()):
            self._stores.cards.drop(owner)
        self._done.memories += len(gone)

    def _hide_pruned_sources(self, owner: Owner, forgotten: Sequence[Memory]) -> None:
        """Hide sources that the live database has no more: it cannot say which sentences to hide.

        Summaries that told it were erased with it; sources that are left are hidden later, as
        they are in the live database.
        """
        stated = (memory for memory in forgotten if memory.type is not MemoryType.SUMMARY)
        sources = {message for memory in stated for message in memory.source_message_ids}
        ids = {"ids": to_json(sorted(sources))}
        sql = "SELECT id FROM messages WHERE id IN (SELECT value FROM json_each(:ids))"
        live = {row["id"] for row in fetch(self._live, sql, ids)}
        self._done.hidden += self._stores.messages.hide(owner, sources - live, self._now)

    def _refresh_slot(self, memory: Memory) -> None:
        if not memory.is_slot:
            return
        wanted = MemoryFilter(types={memory.type}, bot_id=memory.bot_id, realm=memory.realm)
        rows = self._stores.memories.find(memory.owner, wanted)
        slot = build_slot([row for row in rows if row.status == "active"], self._now)
        if slot is not None:
            self._stores.slots.put(slot)
        else:
            self._stores.slots.clear(memory.owner, memory.bot_id, memory.realm, memory.type.value)

    def _erase_persona(self, row: Row) -> None:
        known = fetch_one(self._staged, QUERIES["get_persona"].text, row)
        if known is not None and known["id"] == row["row_id"]:
            self._stores.personas.erase(owner_of(row), self._now)
            self._done.personas += 1

    def _erase_user(self, row: Row) -> None:
        """Erase a user that was erased since; one who came back has another number."""
        known = fetch_one(self._staged, QUERIES["get_user"].text, row)
        if known is not None and known["id"] == row["row_id"]:
            self._stores.personas.erase_user(owner_of(row).user, self._now)
            self._done.users += 1

    def _replay_hidden(self) -> None:
        """Hide what is hidden in the live database; of another text, all of it."""
        sql = "SELECT * FROM messages WHERE hidden_at IS NOT NULL OR hidden_spans <> '[]'"
        messages = self._stores.messages
        for live in map(message_of, fetch(self._live, sql)):
            for known in messages.find(live.owner, MessageFilter(ids=[live.id])):
                is_same = known.content == live.content and live.hidden_spans
                spans = live.hidden_spans if is_same else [(0, len(known.content))]
                hidden = hide_spans(known, spans, self._now)
                self._done.hidden += messages.set_visibility([hidden])

    def _replay_pending(self) -> None:
        """Take over what was asked for in the chat since, and revoke what it has revoked."""
        for row in fetch(self._live, "SELECT * FROM pending_forgets"):
            if not execute(self._staged, _KEEP_PENDING, row) or row["status"] != "pending":
                continue
            pending = self._stores.pending_forgets.get(owner_of(row), row["id"])
            for memory_id in pending.revoked if pending else ():
                memory = self._stores.memories.get(owner_of(row), memory_id)
                if memory is not None:
                    self._stores.memories.save(end_memory(memory, self._now))
                    self._refresh_slot(memory)

    def _replay_tombstones(self) -> None:
        for row in fetch(self._live, "SELECT * FROM tombstones"):
            params = {**row, "now": row["created_at"]}
            self._done.tombstones += execute(self._staged, QUERIES["add_tombstone"].text, params)

    def _replay_mutes(self) -> None:
        for row in fetch(self._live, "SELECT * FROM page_mutes"):
            self._staged.execute(QUERIES["mute_page_line"].text, {**row, "now": row["created_at"]})

    def _replay_keys(self) -> None:
        """Keys are not memories: one made since still opens, one revoked since does not."""
        for row in fetch(self._live, QUERIES["all_keys"].text):
            self._done.revoked_keys += execute(self._staged, _REVOKE, row)
            self._done.kept_keys += execute(self._staged, _KEEP_KEY, row)

    def _raise_sequences(self) -> None:
        for row in fetch(self._live, "SELECT name, seq FROM sqlite_sequence"):
            self._staged.execute(_RAISE_SEQUENCE, row)
            self._staged.execute(_START_SEQUENCE, row)


def _by_owner(rows: Iterable[Row], kind: str) -> dict[Owner, set[int]]:
    found: defaultdict[Owner, set[int]] = defaultdict(set)
    for row in rows:
        if row["kind"] == kind:
            found[owner_of(row)].add(row["row_id"])
    return found
