"""Execute `/mem` commands on the sender's own memories and nobody else's."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from .commands import HELP, REPLACE, TEXTS, YES, Command
from .hub_link import HubLink, Json
from .hub_problem import HubProblem
from .identity import Identity
from .options import Options

logger = logging.getLogger("astrbot")
_SHOWN = 10
_LONGEST = 80
_SURE_FOR_S = 60.0


class Answers:
    def __init__(
        self,
        options: Options,
        hub: HubLink,
        waiting: Callable[[], int] = lambda: 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._options = options
        self._hub = hub
        self._waiting = waiting
        self._clock = clock
        self._texts = TEXTS[options.language]
        self._resets: dict[Identity, float] = {}
        self._do: dict[str, Callable[[Identity, Command], Awaitable[str]]] = {
            "list": self._list,
            "search": self._search,
            "forget": self._forget,
            "confirm": self._confirm,
            "reset": self._reset,
        }

    async def to(self, who: Identity, command: Command, *, is_operator: bool = False) -> str:
        """Return the answer to a command; a hub that is unreachable gets an answer, too.

        What is wrong with the settings is for the operator alone, and never for a group.
        """
        told = is_operator and not who.is_group
        if command.name == "status":
            return await self._status(who, told=told)
        do = self._do.get(command.name)
        if do is None:
            return HELP
        if command.name in ("list", "search", "confirm") and not self._options.may_show(who):
            return self._say("private")
        try:
            return await do(who, command)
        except HubProblem as problem:
            return self._problem(problem, told=told)

    async def _status(self, who: Identity, *, told: bool) -> str:
        old = ""
        try:
            hub = self._say("ok", version=await self._hub.version())
            old = await self._rows_without_bot(who)
        except HubProblem as problem:
            hub = self._problem(problem, told=told)
        isolated = self._options.filters.use_bot_isolation
        note = self._say("adapter") if isolated and who.bot_id_is_the_adapters else ""
        return (
            self._say(
                "status",
                hub=hub,
                key=who.key(use_bot_isolation=isolated) + note,
                user=who.user_id,
                persona=self._options.persona_of(who),
                filters=self._options.filters,
                waiting=self._waiting(),
            )
            + old
        )

    async def _rows_without_bot(self, who: Identity) -> str:
        """Say that there are rows which no bot sees, and how a bot gets them."""
        if who.is_group or not self._options.filters.use_bot_isolation or not who.sender_id:
            return ""
        count = await self._hub.rows_without_bot(who)
        return (
            "\n" + self._say("old", count=count, user=who.user_id, bot=who.bot_id) if count else ""
        )

    async def _list(self, who: Identity, command: Command) -> str:
        await self._hub.catch_up(who)
        rows = await self._hub.memories(who)
        if not rows:
            return self._say("nothing")
        pages = -(-len(rows) // _SHOWN)
        page = min(max(command.ids[0] if command.ids else 1, 1), pages)
        shown = rows[(page - 1) * _SHOWN : page * _SHOWN]
        return _lines(self._say("page", page=page, pages=pages), shown)

    async def _search(self, who: Identity, command: Command) -> str:
        if not command.text:
            return self._say("what")
        found = (await self._hub.recall(who, command.text))["PERSONA_MEMORY"][:_SHOWN]
        return _lines(self._say("found"), found) if found else self._say("not_found")

    async def _forget(self, who: Identity, command: Command) -> str:
        if not command.ids:
            return self._say("which", name="forget")
        gone = await self._hub.forget(who, command.ids)
        return self._say("gone", count=gone) if gone else self._say("not_yours")

    async def _confirm(self, who: Identity, command: Command) -> str:
        if not command.ids:
            await self._hub.catch_up(who)
            waiting = await self._hub.memories(who, status="candidate")
            if not waiting:
                return self._say("no_candidates")
            return _lines(self._say("candidates"), waiting[:_SHOWN])
        number = command.ids[0]
        try:
            done = await self._hub.confirm(who, number)
        except HubProblem as problem:
            return await self._settle(
                who, number, problem, replace=bool(REPLACE & {*command.words})
            )
        return self._say("confirmed" if done["updated"] else "unchanged", id=number)

    async def _settle(
        self, who: Identity, number: int, problem: HubProblem, *, replace: bool
    ) -> str:
        """Return the answer for a candidate that is expired or conflicts."""
        if problem.code == "expired":
            return self._say("expired", id=number)
        if problem.code != "conflict_requires_supersedes":
            raise problem
        active = problem.detail["active_memory_id"]
        if not replace:
            return self._say("conflict", id=number, active=active)
        await self._hub.confirm(who, number, supersedes_id=active)
        return self._say("confirmed", id=number)

    async def _reset(self, who: Identity, command: Command) -> str:
        now = self._clock()
        self._resets = {one: until for one, until in self._resets.items() if until > now}
        if not YES & {*command.words}:
            self._resets[who] = now + _SURE_FOR_S
            local = self._options.filters.use_session_filtering
            return self._say("sure", where=self._say("here" if local else "everywhere"))
        if self._resets.pop(who, None) is None:
            return self._say("late")
        memories, messages = await self._hub.reset(who)
        return self._say("reset", memories=memories, messages=messages)

    def _problem(self, problem: HubProblem, *, told: bool) -> str:
        if problem.code == "not_found":
            return self._say("not_yours")
        why = problem.explanation(self._options.language, self._options.hub_url)
        logger.warning("[plastic_memories] %s", why)
        return f"{self._say('down')}\n{why}" if told else self._say("down")

    def _say(self, name: str, /, **fields: Any) -> str:
        return self._texts[name].format(**fields)


def _lines(heading: str, rows: Sequence[Json]) -> str:
    return "\n".join([heading, *(_line(row) for row in rows)])


def _line(row: Json) -> str:
    text = " ".join(str(row["content"]).split())
    return f"#{row['id']} {text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}"
