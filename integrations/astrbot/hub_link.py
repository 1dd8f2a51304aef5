"""HTTP client for the hub; each call acts for one sender."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx

from .hub_problem import HubProblem
from .identity import Identity
from .options import Options

Json = dict[str, Any]
_SOURCE_APP = "astrbot"
_TIMEOUT_S = 10.0
# The hub's deadline ends a little before ours, so that it can return what it has.
_HUBS_SHARE = 0.8
_PAGE = 200
_SPACE = frozenset(" \t\u3000")
_CATCH_UP_S = 3.0


def _session(who: Identity) -> Json:
    """Return the fields that name a conversation: group 7 is not the private chat with user 7."""
    return {
        "platform": who.platform,
        "message_type": who.message_type,
        "session_id": who.session_id,
    }


class HubLink:
    """Requests of this plugin; an app key lets it act for every sender."""

    def __init__(self, options: Options, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._options = options
        self._has_address = _is_address(options.hub_url)
        self._http = httpx.AsyncClient(
            base_url=options.hub_url if self._has_address else "",
            headers={"X-API-Key": options.api_key},
            timeout=_TIMEOUT_S,
            transport=transport,
            trust_env=False,  # a proxy for the internet cannot reach this machine
        )
        self._is_app_key = False

    async def close(self) -> None:
        await self._http.aclose()

    async def version(self) -> str:
        """Return the version of the hub; raise `HubProblem` if it cannot be used."""
        await self._check_key()
        answer = await self._send("GET", "/health", {})
        return str(answer.get("version") or answer.get("status") or "ok")

    async def recall(
        self,
        who: Identity,
        query: str,
        recent: Sequence[Mapping[str, str]] = (),
        known_message_ids: Sequence[int] = (),
    ) -> Json:
        """Return memories relevant to a message, as blocks for a prompt and as rows."""
        options = self._options
        body = {
            **self._place(who),
            "query": query[:4000],
            "limit": options.max_memories,
            "budget_tokens": options.budget_tokens,
            "deadline_ms": max(1, int(options.deadline_s * 1000 * _HUBS_SHARE)),
            **_session(who),
            "only_session": options.filters.use_session_filtering,
            "source_app": _SOURCE_APP,
            "recent_messages": list(recent),
            "exclude_message_ids": list(known_message_ids),
        }
        return await self._for(who, "POST", "/memory/recall", body)

    async def append(self, who: Identity, messages: Sequence[Mapping[str, Any]]) -> list[int]:
        """Store messages; return their ids. A `client_msg_id` is stored only once."""
        body = {
            "persona_id": self._options.persona_of(who),
            "bot_id": who.bot_id,
            **_session(who),
            "source_app": _SOURCE_APP,
            "messages": list(messages),
        }
        answer = await self._for(who, "POST", "/messages/append", body)
        return list(answer["message_ids"])

    async def catch_up(self, who: Identity) -> None:
        """Have the hub digest the latest messages of this session, if that does not take long."""
        body = {**self._place(who), **_session(who), "wait": True}
        try:
            async with asyncio.timeout(_CATCH_UP_S):
                await self._for(who, "POST", "/jobs/run", body)
        except TimeoutError:
            return
        except HubProblem as problem:
            if problem.code != "not_found":  # no messages here yet
                raise

    async def memories(
        self, who: Identity, status: str = "active", limit: int = _PAGE
    ) -> list[Json]:
        """Return the newest memories of a sender that are visible here."""
        params: Json = {**self._place(who), "status": status, "limit": limit}
        if self._options.filters.use_session_filtering:
            params |= _session(who)
        answer = await self._for(who, "GET", "/memory/list", params)
        # Global rows of another persona are known here, but changed and forgotten there.
        persona = params["persona_id"]
        return [row for row in answer["items"] if row.get("persona_id", persona) == persona]

    async def rows_without_bot(self, who: Identity) -> int:
        """Return how many memories of a sender belong to no bot: a bot of its own sees none."""
        params = {"persona_id": self._options.persona_of(who), "limit": _PAGE}
        answer = await self._for(who, "GET", "/memory/list", params)
        return sum(row.get("bot_id") is None for row in answer["items"])

    async def forget(self, who: Identity, memory_ids: Sequence[int]) -> int:
        body = {**self._place(who), "memory_ids": list(memory_ids), "include_messages": True}
        return int((await self._for(who, "POST", "/memory/forget", body))["deleted"])

    async def confirm(
        self, who: Identity, memory_id: int, supersedes_id: int | None = None
    ) -> Json:
        body: Json = {**self._place(who), "memory_id": memory_id}
        if supersedes_id is not None:
            body["supersedes_id"] = supersedes_id
        return await self._for(who, "POST", "/memory/confirm", body)

    async def reset(self, who: Identity) -> tuple[int, int]:
        """Erase a sender's memories here; return the numbers of memories and messages."""
        memories = 0
        while rows := await self.memories(who, status="all"):
            gone = await self.forget(who, [row["id"] for row in rows])
            memories += gone
            if not gone:
                break
        body: Json = {**self._place(who), "all": True}
        if self._options.filters.use_session_filtering:
            body |= _session(who)
        answer = await self._for(who, "POST", "/messages/purge", body)
        return memories, int(answer["deleted"])

    def _place(self, who: Identity) -> Json:
        """Return the bot filter: this bot, or all bots."""
        persona = {"persona_id": self._options.persona_of(who)}
        if self._options.filters.use_bot_isolation:
            return {**persona, "bot_id": who.bot_id}
        return {**persona, "bots": "all"}

    async def _for(self, who: Identity, method: str, path: str, fields: Json) -> Json:
        if not who.sender_id:
            raise HubProblem("no_sender", "the platform does not say who has sent this")
        await self._check_key()
        return await self._send(method, path, fields, user_id=who.user_id)

    async def _check_key(self) -> None:
        """Raise for a user key: with it, every sender would share one memory."""
        if self._is_app_key:
            return
        if not self._has_address:
            raise HubProblem("bad_address", "the address of the hub is no address")
        if not self._options.api_key:
            raise HubProblem("no_key", "no key is configured")
        try:
            await self._send("GET", "/persona/list", {})
        except HubProblem as problem:
            if problem.code != "bad_request":  # an app key requires a user
                raise
            self._is_app_key = True
            return
        raise HubProblem("not_an_app_key", "this key belongs to one user; make an app key")

    async def _send(self, method: str, path: str, fields: Json, user_id: str = "") -> Json:
        sent: Json = {"params": fields} if method == "GET" else {"json": fields}
        # As bytes: a sender's name may be Chinese.
        headers = {b"X-User-Id": user_id.encode()} if user_id else {}
        try:
            answer = await self._http.request(method, path, headers=headers, **sent)
            body = answer.json()
            if body["ok"]:
                return dict(body["data"])
            error_body = body["error"]
            problem = HubProblem(
                error_body["code"], error_body["message"], error_body.get("detail")
            )
        except httpx.HTTPError as error:
            raise HubProblem("unreachable", type(error).__name__) from error
        except (ValueError, KeyError, TypeError) as error:
            raise HubProblem("not_a_hub", "this is not a hub") from error
        raise problem


def _is_address(url: str) -> bool:
    try:
        httpx.URL(url)
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port  # reading a port checks it
    except (httpx.InvalidURL, ValueError):
        return False
    return parts.scheme in ("http", "https") and bool(host) and not _SPACE & {*host}
