"""Detect the realm of a message: real, story, hypothetical or out of character."""

from __future__ import annotations

import re

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.language.text.tokens import READ_CHARS
from plastic_memories.language.text.word_lists import any_of
from plastic_memories.model.owner import Realm

_HAN = "\u3400-\u9fff"

# Out of character: the player speaks, not the character.
_OOC_PART = regex(
    r"\(\([^()]*\)\)|（（[^（）]*））|⟪[^⟪⟫]*⟫"
    r"|[(（\[【]\s*(?:ooc(?![a-z])|场外|出戏)[^)）\]】]{0,400}[)）\]】]",
    re.IGNORECASE,
)
_OOC_OPENING = regex(
    r"^\s*(?:/?ooc\s*[:：,，\s]|[\[【(（]\s*ooc\s*[\]】)）]|(?:场外|出戏一?下)\s*[:：,，])",
    re.IGNORECASE,
)
_SLASHES = regex(r"^\s*//(?!/)\s*(?=\S)")
_OOC_LABEL = regex(r"(?:ooc|场外|出戏)\s*[:：]?", re.IGNORECASE)
_BRACKETS = regex(r"^[(（\[【⟪]+|(?<![)）\]】⟫])[)）\]】⟫]++$")
_LOOKS_LIKE_CODE = regex(r"[;{}=<>]|\w\(|\n|TODO|FIXME")

# Text between single asterisks at the edge of a sentence.
_STARRED = regex(
    rf"(?:^|(?<=[\s。！？!?…~～.,，\"”」』》)）]))(?<!\*)\*(?![\s*])(?P<inner>[^*\n]+?)(?<!\s)\*(?!\*)"
    rf"(?=$|[\s。！？!?…~～.,，\"“「『《(（{_HAN}A-Z*])",
    re.MULTILINE,
)
_ACTS = (
    "smile grin laugh giggle chuckle smirk nod shrug sigh wave hug kiss blush wink bow frown "
    "cry sob whisper mutter growl purr gasp yawn stretch shiver tremble stare gaze look glance "
    "turn walk run step sit stand lean lie jump kneel reach grab take hold pull push draw raise "
    "lower lift drop put place pick throw pat poke tap touch stroke rub ruffle open close shut "
    "enter leave approach follow move lead point shake tilt tuck wrap bite lick eat sip drink "
    "pour cast swing strike punch kick attack dodge hide peek crawl climb fly land fall collapse "
    "wake sleep cuddle snuggle pout roll clear blink freeze pause give get make clap dance sing "
    "watch breathe carry go come"
)


def _verb_forms(verb: str) -> str:
    """Return the inflected forms of an action verb; the base form alone may be emphasis."""
    stem = verb[:-1] if verb[-1] in "ey" else verb
    return rf"{verb}e?s|{stem}ies|{stem}{verb[-1]}?ing|{stem}i?{verb[-1]}?ed"


_ACT = "|".join(_verb_forms(verb) for verb in _ACTS.split())
_ENGLISH_ACT = regex(
    rf"^(?:(?:i|we|you|they) (?:\w+ly )?(?:{'|'.join(_ACTS.split())})\b"
    r"|(?:(?:he|she|it|they|we|i|(?-i:[A-Z]\w+)|(?:the|my|his|her) \w+|\w+ly|then|and) )*"
    rf"(?:{_ACT}|sat|stood|took|ran|held|drew|fell|threw|gave|went|came)\b)",
    re.IGNORECASE,
)
_CHINESE_ACT = regex(any_of("realm_detection", "chinese_act"))
_STAGE = regex(any_of("realm_detection", "stage"), re.IGNORECASE)
_HYPOTHETICAL = regex(any_of("realm_detection", "hypothetical"), re.IGNORECASE)
_SHORT = 2  # sentences: a longer message only begins with "if"
_ENDS = regex(r"[。！？!?\n]+|\.(?=\s)")


def detect_realm(text: str, session_realm: Realm = Realm.REAL) -> Realm:
    """Return the realm of one message in a session of that realm.

    Out-of-character marks count everywhere; in a real session the text itself must show that it is
    a story. Emphasis (*really*) and lists are not stories.

    >>> detect_realm("*smiles* Hello there"), detect_realm("I *really* mean it")
    (<Realm.STORY: 'story'>, <Realm.REAL: 'real'>)
    >>> detect_realm("((我明天要考试，先下了))", Realm.STORY)
    <Realm.OOC: 'ooc'>
    """
    text = to_simplified(text[:READ_CHARS])
    rest = _OOC_PART.sub(" ", text)
    if _is_ooc(text, rest, session_realm):
        return Realm.OOC
    if session_realm is not Realm.REAL:
        return session_realm
    if _STAGE.search(rest) or _has_roleplay_action(rest):
        return Realm.STORY
    return Realm.HYPOTHETICAL if _is_hypothetical(rest) else Realm.REAL


def without_ooc_marks(text: str) -> str:
    """Return the text without out-of-character marks, every position kept.

    >>> without_ooc_marks("((hi)) "), without_ooc_marks("ooc: hi")
    ('  hi   ', '     hi')
    """
    plain = to_simplified(text)
    bare = _OOC_OPENING.sub(_blank_match, plain)
    bare = _OOC_PART.sub(_without_brackets, _SLASHES.sub(_blank_match, bare))
    if bare == plain:
        return text
    return "".join(" " if left == " " else char for char, left in zip(text, bare, strict=True))


def _without_brackets(found: re.Match[str]) -> str:
    return _BRACKETS.sub(_blank_match, _OOC_LABEL.sub(_blank_match, found[0], count=1))


def _blank_match(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _is_ooc(text: str, rest: str, session_realm: Realm) -> bool:
    if rest != text and not re.search(r"\w", rest):
        return True
    if _OOC_OPENING.match(text):
        return True
    slashes = _SLASHES.match(text)
    if slashes is None:
        return False
    return session_realm is Realm.STORY or not _LOOKS_LIKE_CODE.search(text, slashes.end())


def _has_roleplay_action(text: str) -> bool:
    """Return whether the text has an action between asterisks."""
    for found in _STARRED.finditer(text):
        inner = found["inner"]
        if re.search(f"[{_HAN}]", inner):
            if _CHINESE_ACT.search(inner):
                return True
        elif _ENGLISH_ACT.match(inner):
            return True
    return False


def _is_hypothetical(text: str) -> bool:
    """Return whether the whole message is hypothetical, not just a clause of it."""
    sentences = [part for part in _ENDS.split(text) if part.strip()]
    return 0 < len(sentences) <= _SHORT and _HYPOTHETICAL.match(sentences[0]) is not None
