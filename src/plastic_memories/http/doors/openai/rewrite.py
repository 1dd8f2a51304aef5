"""Have the upstream rewrite a question into a better recall query."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from plastic_memories.http.doors.openai.failures import UpstreamError
from plastic_memories.http.doors.openai.json_splice import to_json
from plastic_memories.http.doors.openai.reply_text import reply_text
from plastic_memories.http.doors.openai.upstream import Upstream
from plastic_memories.rules.conversation.history_diff import HistoryLine, without_thoughts

PROMPT = (
    "You write search queries for the long-term memory of a chat. Read the end of the "
    "conversation and say in one short line, in the language of the last message, what to look "
    "for, with names instead of pronouns. Answer with that line only.\n"
    "你为聊天的长期记忆撰写检索语句。阅读对话的结尾，用最后一条消息的语言写一行简短的检索语句，"
    "用名字代替代词。只输出这一行。"
)
_ANSWER_TOKENS = 200
_MAX_REPLY_BYTES = 256 * 1024
_OK = 200


@dataclass(frozen=True, slots=True)
class RewriteOptions:
    """How to rewrite a question."""

    prompt: str
    model: str
    timeout_s: float
    max_chars: int


async def rewrite_question(
    upstream: Upstream, options: RewriteOptions, lines: Sequence[HistoryLine]
) -> str | None:
    """Return the rewritten question; None if there is no reply in time."""
    transcript = "\n".join(
        f"{line.role.value}: {line.text[-options.max_chars :]}" for line in lines
    )
    request = {
        "model": options.model,
        "messages": [
            {"role": "system", "content": options.prompt or PROMPT},
            {"role": "user", "content": transcript},
        ],
        "temperature": 0,
        "max_tokens": _ANSWER_TOKENS,
        "stream": False,
    }
    try:
        async with asyncio.timeout(options.timeout_s):
            answer = await _request_rewrite(upstream, to_json(request).encode("utf-8", "replace"))
    except (UpstreamError, TimeoutError):
        return None
    question = without_thoughts(answer).strip().strip("\"'“”「」")
    return question[: options.max_chars] or None


async def _request_rewrite(upstream: Upstream, body: bytes) -> str:
    headers = [(b"content-type", b"application/json"), (b"user-agent", b"plastic-memories")]
    found = bytearray()
    async with upstream.stream_request("POST", "/chat/completions", headers, body) as answer:
        while chunk := await answer.next_chunk():
            found += chunk
            if len(found) > _MAX_REPLY_BYTES:
                return ""
        return reply_text(bytes(found), streamed=False) if answer.status == _OK else ""
