"""The hub as a companion, over HTTP: every person is a user of their own."""

from __future__ import annotations

import json
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from bench.companion.companion import PromptText, StoredRow
from bench.companion.people import Utterance
from bench.companion.situations import GROUP
from bench.server import HEADERS, Server, running

_PERSONA = "companion"
_BATCH = 100
_PAGE = 200
_PATIENCE_S = 600
# Types whose rows only quote or retell; all others claim something about the person.
_NOT_CLAIMS = frozenset({"note", "summary"})
_TOLD_STATUSES = ("active", "candidate")
_QUOTE_HEADINGS = ("说过的话", "said before")
_HEADING = "## "


@dataclass(frozen=True)
class HubCompanion:
    """A running hub."""

    server: Server

    def listen(self, person: str, talk: Sequence[Utterance]) -> None:
        for session, utterances in groupby(talk, key=lambda one: one.session):
            rows = [_message(one, session) for one in utterances]
            for first in range(0, len(rows), _BATCH):
                batch = rows[first : first + _BATCH]
                self._post(person, "/messages/append", {"messages": batch})
            if session:
                ended = {"session_id": session} | _optional(message_type=talk[0].message_type)
                self._post(person, "/sessions/end", ended)

    def finish(self, person: str) -> None:
        self._post(person, "/jobs/run", {"wait": True})
        self.server.wait_until_ready()

    def rows(self, person: str) -> list[StoredRow]:
        texts = {row["id"]: row["content"] for row in self._messages(person)}
        return [
            StoredRow(
                text=_row_text(row),
                is_active=row["status"] == "active",
                is_claim=row["type"] not in _NOT_CLAIMS,
                source_texts=tuple(texts.get(one, "") for one in row["source_message_ids"]),
            )
            for status in _TOLD_STATUSES
            for row in self._listed(person, status)
            if row["type"] != "summary"
        ]

    def prompt(self, person: str, question: str, now: float) -> PromptText:
        data = self._post(person, "/memory/recall", {"query": question, "now": now})
        lines = [data["stable_block"]["text"], data["turn_block"]["text"]]
        told = tuple(line for text in lines for line in text.splitlines() if line.strip())
        tokens = data["tokens"]
        total = tokens if isinstance(tokens, int) else sum(tokens.values())
        return PromptText(told, tuple(_quoted(told)), total)

    def forget(self, person: str, text: str) -> None:
        found = self._post(person, "/memory/forget", {"query": text, "dry_run": True})
        if found["memory_ids"]:
            chosen = {"memory_ids": found["memory_ids"], "never_again": True}
            self._post(person, "/memory/forget", chosen)

    def abandon(self, person: str, talk: Sequence[Utterance], kept: Sequence[Utterance]) -> None:
        session = talk[0].session
        recent = self._get(person, "/messages/recent", {"limit": 1, "session_id": session})
        fork = {"session_id": session, "from_message_id": recent["messages"][0]["id"]}
        self.listen(person, talk)
        branch = self._post(person, "/messages/branch", fork)["branch_id"]
        rows = [_message(one, session) | {"branch_id": branch} for one in kept]
        self._post(person, "/messages/append", {"messages": rows})
        self._post(person, "/sessions/end", {"session_id": session, "branch_id": branch})

    def group_prompt(self, person: str, session: str, question: str, now: float) -> list[str]:
        asked = {"query": question, "now": now, "session_id": session, "message_type": GROUP}
        data = self._post(person, "/memory/recall", asked)
        lines = [data["stable_block"]["text"], data["turn_block"]["text"]]
        return [line for text in lines for line in text.splitlines() if line.strip()]

    def _listed(self, person: str, status: str) -> Iterator[dict[str, Any]]:
        cursor = ""
        while True:
            query = {"status": status, "limit": _PAGE} | ({"cursor": cursor} if cursor else {})
            page = self._get(person, "/memory/list", query)
            yield from page["items"]
            cursor = page.get("next_cursor") or ""
            if not cursor:
                return

    def _messages(self, person: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._get(person, "/messages/recent", {"limit": _PAGE})[
            "messages"
        ]
        return found

    def _post(self, person: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        content = json.dumps({"persona_id": _PERSONA, **body}).encode()
        return self._call(person, path, content)

    def _get(self, person: str, path: str, query: dict[str, Any]) -> dict[str, Any]:
        given = urllib.parse.urlencode({"persona_id": _PERSONA, **query})
        return self._call(person, f"{path}?{given}", None)

    def _call(self, person: str, path: str, content: bytes | None) -> dict[str, Any]:
        user = urllib.parse.quote(person)
        headers = {**HEADERS, "X-User-Id": user, "Content-Type": "application/json"}
        url = f"http://127.0.0.1:{self.server.port}{path}"
        request = urllib.request.Request(url, data=content, headers=headers)
        with urllib.request.urlopen(request, timeout=_PATIENCE_S) as answer:
            data: dict[str, Any] = json.load(answer)["data"]
        return data


@contextmanager
def running_companion(**settings: str) -> Iterator[HubCompanion]:
    """Run a hub on an empty folder."""
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), **settings) as server:
        server.wait_until_ready()
        yield HubCompanion(server)


def _message(one: Utterance, session: str) -> dict[str, Any]:
    row = {"role": one.role, "content": one.text, "session_id": session, "ts": one.at}
    return row | _optional(speaker=one.speaker, message_type=one.message_type)


def _optional(**fields: str) -> dict[str, str]:
    return {name: value for name, value in fields.items() if value}


def _row_text(row: dict[str, Any]) -> str:
    """Return what a row tells: its content, and the date of an event."""
    date = (row.get("attributes") or {}).get("date") or ""
    return f"{row['content']} {date}".strip()


def _quoted(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines under a heading of quoted talk."""
    is_quote = False
    for line in lines:
        if line.startswith(_HEADING):
            is_quote = any(one in line.lower() for one in _QUOTE_HEADINGS)
        elif is_quote:
            yield line
