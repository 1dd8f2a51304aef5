"""MCP prompts: conversation starters that a person picks from a menu, in Chinese and English."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from plastic_memories.http.doors.mcp.arguments import RecallArguments, ToolArguments
from plastic_memories.http.doors.mcp.mcp_request import McpRequest
from plastic_memories.http.doors.mcp.resources import core_text

Language = Literal["zh", "en"]


class PromptArguments(ToolArguments):
    language: Language | None = None


@dataclass(frozen=True, slots=True)
class MemoryPrompt:
    name: str
    title: str
    description: str
    write: Callable[[McpRequest, PromptArguments], Awaitable[str]]


_ABOUT_ME = {
    "zh": "你知道我些什么？请根据下面的资料告诉我，按重要程度排列；"
    "不确定的请标明，没有的不要编造。",
    "en": "What do you know of me? Tell me from the notes below, the most important first; "
    "say what is uncertain, and make nothing up.",
}
_AS_PERSONA = {
    "zh": "请以下面资料中的角色与我聊天，现在先跟我打个招呼。"
    "回答与我或往事有关的问题之前调用 recall；"
    "我说出值得记住的事时调用 remember；角色身份的改变要先征得我的同意。",
    "en": "Talk to me as the persona of the notes below, and greet me now. Call recall before you "
    "answer about me or the past, and remember when I say something worth keeping; ask me before "
    "anything about who you are is changed.",
}
_NO_NOTES = {"zh": "（还没有任何资料。）", "en": "(There are no notes yet.)"}


async def _about_me_prompt(request: McpRequest, args: PromptArguments) -> str:
    language = await _prompt_language(request, args)
    profile = await request.call.hub.personas.profile(request.view(args))
    return f"{_ABOUT_ME[language]}\n\n{profile or _NO_NOTES[language]}"


async def _as_persona_prompt(request: McpRequest, args: PromptArguments) -> str:
    language = await _prompt_language(request, args)
    core = await core_text(request, RecallArguments(persona_id=args.persona_id))
    return f"{_AS_PERSONA[language]}\n\n{core or _NO_NOTES[language]}"


async def _prompt_language(request: McpRequest, args: PromptArguments) -> Language:
    """Return the requested language, or else the user's own."""
    if args.language is not None:
        return args.language
    settings = await request.call.hub.personas.settings(request.call.caller.user)
    return "en" if settings.language.lower().startswith("en") else "zh"


_PROMPTS = (
    MemoryPrompt(
        name="about_me",
        title="你知道我些什么？ · What do you know of me?",
        description="Show me what is remembered of me. 看看记住了我的哪些事。",
        write=_about_me_prompt,
    ),
    MemoryPrompt(
        name="talk_as_persona",
        title="以这个角色开始聊天 · Start a talk as this persona",
        description="Become the persona, with its memory. 成为这个角色，带着它的记忆开始聊天。",
        write=_as_persona_prompt,
    ),
)
PROMPTS = {prompt.name: prompt for prompt in _PROMPTS}
