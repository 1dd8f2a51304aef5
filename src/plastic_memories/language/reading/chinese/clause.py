"""Parse a Chinese clause into subject and predicate."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from plastic_memories.language.reading.clauses import MessageClause
from plastic_memories.language.reading.relation_words import CHINESE_KIN_WORD, CHINESE_PET_WORD
from plastic_memories.language.text.lazy_regex import at_start, regex


class ChineseSubject(StrEnum):
    USER = "user"
    WE = "we"
    KIN = "kin"  # a relative or pet of the user
    OTHER = "other"
    NONE = "none"  # omitted; in conversation that mostly means "I"


@dataclass(frozen=True, slots=True)
class ChineseClause:
    """A clause split into subject and predicate, without leading fillers and adverbs."""

    predicate: str
    whole: str
    content: str
    subject: ChineseSubject
    clause: MessageClause
    now: datetime
    kin: str = ""
    is_subject_implied: bool = False  # carried over from the clause before, or omitted

    @property
    def is_past(self) -> bool:
        if _PAST.search(self.whole):
            return True
        return bool(_LAST_TIME.search(self.whole)) and not _LASTING.search(self.whole)

    @property
    def is_temporary(self) -> bool:
        return _TEMPORARY.search(self.whole) is not None

    def with_item(self, item: str, text: str) -> str:
        """Return the content with a list replaced by one of its items."""
        return self.content if item == text else self.content.replace(text, item, 1)


_PAST = regex(
    r"以前|原来(?=做|是|在|叫|住|当)|曾经|曾在|曾是|(?<![叫姓是名])曾|从前|过去|小时候|当年|那时|当时|之前(?!别|不要)|原先|年轻时|"
    r"上学时|读书时|大学时|前几年|(?<![去])那年|童年|儿时"
)
_LAST_TIME = regex(r"去年|前年|上个?月|上周|上个?星期|昨天|前天")
_LASTING = regex(r"搬|毕业|开始|养|生日|出生|入职")
_TEMPORARY = regex(
    r"今天|今晚|今早|今儿|这会儿|刚才|刚刚|此刻|暂时|临时|这几天|这两天|这次|这回|最近|"
    r"这周|这阵子|这段时间|昨天|昨晚|一时|等会|待会"
)
_FILLER = regex(
    r"(?:(?:嗯+|哦+|噢+|啊+|哈{2,}|嘿+|喂|诶|唉|呃|额|嗨|嗷|hi|hello|hey|你好[呀啊]?|"
    r"您好|大家好|早上好|晚上好|早安|晚安|对了|那个|其实|"
    r"实际上|事实上|说实话|老实说|实话说|说真的|坦白说|顺便(?:说一?下|提一?下|说一?句|"
    r"一提)?|(?:我)?(?:要|想|得|偷偷)?告诉你(?:个秘密|一个秘密|一件事|一下|哦)?|"
    r"(?:我)?(?:要|想)?跟你(?:说|讲)(?:一下|下|个事|件事|哦)?|(?:请|你要|你|麻烦|"
    r"帮我)*(?:记住|记一下|记下来?|记着|记得|备注)(?:了|一下|哦)?|"
    r"更正(?:一下)?|纠正(?:一下)?|修正一?下|准确(?:地|来)?说|确切地?说|应该说|我?说错了|"
    r"我?搞错了|不对|不是的|抱歉|不好意思|补充(?:一下|一点|一句)?|"
    r"另外|还有|而且|并且|不过|但是|但|可是|然而|因为|由于|所以|因此|于是|然后|虽然|尽管|"
    r"毕竟|反正|总之|首先|其次|最后|是的|没错|好的|谢谢|"
    r"(?:先)?自我介绍一下|(?:先)?介绍一下(?:我?自己)?|(?:先|提前)?说一下|话说|"
    r"只是(?=不)|你(?:也)?知道的?|如你所知|我发现|我觉得|我认为|我想说(?:的是)?|"
    r"我承认|不得不说|不瞒你说|这么说吧|注意|提醒你?一下|友情提示|我?(?:之前|刚才)?(?:跟|"
    r"和)?(?:你)?(?:说过|讲过|提过)|声明一下|我是说|"
    r"我的意思是|重申一下|今后|从今以后|从现在(?:开始|起)|而)"
    r"[呢呀啊哦啦嘛吧,，:：!！~～\s]*)++",
    re.IGNORECASE,
)
_LEAD = at_start(
    r"(?:现在|目前|如今|平时|平常|日常|一般|通常|从小(?:到大)?|打小|今年|个人来说|"
    r"对我来说|生活中|一直以来|这些年|这辈子|最近|业余时间|有空|闲暇时?|"
    r"没事的?时候?|周末|每个周末|每天|休息日|(?:昨天|今天|前天|明天|后天|上个?(?:周|星期|"
    r"月)[一二三四五六日天]?|下个?(?:周|星期|月)[一二三四五六日天]?|去年|前年|"
    r"明年)(?:早上|上午|中午|下午|晚上)?(?=我)|比起?[^我，,]{1,8}(?=我))+[,，]?(?=我|就?喜欢|住|"
    r"是|在|大|高|初|研|博|\d|[一二三四五六七八九十])"
)
_ME = regex(
    r"(?:我自己|我这个人|我这人|我本人|本人|我个人|我|俺|咱|鄙人|在下)(?!们|俩)(?:呢|啊|"
    r"呀|嘛|吧(?=[对是有特很比就最不]))?"
)
_KIN = regex(
    rf"(?:我|俺|咱|我们)(?:们?家)?(?:里|里的)?(?:养|领养|收养|捡来?)?的?(?:那只|这只|"
    rf"那条|(?:一|两|三|四|俩|\d)[个只条])?(?P<kin>{CHINESE_KIN_WORD}|{CHINESE_PET_WORD})(?!控|派|粉|迷|过敏|毛|的?生日礼物|"
    rf"咪?咖)"
)
_NEAR_KIN = regex(
    r"(?P<kin>妈妈|母亲|爸爸|父亲|老婆|妻子|老公|丈夫|男朋友|女朋友|儿子|女儿|哥哥|弟弟|"
    r"姐姐|妹妹|爷爷|奶奶|外公|外婆)(?=叫|名叫|名字|是|今年|在|的?生日|的名字)"
)
_ABOUT_TOPIC = at_start(
    r"(?:它们?|他|她)?(?=(?:的?名字)?(?:叫|名叫|取名|名字)|今年|已经\d|\d+岁|"
    r"[一二三四五六七八九十两]{1,3}(?:岁|个月)|的?生日|"
    r"也?是(?:一?[个名位]|做))"
)
_WE = regex(
    r"(?:我们(?:俩|一家.{0,2}口?人?|全家)?|咱们|我俩|我(?:和|跟|与)[^，,]{1,8}?(?=打算|"
    r"准备|要|会|计划|在|结婚|"
    r"分手|离婚|约|下|明|后|去|订婚|领证))"
)
_OTHER = regex(
    r"(?:你们?|您|他们?|她们?|它们?|大家|别人|有人|有些人|人们|那个人|这个人|很多人|女生|"
    r"男生|孩子|小孩|老人|天气|外面|公司|学校|这(?!个?[周月年]|个?星期|个?礼拜)|那(?!么|"
    r"我))"
)
_ADVERBS = regex(
    r"(?:也|都|[特巨](?=讨厌|喜欢|爱|怕|烦)|刚好|正好|还(?!是|有)|又|就(?!读)|才|却|真的|真心|真是|真|特别|尤其|非常|很|超级|超|"
    r"极其|十分|蛮|挺|比较|更加|更|一直以来|一直|从小到大|从小|打小|"
    r"从来就|从来都|从来|向来|常年|长期|长年|平时|平常|经常|常常|通常|一般|其实|现在|目前|如今|确实|"
    r"的确|主要|本来就|本来|个人|自己|这个人|这人|天生|生来|已经|早就|"
    r"始终|永远|一向|最近|终于|本身|绝对|完全|简直|实在|可|太|今年|刚刚|刚|有一点|有点儿|"
    r"有点|稍微|略|多少|偏|属于|每天|一起|一点儿?(?:都|也)|压根|根本|丝毫|基本上|基本|"
    r"无比|老是|总是)++"
)


# 又是东北人, 都是好演员, 可惜不吃: a remark on what was said, not a statement about the speaker.
_REMARK = regex(
    r"(?:都|更|又|也|就|还|尤其|确实|果然|才|不愧)是|是(?:那|这|不想|您|你)|那些|可惜|首先|难怪|怪不得|还有[一二三两几\d]|只有"
)


def parse_chinese_clause(
    clause: MessageClause, now: datetime, before: ChineseSubject, topic: str = ""
) -> ChineseClause:
    """Parse a clause; an omitted subject is that of the clause before.

    `topic` is the relative or pet of the clause before: 我养了一只狗，叫旺财.
    """
    whole = _FILLER.sub("", clause.text, count=1) if _FILLER.match(clause.text) else clause.text
    content = (
        _FILLER.sub("", clause.display_text, count=1)
        if _FILLER.match(clause.display_text)
        else clause.display_text
    )
    lead = _LEAD.match(whole)
    body = whole[lead.end() :] if lead else whole
    subject, kin, rest = _split_subject(body)
    if topic and subject is ChineseSubject.OTHER and _ABOUT_TOPIC.match(body):
        subject = ChineseSubject.NONE
    if subject is ChineseSubject.NONE and (whose := _implied_relative(rest, before, topic)):
        stated = _with_possessor(content, whose[0])
        return ChineseClause(
            _without_adverbs(whose[1]), whole, stated, ChineseSubject.KIN, clause, now, kin=whose[0]
        )
    if subject is ChineseSubject.NONE and before is not ChineseSubject.USER:
        before = ChineseSubject.OTHER if _REMARK.match(whole) else before
    if subject is ChineseSubject.NONE:
        stated = content if "我" in content else f"我{content}"
        return ChineseClause(
            _without_adverbs(rest), whole, stated, before, clause, now, is_subject_implied=True
        )
    return ChineseClause(_without_adverbs(rest), whole, content, subject, clause, now, kin=kin)


def _with_possessor(content: str, kin: str) -> str:
    """Return the content with its possessor, to be read on its own: 叫豆豆 becomes 我的猫叫豆豆."""
    return f"我{content}" if kin in content else f"我的{kin}{content.lstrip('它他她')}"


def _implied_relative(rest: str, before: ChineseSubject, topic: str) -> tuple[str, str] | None:
    """Return (relative, rest) for a relative named without "my", or for the topic."""
    if topic and (about := _ABOUT_TOPIC.match(rest)):
        return topic, rest[about.end() :]
    near = _NEAR_KIN.match(rest)
    if near and before in {ChineseSubject.USER, ChineseSubject.NONE}:
        return near["kin"], rest[near.end() :]
    return None


def _split_subject(body: str) -> tuple[ChineseSubject, str, str]:
    kin = _KIN.match(body)
    if kin:
        return ChineseSubject.KIN, kin["kin"], body[kin.end() :]
    we = _WE.match(body)
    if we:
        return ChineseSubject.WE, "", body[we.end() :]
    me = _ME.match(body)
    if me:
        return ChineseSubject.USER, "", body[me.end() :]
    if _OTHER.match(body):
        return ChineseSubject.OTHER, "", body
    return ChineseSubject.NONE, "", body


def _without_adverbs(rest: str) -> str:
    adverbs = _ADVERBS.match(rest)
    # "最" and "不" belong to the predicate; a lone adverb is a predicate as well ("我很好").
    return rest[adverbs.end() :] if adverbs and adverbs.end() < len(rest) else rest


_TRAILING = "啊呀哦啦哈吧嘛呢哟喔诶唷嗷噢了~～!！。.…、"
_TRAILING_WORDS = ("什么的", "之类的", "之类", "等等")
_LIST = regex(
    r"、|以及|还有|(?<![温平暖柔缓饱随亲祥谦调中共])和(?![平谐服睦解尚风声约面气])|"
    r"跟(?!我|你|他|她|朋友|家人)"
    r"|(?:(?<!\s)\s++)?&\s*+|(?<!\s)\s++and\s++|，"
)

_MAX_ITEM_CHARS = 12
_PREPOSITIONS = ("在", "用", "把", "给", "为", "对", "从", "让", "和", "跟", "与", "边")


def clean_value(value: str) -> str:
    """Return a value without trailing particles and quotation marks.

    >>> clean_value("火锅啦~"), clean_value("《三体》")
    ('火锅', '《三体》')
    """
    return _without_trailing(value.strip(" '\"“”「」‘’『』")).strip()


def _without_trailing(value: str) -> str:
    # From the end: a regular expression would retry a long run of particles from each one.
    while (shorter := _without_word(value.rstrip(_TRAILING).rstrip())) != value:
        value = shorter
    return value


def _without_word(value: str) -> str:
    word = next((word for word in _TRAILING_WORDS if value.endswith(word)), "")
    return value.removesuffix(word)


def split_list(text: str) -> list[str]:
    """Return the items of an enumeration; other text stays whole.

    >>> split_list("猫和狗"), split_list("和朋友聊天"), split_list("温和的天气")
    (['猫', '狗'], ['和朋友聊天'], ['温和的天气'])
    """
    items = [clean_value(item) for item in _LIST.split(text)]
    if text.startswith(_PREPOSITIONS):
        return [clean_value(text)]
    if all(1 <= len(item) <= _MAX_ITEM_CHARS for item in items):
        return items
    return [clean_value(text)]
