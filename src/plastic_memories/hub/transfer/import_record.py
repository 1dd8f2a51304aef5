"""The record of an import in the audit log, from which it can be undone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from plastic_memories.errors import NotFound
from plastic_memories.hub.transactions.audit_events import record_event
from plastic_memories.model.key import Caller
from plastic_memories.model.owner import Owner
from plastic_memories.ports.storage import Stores

IMPORT_STARTED = "import.start"
ROWS_ADDED = "import.rows"


def start_import(stores: Stores, caller: Caller, now: float) -> int:
    """Record that an import starts; return its id."""
    app = caller.key.limits.source_app
    record_event(stores, caller, IMPORT_STARTED, "", now, **({"source_app": app} if app else {}))
    return stores.audit.recorded_events[-1].id


def check_import(stores: Stores, caller: Caller, import_id: int) -> int:
    """Return the id of an import of this user; raise `NotFound` if there is none.

    A key that is bound to an app finds only imports by keys of that app.
    """
    found = stores.audit.find(caller.user, after_id=import_id - 1, limit=1)
    app = caller.key.limits.source_app
    is_known = found and (found[0].id, found[0].event) == (import_id, IMPORT_STARTED)
    if not is_known or app not in ("", found[0].data.get("source_app", "")):
        raise NotFound(f"There is no import {import_id}.")
    return import_id


def record_rows(
    stores: Stores,
    caller: Caller,
    import_id: int,
    added: Iterable[tuple[str, Owner, int]],
    now: float,
) -> None:
    """Record what one transaction of an import has added: the kind, the owner and the id."""
    by_persona: defaultdict[str, defaultdict[str, list[int]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for kind, owner, row_id in added:
        by_persona[owner.persona_id][kind].append(row_id)
    for persona_id, rows in by_persona.items():
        record_event(stores, caller, ROWS_ADDED, persona_id, now, import_id=import_id, added=rows)
