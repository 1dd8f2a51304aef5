"""Chinese: name, form of address, birthday, age, work, school and place of the user."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plastic_memories.rules.talk import dates, dates_zh
from plastic_memories.rules.talk.found import LIKELY, SURE, Found
from plastic_memories.rules.talk.numerals import ZH_NUMBER, zh_number
from plastic_memories.rules.talk.zh_clause import Said, Subject, tidy
from plastic_memories.rules.talk.zh_words import JOB, PLACE

_NAME = r"(?P<v>[\u4e00-\u9fff·A-Za-z0-9_.\-' ]{1,24}?)"
_NAME_END = r"(?=今年|来自|住在|就好|就行|就可以|即可|好了|好啦|吧|是个|是一|是(?:男|女)|啊|呀|哦|啦|哈$|~|～|$)"
_NOT_A_NAME = re.compile(
    r"(?:他|她|它|你|您|我|谁|什么|啥|不|别|没|了|过|着|起床|起来|吃|喝|去|回[家去来]|做|干|帮|给|把|出[去来门]|进[来去]|上[班学课]|下[楼课班]|"
    r"看|听|买|写|说|讲|滚|走|停|等|加班|过[去来]|早[起点]|早睡|外卖|车|救护车|滴滴|人|大家|别人|一声|一下|醒|打|开|学|醒来|服务员|快递|苦|好|这个|那个|"
    r"全名|本名|真名|名字|小名|自己|的|到|为|以|换|找|拿|交|参加|负责|先|再|也|都|不要|代)|.*(?:一下|同事|过来|出来$)"
)
_NAME_WORDS = {
    "名字": "name", "姓名": "name", "全名": "name", "真名": "name", "本名": "name", "大名": "name",
    "中文名": "name", "小名": "nickname", "昵称": "nickname", "网名": "nickname", "外号": "nickname",
    "绰号": "nickname", "笔名": "pen_name", "英文名": "english_name", "乳名": "nickname", "艺名": "nickname",
}  # fmt: skip
_CALLED = re.compile(rf"(?:名叫|叫做|叫作|叫)(?!我){_NAME}{_NAME_END}")
_NAMED = re.compile(
    rf"的?(?P<w>{'|'.join(_NAME_WORDS)})字?(?:就)?(?:是|叫做|叫|[:：]){_NAME}{_NAME_END}"
)
_SURNAME = re.compile(r"姓(?P<v>[\u4e00-\u9fff]{1,2})(?:名(?P<n>[\u4e00-\u9fff]{1,2}))?$")
_I_AM_NAME = re.compile(r"是(?P<v>[小阿][\u4e00-\u9fff]{1,2}|[A-Z][a-z]{2,12})$")
_NO_NAME_SO = re.compile(
    r"[小阿](?:学生|孩|偷|白|姐|朋友|男孩|女孩|人|姨|公主|可爱|仙女|镇|众|资|说|Q)"
)
_ADDRESS = re.compile(
    r"(?:我|你|您)?(?:(?:请|以后|今后|可以|就|直接|都|麻烦|希望|想要?|要|喜欢|更|平时|一般|朋友们?|大家|同事们?|同学们?|家人们?|家里人|身边的人|他们|网友们?|我?"
    r"希望你|你|们|还是|管|也|能|一直|从现在起|尽量|往后|日后|之后|接下来|平常|私下|那就|干脆|不如|别人))*"
    rf"(?:叫|称呼|喊|称)我(?:为|做|作|一声)?{_NAME}{_NAME_END}"
)
_REFUSED = re.compile(
    r"(?:别|不要|不许|不准|少|不喜欢|讨厌|不想)(?:再|老|总)?(?:别人|大家|你|他们)?(?:叫|称呼|喊)我"
)

_BIRTH_YEAR = re.compile(
    r"(?:是|于)?(?P<y>(?:19|20)\d\d|\d\d|[零〇九八七六]{1}[零〇一二三四五六七八九])年(?:出生|生)?(?:的|人)?$|生于(?P<y2>(?:19|20)\d\d)年?$"
)
_BIRTHDAY = re.compile(
    r"(?:的)?(?:阳历|农历|公历|阴历|新历)?(?:生日|出生日期|出生年月日?|生辰)|(?:出)?生(?:于|的|$)|生人$"
)
_OWN_BIRTHDAY = re.compile(
    r"我的?(?:阳历|农历|公历|阴历|新历|过)?生日|^(?:阳历|农历)?生日|^(?!我).{1,10}(?:就)?(?:是|过)我(?:的)?(?:\d+岁)?生日|"
    r"我(?:是|在|每年|今年)*[\d一二三四五六七八九十年月日号./初廿正腊冬农历阴阳零〇-]+(?:的|过|就)*生日|"
    r"我(?:今天|明天|后天|大后天|下?下?这?(?:周|星期|礼拜)[一二三四五六日天末]|下个?月.{0,3}|昨天)(?:就|要|会)*过?生日"
)
_AGE = re.compile(
    r"(?:的?年龄|年纪)?(?:是|有|都|马上|满|刚满|今年|已经)*(?P<n>\d{1,3}|[一二三四五六七八九十百]{1,4})(?:周?岁)(?:了|啦|半)?$"
    r"|(?:今年|年龄是?|年龄[:：])(?P<m>\d{1,2}|[二三四五六七八九]?十[一二三四五六七八九]?)(?:了|啦)?$"
)
_ZODIAC = re.compile(r"(?:是)?属(?P<v>[鼠牛虎兔龙蛇马羊猴鸡狗猪])(?:的)?$")
_STAR = re.compile(
    r"(?:的?星座)?是(?:个)?(?P<v>(?:白羊|牡羊|金牛|双子|巨蟹|狮子|处女|天秤|天蝎|射手|人马|摩羯|魔羯|水瓶|双鱼)座)(?:的|女|男)?$"
)
_GENDER = re.compile(
    r"(?:的?性别)?是(?:个|一个|一名)?(?P<v>男生|女生|男的|女的|男性|女性|男孩子?|女孩子?|妹子|汉子|男|女)$"
)
_JOB_IS = re.compile(
    rf"(?:是|当上?|做)(?:了)?(?:{ZH_NUMBER}年的?)?(?:一|1)?(?:名|个|位|枚|只)?(?P<v>(?:[\u4e00-\u9fffA-Za-z0-9]{{1,12}}的)?{JOB})(?:了|啦|哦|啊|呢|一枚|一名)?$",
    re.IGNORECASE,
)
_TRADE = re.compile(
    r"的?(?:职业|工作|本职(?:工作)?|行业)(?:是|[:：])(?:一名|一个|做|当|个)?(?P<v>[^，,的]{2,14})(?:的)?$"
)
_DOES = re.compile(
    r"(?:是)?(?:做|搞|干)(?P<v>[^，,了过饭梦]{1,12})(?:的|工作|行业)$|是(?P<x>(?:开|卖|教|修|写|画|拍)[^，,了过你他她]{1,8})的$|从事(?P<w>[^，,了过]{2,12}?)(?:的?(?:工作|行业|职业))?$"
)
_DOES_TRADE = re.compile(
    r"(?:在)?做(?P<v>[\u4e00-\u9fffA-Za-z]{0,6}(?:开发|设计|销售|运营|产品|研发|教育|金融|外贸|电商|自媒体|科研|媒体|咨询|IT|测试|翻译|程序|算法|生意))(?:工作)?$"
)
_WORKS_AT = re.compile(
    r"在(?P<v>[^，,]{2,15}?)(?:工作|上班|任职|就职|实习)(?:了|的)?(?:[^，,]{0,6}年了?)?$|(?:就职|任职|供职)于(?P<w>[^，,]{2,15})$"
)
_NOT_A_WORKPLACE = re.compile(r"家$|家里|这|那|一起|努力|认真|哪|拼命|你|他|她|正在|一家|一个|当前|现在|^公司|^单位|办公室|外面")
_WORKS_AS = re.compile(
    rf"在(?P<w>[^，,]{{1,15}}?)(?:里)?(?:当|做|担任|教)(?:一名|一个|个)?(?P<v>{JOB}|数学|语文|英语|物理|化学|历史|书)$",
    re.IGNORECASE,
)
_SCHOOL = r"(?P<v>[\u4e00-\u9fffA-Za-z]{1,12}?(?:大学|学院|中学|高中|一中|小学|学校|师大|理工|北大|清华|复旦|交大|浙大)|清华|北大|复旦|浙大|交大|哈佛|MIT)"
_AT_SCHOOL = re.compile(
    rf"(?:在|就读于|毕业于|毕业自|读的是|上的是|来自|是){_SCHOOL}(?:的?(?:读书|上学|念书|读大学|读研|读博|读|学习|毕业(?:的|了)?|大[一二三四](?:学生)?|研[一二三](?:学生)?|本科生?|博士生?|研究生|学生|的)?)?.{{0,4}}$"
)
_MAJOR = re.compile(
    r"(?:的?(?:大学)?专业是|(?:大学)?(?:学|读|念)的?(?:专业)?(?:是))(?P<v>[^，,的]{2,12})(?:专业)?(?:的)?$|(?:在)?(?:学|读|念)(?P<w>[^，,的]{2,10})专业(?:的)?$|是(?P<x>[^，,的]{2,8})专业的?(?:学生)?$|是学(?P<y>[^，,]{2,8})的$"
)
_GRADE = re.compile(
    r"(?:是|在|在读|上|读|念|现在|已经|刚上|刚升|升)*(?P<v>大[一二三四]|研[一二三]|高[一二三]|初[一二三]|博[一二三四]|[一二三四五六七八九]年级)(?:的?学生|了|生|在读)?$"
)
_PLACE_VALUE = r"(?P<v>[\u4e00-\u9fffA-Za-z·\- ]{2,16}?)"
_PLACE_END = r"(?=已经|快|有?\d|有?[一二三四五六七八九十两几]+(?:年|个月)|好几年|好多年|工作|上班|生活|这边|那边|附近|的|了|呢|啊|哦|啦|$)"
_LIVES = re.compile(
    rf"(?:(?:住|居住|定居|生活|长居|常住|旅居|租房)(?:在|于)|住(?={PLACE})|人在|现居|居于|坐标|(?:全|我们?)?家搬(?:到|来|去)了?|家住在?|(?:的)?家(?:就)?在|的?住址是|搬(?:家)?(?:到|来|去)了?|搬(?:回)了?|在){_PLACE_VALUE}{_PLACE_END}"
)
_LIVES_IN = re.compile(rf"在{_PLACE_VALUE}(?:生活|定居|居住|住|租房)")
_NOT_A_PLACE = re.compile(
    r"一个|一间|一栋|这里|那里|这儿|那儿|家里?$|宿舍|学校|公司|酒店|附近|外面|楼|一起|哪|隔壁|你|他|她|心|医院|别人|路上|民宿|房|乡下$|城里$|远|里面|^的|边$|忙|想|看|听|等|家$"
)
_HOMETOWN = re.compile(
    rf"(?:的?(?:老家|家乡|故乡|籍贯)(?:是|在)?|来自|出生(?:在|于)|生在|从小在|长大在|是从){_PLACE_VALUE}(?=的|来|长大|人?$)"
    rf"|是(?:个|一个)?(?:土生土长的?|地道的?|地地道道的?|正宗的?)?(?P<w>{PLACE})(?:本地)?(?:人|的|妹子|小伙|姑娘|仔|男生|女生|来的)$"
    r"|是(?:个|一个)?(?P<x>[\u4e00-\u9fff]{2,5}(?:省|市|县))人$"
)


def find(said: Said) -> Iterator[Found]:
    """Find what the user says of who they are."""
    yield from _address(said)
    if said.subject is Subject.WE and not said.is_past:
        yield from _place(said)
    if said.subject not in {Subject.USER, Subject.NONE}:
        return
    yield from _birthday(said)
    if said.is_past:
        return
    for rule in (_names, _years, _marks, _work, _study, _place):
        yield from rule(said)


def _sure(said: Said) -> float:
    return LIKELY if said.left_out else SURE


def _address(said: Said) -> Iterator[Found]:
    found = _ADDRESS.match(said.whole)
    if not found or _REFUSED.search(said.whole):
        return
    name = tidy(found["v"])
    if name and not _NOT_A_NAME.match(name):
        yield Found("basic_info.address", name, _imperative(said))


def _imperative(said: Said) -> str:
    """A wish has no subject to be added."""
    return said.content.removeprefix("我") if said.left_out else said.content


def _names(said: Said) -> Iterator[Found]:
    text = said.predicate
    named = _NAMED.match(text)
    called = _CALLED.match(text) if not said.left_out or said.subject is Subject.USER else None
    found = named or called
    if found:
        name = tidy(found["v"])
        if name and not _NOT_A_NAME.match(name):
            # After "我住的小区不错" the name that follows is not the user's.
            if said.left_out and said.subject is Subject.NONE and not said.clause.opens:
                return
            key = _NAME_WORDS[named["w"]] if named else "name"
            yield Found(f"basic_info.{key}", name, said.content, confidence=_sure(said))
        return
    surname = _SURNAME.match(text)
    if surname and surname["n"]:
        yield Found("basic_info.name", surname["v"] + surname["n"], said.content)
    elif surname:
        yield Found("basic_info.surname", surname["v"], said.content)
    plain = _I_AM_NAME.match(text)
    if plain and not said.left_out and not _NO_NAME_SO.match(plain["v"]):
        yield Found("basic_info.name", plain["v"], said.content, confidence=LIKELY)


def _birthday(said: Said) -> Iterator[Found]:
    whole = said.whole
    if not _BIRTHDAY.search(whole) or re.search(r"不是|礼物|蛋糕|派对|聚会|快乐|不过生日", whole):
        return
    if re.search(r"(?<!出)生日", whole) and not _OWN_BIRTHDAY.search(whole):
        return
    day = dates.calendar_date(whole, said.now.date())
    lunar = dates.lunar(whole)
    if lunar:
        yield Found(
            "basic_info.birthday", lunar, said.content, attributes={"date_text": lunar, **_YEARLY}
        )
    elif day:
        yield _born(said, str(day))
    elif re.search(r"(?<!出)生日", whole):
        mention = dates.find(whole, said.now)
        if mention and mention.span.is_day:
            yield _born(said, mention.span.start.strftime("%m-%d"))


_YEARLY = {"event_type": "birthday", "recurrence": "yearly"}


def _born(said: Said, day: str) -> Found:
    return Found(
        "basic_info.birthday",
        day,
        said.content,
        attributes={"date": day, **_YEARLY},
        confidence=_sure(said),
    )


def _years(said: Said) -> Iterator[Found]:
    text = said.predicate
    age = _AGE.match(text) or _AGE.match(said.whole.removeprefix("我"))
    if age and not re.search(
        r"快|马上|不到|差不多|左右|将近|心理年龄|明年|后年|等我|到我|的时候", said.whole
    ):
        number = zh_number(age["n"] or age["m"])
        if 3 <= number <= 120:
            yield Found("basic_info.age", str(number), said.content, confidence=_sure(said))
    born = _BIRTH_YEAR.match(text)
    if born and not said.left_out:
        year = dates_zh.full_year(born["y"] or born["y2"], said.now.date())
        if 1900 <= year <= said.now.year:
            yield Found("basic_info.birth_year", str(year), said.content)


def _marks(said: Said) -> Iterator[Found]:
    for key, pattern in (("zodiac", _ZODIAC), ("star_sign", _STAR), ("gender", _GENDER)):
        found = pattern.match(said.predicate)
        if found:
            value = (
                re.sub(r"(?:的|生|性|孩子|孩)$", "", found["v"]) if key == "gender" else found["v"]
            )
            value = {"妹子": "女", "汉子": "男"}.get(value, value)
            yield Found(f"basic_info.{key}", value, said.content, confidence=_sure(said))


def _work(said: Said) -> Iterator[Found]:
    text = said.predicate
    if said.is_passing and "最近" not in said.whole:
        return
    works_as = _WORKS_AS.match(text)
    if works_as:
        job = (
            works_as["v"]
            if not re.match(r"数学|语文|英语|物理|化学|历史|书$", works_as["v"])
            else works_as[0][works_as[0].rindex("教") :]
        )
        yield Found("basic_info.job", tidy(job), said.content, confidence=_sure(said))
        return
    found = (
        _JOB_IS.match(text) or _TRADE.match(text) or _DOES_TRADE.match(text) or _DOES.match(text)
    )
    if found:
        value = tidy(next(part for part in found.groupdict().values() if part))
        value = value.rsplit("的", 1)[-1]
        if value and not re.search(
            r"你|他|她|自己|好事|坏事|这个|那个|这行|什么|一样|喜欢|人$|对$|大事|不", value
        ):
            yield Found("basic_info.job", value, said.content, confidence=_sure(said))
    at = _WORKS_AT.match(text)
    if at:
        place = tidy(at["v"] or at["w"])
        if not _NOT_A_WORKPLACE.search(place):
            yield Found("basic_info.workplace", place, said.content, confidence=_sure(said))


def _study(said: Said) -> Iterator[Found]:
    text = said.predicate
    school = _AT_SCHOOL.match(text)
    if school and not re.search(r"老师|教|上班|工作|一所|某|附近|旁边|门口|对面|住", text):
        yield Found("basic_info.school", school["v"], said.content, confidence=_sure(said))
    major = _MAJOR.match(text)
    if major:
        value = tidy(next(part for part in major.groupdict().values() if part)).removesuffix("专业")
        yield Found("basic_info.major", value, said.content, confidence=_sure(said))
    grade = _GRADE.match(text)
    if grade and "学生" not in text:
        yield Found("basic_info.grade", grade["v"], said.content, confidence=_sure(said))


def _place(said: Said) -> Iterator[Found]:
    text = said.predicate
    hometown = _HOMETOWN.match(text)
    if hometown:
        value = tidy(hometown["v"] or hometown["w"] or hometown["x"]).removesuffix("人")
        if value and not _NOT_A_PLACE.search(value):
            yield Found("basic_info.hometown", value, said.content, confidence=_sure(said))
        return
    if said.is_passing:
        return
    lives = _LIVES_IN.match(text) or _LIVES.match(text)
    if not lives or (
        text.startswith("在")
        and lives.re is _LIVES
        and not re.fullmatch(rf"在{PLACE}(?:这边|那边)?", text)
    ):
        return
    value = re.sub(r"^(?:了|在)|(?:这个小区|这个地方)$", "", tidy(lives["v"]))
    if len(value) >= 2 and not _NOT_A_PLACE.search(value):
        yield Found("basic_info.place", value, said.content, confidence=_sure(said))
