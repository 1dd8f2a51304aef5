"""Kinds of statements of which one holds at a time: a name, a job, a home, a partner."""

from __future__ import annotations

from dataclasses import dataclass

from plastic_memories.language.text.lazy_regex import regex


@dataclass(frozen=True, slots=True)
class CorrectableKind:
    """A kind: clauses that change it, clauses that state it, and the keys of its memories."""

    name: str
    change: str
    statement: str
    keys: tuple[str, ...]


_KINDS = (
    CorrectableKind(
        "name",
        r"(?:叫|喊|称呼)我|我(?:不|唔)(?:是|系)?叫|改名|称呼"
        r"|\bcall(?:ing|ed)? me\b|\bmy name\b|\bgo by\b",
        r"叫我|我叫|我系[^，]{1,8}$|名字|称呼|\b(?:call me|my name|i'm|im|this is|will do)\b",
        ("basic_info.name", "basic_info.address", "basic_info.nickname"),
    ),
    CorrectableKind(
        "job",
        r"调岗|换(?:了)?(?:份|个)?工作|跳槽|辞(?:职|了)|离职|裸辞|被裁|转行|转岗|升职|转(?:咗)?工|劈炮|新工作"
        r"|\bhanded in my notice\b|\bresigned\b|\bnew job\b|\bpromot\w+|\blaid off\b"
        r"|\bgot fired\b|\bquit (?:my )?(?:job|work)\b"
        r"|\bchang\w+ jobs?\b|\bswitch\w* jobs?\b|\bstart\w* (?:working )?at\b",
        r"(?:在|喺|搁)[^，]{1,12}(?:上班|工作|返工|做|干|打工|兼职|实习)|[科厂司院店行][^，]{0,4}(?:干|做|当|上班|工作|返工)"
        r"|(?:干|当|做)[^，]{1,6}(?:员|护士|师|工作)|我(?:是|系)[^，]{0,8}(?:员|师|护士|医生|司机)"
        r"|\bwork(?:s|ing|ed)? (?:at|for|in|as)\b|\bas an? \w+(?: \w+)?$|\bmy job\b"
        r"|\bi(?:'m| am|m) an? \w+(?: \w+)? (?:at|for)\b|\bi (?:run|drive|teach) \w+",
        ("basic_info.job", "basic_info.workplace", "basic_info.company", "basic_info.occupation"),
    ),
    CorrectableKind(
        "home",
        r"搬(?:家|到|去|咗|了)"
        r"|\b(?:i|i'm|im|i've|we|we're) (?:\w+ )?mov(?:ed|ing) (?:out|to|in|house|flat|back)\b"
        r"|\b(?:new|my own) (?:flat|place|apartment)\b",
        r"(?<![不得记停拦忍])住|租|搬|\b(?:live|living|rent|renting|move|moving|flat|apartment)\b",
        ("basic_info.place", "basic_info.home", "basic_info.city", "basic_info.location"),
    ),
    CorrectableKind(
        "school",
        r"学校|转学|转专业|换专业|退学|(?:[一二三四五六七八九十\d]中|大学)的|\b(?:school|uni|college|major)\b",
        r"学校|[一二三四五六七八九十\d]中|大学|中学|专业|读[^，]{1,6}|念[^，]{1,6}"
        r"|\b(?:school|uni|university|college|major|study|studying)\b",
        ("basic_info.school", "basic_info.major", "basic_info.grade"),
    ),
    CorrectableKind(
        "partner",
        r"(?:分手|掰了|离婚|分(?:了|咗)$)|(?:跟|和|同)[^，]{1,8}(?:分|散|离)(?:了|咗|手)"
        r"|\bbroke up\b|\bbroken up\b|\bsplit up\b|\bdivorced?\b|\bdumped\b",
        r"女朋友|男朋友|女友|男友|我条[女仔]|对象|老婆|老公|拍拖|在一起|一齐|\b(?:girlfriend|boyfriend|gf|bf|wife|husband|"
        r"dating|seeing|partner|together)\b",
        (
            "relationship.girlfriend", "relationship.boyfriend", "relationship.partner",
            "relationship.spouse", "relationship.wife", "relationship.husband",
            "relationship.status",
        ),
    ),
    CorrectableKind(
        "pet",
        r"不养了|唔养(?:了|喇|啦)|送(?:人|走|俾人)"
        r"|\bgave (?:him|her|it|them|the \w+) away\b|\brehomed\b",
        r"养(?:了|咗)?|猫|狗|仓鼠|兔|鸟|鱼|\b(?:cat|dog|puppy|kitten|hamster|rabbit|bird|pet)\b",
        ("relationship.pet",),
    ),
    CorrectableKind(
        "ailment",
        r"好返|痊愈|病好|已经好了|好全了|\bhealed\b|\ball better\b|\brecovered\b",
        r"整亲|扭|受伤|肿|疼|痛|发烧|感冒|骨折|病|\b(?:sprain\w*|hurt|broke|broken|sore|sick|flu|cold)\b",
        ("constraint.health", "emotional", "life_event"),
    ),
)  # fmt: skip
_CHANGES = {kind.name: regex(kind.change) for kind in _KINDS}
_STATEMENTS = {kind.name: regex(kind.statement) for kind in _KINDS}
_KEYS = {kind.name: kind.keys for kind in _KINDS}
_VALUES = {
    "date": regex(
        r"\d{1,2}\s?(?:月|号|日)|(?:周|礼拜|星期)[一二三四五六日天]|\d{4}-\d\d|(?<!\d)\d{1,2}(?:st|nd|rd|th)\b"
        r"|[一二三四五六七八九十](?:号|月)|初[一二三四五六七八九十](?=[，\s]|$)"
        r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
        r"|\b(?:jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)(?:uary|ruary|ch|il|e|y|ust|tember|ober|ember)?\b"
        r"|\b(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\w{2,6}teenth|"
        r"twentieth|thirtieth|twenty[- ]\w{3,7})\b"
    ),
    "clock": regex(
        r"[\d一二三四五六七八九十两]点|\b\d{1,2}\s?(?:am|pm)\b|\d:\d\d|\bo'?clock\b"
        r"|\b(?:at|it|that) \d{1,2}\b"
    ),
    "count": regex(r"[两三四五六七八九十\d][只条位辆间]"),
    "age": regex(
        r"[\d一二三四五六七八九十廿]岁|\byears? old\b"
        r"|\b(?:i'm|im|i am|he's|she's) \d{1,2}\b|\bturn(?:s|ed)? \d"
    ),
    "grade": regex(r"初[一二三]|高[一二三]|大[一二三四]|年级|\b(?:year|grade) \w+"),
    "dose": regex(r"[\d一二三两半各][颗粒片次]|\b(?:mg|tablet|pill)s?\b"),
    "money": regex(r"[\d百千万](?:块|元|蚊|刀)|[$£€]\d"),
}


def changed_kinds(clause: str) -> frozenset[str]:
    """Return the kinds that a clause changes or ends.

    >>> sorted(changed_kinds("唔好再叫我kelvin")), sorted(changed_kinds("we broke up"))
    (['name'], ['partner'])
    """
    return frozenset(name for name, pattern in _CHANGES.items() if pattern.search(clause))


def states_kind(text: str, kind: str) -> bool:
    """Return whether a text states something of a kind."""
    return bool(_STATEMENTS[kind].search(text))


def has_key_of(key: str, kind: str) -> bool:
    """Return whether a memory key belongs to a kind."""
    return key.startswith(_KEYS[kind])


def kinds_of_key(key: str) -> list[str]:
    """Return the kinds to which a memory key belongs.

    >>> kinds_of_key("basic_info.job")
    ['job']
    """
    return [kind for kind in _KEYS if has_key_of(key, kind)]


def keys_of_kind(kind: str) -> tuple[str, ...]:
    """Return the key prefixes of the memories of a kind."""
    return _KEYS[kind]


def value_types(text: str) -> frozenset[str]:
    """Return which types of values a text holds: dates, clock times, ages, doses.

    >>> sorted(value_types("挪到25号")), sorted(value_types("七岁"))
    (['date'], ['age'])
    """
    return frozenset(name for name, pattern in _VALUES.items() if pattern.search(text))


def same_date(one: str, other: str) -> bool:
    """Return whether two texts name a date in the same words.

    >>> same_date("20号护士长竞聘", "你20号早上叫我"), same_date("20号", "25号")
    (True, False)
    """
    dates = {match[0] for match in _VALUES["date"].finditer(one)}
    return any(match[0] in dates for match in _VALUES["date"].finditer(other))
