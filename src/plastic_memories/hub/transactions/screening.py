"""Screen every text for sensitive data before it is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, TypeVar

from plastic_memories.errors import Rejected
from plastic_memories.model.memory import TEXT_FIELDS, Draft, Memory, MemoryBase
from plastic_memories.model.message import Message
from plastic_memories.ports.judge import JudgeEngine
from plastic_memories.ports.sensitive_policy import SensitivePolicy

# Free text; every other text of a memory is a key, an id or a reference.
_PROSE = ("content", "quote")
_memory_ids = attrgetter(*(name for name in TEXT_FIELDS if name not in _PROSE))
_memory_texts = attrgetter(*_PROSE, "tags", "metadata", "attributes")
_message_ids = attrgetter("source_app", "bot_id", "session_id", "speaker", "client_msg_id")
# A draft, or a memory that comes from elsewhere.
_Row = TypeVar("_Row", bound=MemoryBase)


@dataclass(frozen=True, slots=True)
class Screening:
    policy: SensitivePolicy
    judge: JudgeEngine

    def screen_text(self, text: str) -> str:
        """Return the text, masked if necessary; raise `Rejected` with its category if refused."""
        if not text:
            return text
        screened = self.policy.screen(text)
        if screened.refused_category:
            raise _refusal(screened.refused_category)
        return screened.text

    def screen_identifier(self, text: str) -> str:
        """Return a key, id or reference; raise `Rejected` if it contains a credential."""
        if not text:
            return text
        screened = self.policy.screen_id(text)
        if screened.refused_category:
            raise _refusal(screened.refused_category)
        return screened.text

    def mask_message(self, message: Message) -> Message:
        """Return a message with secrets masked; raise `Rejected` only for a credential in an id."""
        for identifier in filter(None, _message_ids(message)):
            self.screen_identifier(identifier)
        masked = self.policy.mask(message.content)
        return message if masked == message.content else replace(message, content=masked)

    def screen_draft(self, draft: Draft) -> Draft:
        """Return a draft as it may be stored; raise `Rejected` if it may not."""
        return self._screen_draft(draft, set())

    def _screen_draft(self, draft: Draft, harmless_ids: set[str]) -> Draft:
        """Screen a draft; `harmless_ids` caches identifiers that passed, and grows."""
        verdict = self.judge.assess(draft)
        if not verdict.keep:
            raise Rejected(
                "The judge refuses to keep this.",
                {"reason": verdict.reason, "category": verdict.category},
            )
        return self._screen_row(draft, harmless_ids)

    def screen_memory(self, memory: Memory) -> Memory:
        """Return a memory that comes from elsewhere as it may be stored, or raise `Rejected`."""
        return self._screen_row(memory, set())

    def _screen_row(self, row: _Row, harmless_ids: set[str]) -> _Row:
        for identifier in set(_memory_ids(row)) - harmless_ids:
            self.screen_identifier(identifier)
            harmless_ids.add(identifier)
        content, quote = self.screen_text(row.content), self.screen_text(row.quote)
        tags = tuple([self.screen_text(tag) for tag in row.tags])
        metadata = self.screen_values(row.metadata)
        attributes = self.screen_values(row.attributes)
        if (content, quote, tags, metadata, attributes) == _memory_texts(row):
            return row
        return replace(
            row,
            content=content,
            quote=quote,
            tags=tags,
            metadata=metadata,
            attributes=attributes,
        )

    def screen_drafts(
        self, drafts: Sequence[Draft]
    ) -> tuple[list[tuple[int, Draft]], list[tuple[int, str]]]:
        """Screen a batch; return the accepted drafts and the reasons of refusals, by index."""
        accepted: list[tuple[int, Draft]] = []
        refused: list[tuple[int, str]] = []
        harmless_ids: set[str] = set()  # a batch repeats the same session and speaker
        for index, draft in enumerate(drafts):
            try:
                accepted.append((index, self._screen_draft(draft, harmless_ids)))
            except Rejected as error:
                refused.append((index, refusal_reason(error)))
        return accepted, refused

    def screen_values(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Screen every key and value of a JSON object."""
        return {
            self.screen_identifier(name): self._screen_value(value)
            for name, value in values.items()
        }

    def _screen_value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.screen_text(value)
        if isinstance(value, Mapping):
            return self.screen_values(value)
        if isinstance(value, list | tuple):
            return [self._screen_value(item) for item in value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            self.screen_text(str(value))  # a card number is sensitive as a string or as a number
        return value


def _refusal(category: str) -> Rejected:
    return Rejected(
        f"This looks like sensitive data ({category}) and is not stored.",
        {"reason": "sensitive", "category": category},
    )


def refusal_reason(error: Rejected) -> str:
    """Return in one line why a text was refused, without the text."""
    detail = error.detail or {}
    category = detail.get("category")
    return f"{detail.get('reason', error.code)}: {category}" if category else error.message
