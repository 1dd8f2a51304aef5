"""Detect the realm of a message: real, story, hypothetical or out of character."""

from __future__ import annotations

import re

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.language.text.tokens import READ_CHARS
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
_CHINESE_ACT = regex(
    r"笑|哭|摸|抱|走|跑|看着|望|叹|点头|摇头|点了点|摇了摇|拿起|拔|坐|站|躺|跳|推开|拉|伸|握|靠|"
    r"转身|转过|抬|低下|低头|眨|脸红|红着|挥|拍|揉|蹭|亲了|吻|咬|舔|端|递|打了|踢|扑|跪|鞠躬|"
    r"闭上|睁|皱|歪|凑|退后|后退|冲|飞|施法|念咒|沉默|愣|颤|发抖|凝视|盯|瞪|捂|搂|牵|举|放下|"
    r"推门|敲门|开门|进来|进门|醒来|倒下|倒在|喘|打量|环顾|耸|撇|撅|嘟|鼓掌|招手|行礼|拥|依偎|躲"
)
_STAGE = regex(
    r"(?:^\s*+|[。！？【\[]\s*+|\n[^\S\n]*+)"  # the last of several line breaks is enough
    r"(?:剧情|场景|剧本|故事背景|世界观|人设|角色设定|背景设定|设定|旁白)\s*+[:：】\]]"
    r"|(?:在|这个|那个|我们的|咱们的)(?:故事|剧情|剧本|设定|世界观|副本|跑团)(?:里面?|中)"
    r"|(?:故事|剧情|剧本|设定|小说|游戏|梦)(?:里面?|中)[，,]?(?:我|你|咱)"
    r"|(?:来|继续|开始|玩)(?:一[场段次个])?(?:角色扮演|跑团|语c|演戏|剧情|rp\b)|角色扮演(?:吧|开始|一下)"
    r"|(?:我|你)(?:来)?(?:扮演|饰演|演)(?!唱|讲|奏|出|技|员|算)"
    r"|我(?:的)?(?:角色|人设)(?:是|叫|名)|你的(?:角色|人设)(?:是|叫)"
    r"|\bin (?:the|this|our|my) (?:story|role-?play|rp|campaign|scene|fantasy|novel|dream)\b"
    r"|\b(?:let'?s|we (?:can|could)|start (?:a|the)|continue (?:the|our)) (?:role-?play|rp)\b"
    r"|\bmy (?:character|oc)(?:'s name)? is\b|\b(?:i|you)(?:'ll| will| are|'re)? (?:play|playing) "
    r"(?:the role of|as an? )|(?:^\s*+|\n[^\S\n]*+)\[?(?:scene|setting|scenario|narrator)\]?:|"
    r"\bonce upon a time\b",
    re.IGNORECASE,
)
_HYPOTHETICAL = regex(
    r"^\W*(?:那|那么|我们|咱们|你|请)*(?:假设|假如|假装|假想|如果|要是|倘若|设想|想象)(?:一下|下)?[，,]?"
    r"(?:我|你|咱|有一天|世界)(?:们)?(?!有空|方便|没记错|没猜错|记得|需要|想|要是|觉得|看到|知道|能|可以|不|"
    r"愿意|明天|今天|后天|下|没)"
    r"|^\W*(?:假设|假装|设想|想象)"
    r"|^\W*(?:so |ok(?:ay)?,? |well,? )?(?:suppose|imagine|hypothetically|pretend|assume|what if|"
    r"let'?s (?:say|pretend|imagine))\b",
    re.IGNORECASE,
)
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
