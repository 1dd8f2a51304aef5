"""Store a message verbatim as a note, for messages that no rule understands."""

from __future__ import annotations

from plastic_memories.language.reading.injected_text import without_injected_lines
from plastic_memories.language.text.digests import api_key_digest
from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.tokens import READ_CHARS, UNSPACED, normalise
from plastic_memories.model.memory import Draft, MemoryType, SourceType
from plastic_memories.model.message import Message, Role

_WORD = regex(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
_UNSPACED_CHAR = regex(f"[{UNSPACED}]")
# A greeting is shorter. Two Chinese characters count as one word.
_MIN_WORDS = 3.0


def stated_sentences(message: Message) -> list[str]:
    """Return the sentences in which a user states something, not those that ask or pretend."""
    # Imported on use: its grammar takes a third of a second to compile.
    from plastic_memories.language.reading.clauses import believable_sentences  # noqa: PLC0415

    if message.role is not Role.USER:
        return []
    return [
        sentence.strip()
        for sentence, clauses in believable_sentences(
            without_injected_lines(message.content[:READ_CHARS])
        )
        if any(_word_count(clause.text) >= _MIN_WORDS for clause in clauses)
    ]


def _word_count(text: str) -> float:
    return sum(0.5 if _UNSPACED_CHAR.match(word) else 1.0 for word in _WORD.findall(text))


def verbatim_draft(message: Message) -> Draft:
    """Return a message as a verbatim draft; the same message again gives the same key.

    >>> from plastic_memories.model.owner import Owner
    >>> said = Message(owner=Owner("t", "u", "p"), role=Role.USER, content="茶在柜子里", ts=0.0)
    >>> verbatim_draft(said).content, verbatim_draft(said).key == verbatim_draft(said).key
    ('茶在柜子里', True)
    """
    by_user = message.role is Role.USER
    place = (message.session_id, message.source_app, message.role, message.speaker)
    return Draft(
        type=MemoryType.NOTE,
        key="said." + api_key_digest("\x1f".join([*place, normalise(message.content)]))[:16],
        content=message.content,
        realm=message.realm,
        # Only a user's message is the user's statement; all others come from a program.
        source_type=SourceType.USER_EXPLICIT if by_user else SourceType.TOOL,
        source_app=message.source_app,
        bot_id=message.bot_id,
        session_id=message.session_id,
        branch_id=message.branch_id,
        speaker=message.speaker,
        source_message_ids=(message.id,) if message.id else (),
        quote=message.content,
        attributes={} if by_user else {"role": message.role.value},
    )
