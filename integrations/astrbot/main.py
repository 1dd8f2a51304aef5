"""The AstrBot plugin: its hooks and its one command. The other modules do the work."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from astrbot.api import AstrBotConfig, logger, sp
from astrbot.api.event import AstrMessageEvent, filter  # noqa: A004 - its name in AstrBot
from astrbot.api.provider import LLMResponse, ProviderRequest
from astrbot.api.star import Context, Star, StarTools
from astrbot.core.agent.message import TextPart

from .answers import Answers
from .commands import parse
from .hub_link import HubLink
from .hub_problem import HubProblem
from .identity import Identity, get_bot_session_id, identity_of, persona_name
from .options import options_from
from .outbox import Outbox
from .turns import Recalled, Turns

_CHECK_S = 3.0
_TURN = "plastic_memories_turn"
_NAME = "astrbot_plugin_plastic_memories"


class PlasticMemories(Star):
    def __init__(self, context: Context, config: AstrBotConfig | None = None) -> None:
        super().__init__(context)
        self.options = options_from(config)
        self._hub = HubLink(self.options)
        self._outbox = Outbox(self._hub.append, path=_data_folder() / "outbox.jsonl")
        self._turns = Turns(self.options, self._hub, self._outbox)
        self._answers = Answers(self.options, self._hub, waiting=lambda: len(self._outbox))
        logger.info("[plastic_memories] %s %s", self.options.hub_url, self.options.filters)

    async def initialize(self) -> None:
        """Send what waited for this start, and tell the operator what is wrong, if anything is."""
        self._outbox.start()
        try:
            async with asyncio.timeout(_CHECK_S):
                version = await self._hub.version()
        except TimeoutError:
            logger.error(
                "[plastic_memories] 记忆中枢没有及时应答 / the hub does not answer in time"
            )
        except HubProblem as problem:
            logger.error("[plastic_memories] %s", problem.explanation("zh", self.options.hub_url))
            logger.error("[plastic_memories] %s", problem.explanation("en", self.options.hub_url))
        else:
            logger.info("[plastic_memories] 已连接记忆中枢 / connected to the hub %s", version)

    async def terminate(self) -> None:
        await self._outbox.close()
        await self._hub.close()

    @filter.on_llm_request()
    async def recall(self, event: AstrMessageEvent, req: ProviderRequest) -> None:
        """Add memories about the sender to the request."""
        conversation = req.conversation
        who = await self._identity(event, getattr(conversation, "persona_id", None))
        number = conversation.cid if conversation else ""
        event.set_extra(_TURN, (who, number))
        text = event.message_str or req.prompt or ""
        _inject(req, await self._turns.recall(who, text, req.contexts or [], number))

    @filter.on_llm_response()
    async def remember(self, event: AstrMessageEvent, resp: LLMResponse) -> None:
        """Store the turn; the hub learns from it later."""
        turn = event.get_extra(_TURN)
        if turn is None or not self.options.remember:
            return
        who, conversation = turn
        reply = resp.completion_text or "" if resp and resp.role == "assistant" else ""
        message_id = str(event.message_obj.message_id or "")
        self._turns.remember(who, event.message_str, reply, message_id, conversation)

    @filter.event_message_type(filter.EventMessageType.GROUP_MESSAGE)
    async def overhear(self, event: AstrMessageEvent) -> None:
        """Store messages between group members, if configured."""
        wanted = self.options.remember and self.options.remember_untriggered
        if not wanted or event.is_at_or_wake_command:
            return
        who = await self._identity(event)
        if who.sender_id != str(event.get_self_id()):
            message_id = str(event.message_obj.message_id or "")
            self._turns.remember(who, event.message_str, "", message_id)

    @filter.command("mem", alias={"记忆"})
    async def mem(self, event: AstrMessageEvent) -> Any:
        """查看和管理自己的记忆 / Your own memories: /mem help"""
        who = await self._identity(event)
        command = parse(event.message_str)
        answer = await self._answers.to(who, command, is_operator=event.is_admin())
        yield event.plain_result(answer)

    async def _identity(self, event: AstrMessageEvent, chosen: str | None = None) -> Identity:
        # Called for its log line, written when the adapter's id replaces the bot's.
        get_bot_session_id(event, self.options.filters.use_bot_isolation)
        return identity_of(event, await self._persona(event, chosen))

    async def _persona(self, event: AstrMessageEvent, chosen: str | None) -> str:
        """Return the persona AstrBot uses: by rule, of the conversation, or the default."""
        origin = event.unified_msg_origin
        chosen = chosen or await self._talks_as(origin)
        settings = self.context.get_config(umo=origin).get("provider_settings", {})
        resolve = getattr(self.context.persona_manager, "resolve_selected_persona", None)
        if resolve is not None:
            selected, *_ = await resolve(
                umo=origin,
                conversation_persona_id=chosen,
                platform_name=event.get_platform_name(),
                provider_settings=settings,
            )
        else:  # AstrBot 4.14 has the same order, but no name for it
            rules = await sp.get_async(
                scope="umo", scope_id=origin, key="session_service_config", default={}
            )
            forced = (rules or {}).get("persona_id")
            selected = forced or chosen or settings.get("default_personality")
        return persona_name(selected)

    async def _talks_as(self, origin: str) -> str | None:
        conversations = self.context.conversation_manager
        number = await conversations.get_curr_conversation_id(origin)
        found = await conversations.get_conversation(origin, number) if number else None
        return found.persona_id if found else None


def _data_folder() -> Path:
    """Return the plugin's folder for data, which a reload and an update leave alone."""
    return Path(StarTools.get_data_dir(_NAME))


def _inject(req: ProviderRequest, known: Recalled) -> None:
    """Add memories where AstrBot sends them on but does not keep them in its history.

    The system prompt is never kept. A part of the user's message is left out of the history only if
    it can be marked, from AstrBot 4.24 on.
    """
    if not known.text:
        return
    if known.turn and hasattr(TextPart, "mark_as_temp"):
        req.extra_user_content_parts.append(TextPart(text=known.turn).mark_as_temp())
        known = Recalled(known.stable)
    if known.text:
        req.system_prompt = f"{req.system_prompt or ''}\n\n{known.text}".lstrip()
