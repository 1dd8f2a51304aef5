"""Weak labels: the kind of a fact by its words, and facts that pass within a day."""

from __future__ import annotations

import re

from plastic_memories.language.gate.kinds import StatementKind as Kind

_FLAGS = re.IGNORECASE
_KIN_EN = (
    r"\b(?:mom|mum|mother|dad|father|parents?|brothers?|sisters?|siblings?|wife|husband|spouse|"
    r"married|divorced|single|boyfriend|girlfriend|fianc\w+|sons?|daughters?|kids?|child|"
    r"children|grand\w+|aunt|uncle|cousins?|nephews?|nieces?|twins?|family|partner|in-laws?)\b"
)
_KIN_ZH = (
    "爸|妈|父|母|哥|姐|弟|妹|兄|老公|老婆|丈夫|妻子|儿子|女儿|孩子|爷爷|奶奶|外公|外婆|姥|叔|舅|姑|姨|"
    "家人|男朋友|女朋友|男友|女友|结婚|离婚|单身|未婚|对象|表[哥姐弟妹]|堂"
)
_PET = r"\b(?:dogs?|cats?|pets?|pupp\w+|kittens?|hamsters?|parrots?|rabbits?|horses?|goldfish)\b"
# In order: the first that matches is the kind.
_PATTERNS: tuple[tuple[Kind, str], ...] = (
    (Kind.NAME, r"\bmy name is\b|\bi am called\b|\bcall me\b|\bnickname\b|我叫|名字|我姓"),
    (Kind.BIRTHDAY, r"\bbirthday\b|\bborn (?:on|in [a-z]+ \d|in \d)|生日|出生于?\d|[一-龥]{2}座$"),
    (Kind.ALLERGY, r"\ballerg|\bintoleran|过敏|不耐受"),
    (Kind.MEDICATION, r"\bmedic(?:ine|ation)s?\b|\bpills?\b|\binsulin\b|\bantidepress|吃药|服药|胰岛素"),
    (Kind.DIET, r"\bvegan|\bvegetarian|\bgluten|\bkosher|\bhalal|\bon a diet\b|\bdon'?t (?:eat|drink)"
     r"|\bdo not (?:eat|drink)|\bketo\b|\bcan(?:no|')t eat|吃素|素食|不吃|不喝|不能吃|减肥|忌口|麸质"),
    (Kind.HEALTH, r"\bdiabet|\bcancer\b|\basthma|\bdepress(?!ing)|\banxiety\b|\bdisab|\bsurgery\b|"
     r"\binjur|\billness\b|\bdisease\b|\bautis|\bmigraine|\bpregnan|\bdeaf\b|\bblind\b|\binsomnia|"
     r"\bhealth (?:issue|problem|condition)|\bbad (?:back|knee)|\barthrit|\bsick\b|近视|糖尿|癌|哮喘|抑郁|"
     r"失眠|手术|受伤|怀孕|残疾|生病|疾病|高血压|病$"),
    (Kind.PET, _PET + "|狗|猫|宠物|仓鼠|鹦鹉|兔子"),
    (Kind.FAMILY, _KIN_EN + "|" + _KIN_ZH),
    (Kind.SCHOOL, r"\bcollege\b|\buniversity\b|\bschool\b|\bstudent\b|\bstudy(?:ing)?\b|\bmajor|"
     r"\bdegree\b|\bclass(?:es)?\b|大学|学校|学生|专业|学位|读书$|上学|考研|高中|硕士|毕业"),
    (Kind.WORK, r"\bwork(?:s|ed|ing)?\b|\bjobs?\b|\bboss\b|\bcareer\b|\bretired\b|\bunemployed\b|"
     r"\bi (?:am|was|'m) an? [\w ]*(?:er|or|ist|ian|nurse|chef|cook|clerk|agent|manager)\b|\bcompany\b|"
     r"\bbusiness\b|\bfreelance|\boffice\b|工作|上班|公司|职业|老师|医生|律师|工程师|程序员|老板|退休|失业|"
     r"同事|警察|厨师|一名|护士"),
    (Kind.HOME, r"\blive[sd]? (?:in|on|with|near|at|alone)\b|\bi(?:'m| am| was| come)? (?:born )?from\b|"
     r"\bgrew up\b|\bmoved? to\b|\bmy (?:house|apartment|home)\b|\bhometown\b|住在|住|老家|家乡|来自|"
     r"是[一-龥]{2,3}人|公寓|搬"),
    (Kind.DISLIKE, r"\bhate|\bdislike|\bdo(?:n'?t| not) (?:\w+ )?(?:like|enjoy|care)|\bafraid of\b|"
     r"\bscared of\b|\bfear\b|\bnot a fan\b|讨厌|不喜欢|不爱|害怕|怕"),
    (Kind.PLAN, r"\bplan(?:s|ning)?\b|\bgoing to\b|\bwant to\b|\bwould like\b|\bhope to\b|\bwill be\b|"
     r"\bsaving (?:up )?(?:for|to)\b|\blooking (?:for|to)\b|\bnext (?:week|month|year)|打算|计划|"
     r"我想|梦想|希望|准备|将来|以后"),
    (Kind.LIKE, r"\blike|\blove|\benjoy|\bfavou?rite\b|\bfan of\b|\bprefer|\binterested in\b|\bhobb|"
     r"\bpassion|\binto\b|喜欢|爱|最喜|热爱|兴趣|偏好|迷"),
    (Kind.HABIT, r"\busually\b|\balways\b|\boften\b|\bevery (?:day|week|morning|night|year|sunday)|"
     r"\bspend\b|\bregularly\b|\bnever\b|\bsometimes\b|\bi (?:play|run|swim|read|cook|bake|garden|hike|"
     r"travel|drive|collect|volunteer|drink|eat|watch|listen|wake|exercise|crochet|knit|paint|dance)\b|"
     r"每天|每周|每个|经常|平时|总是|习惯|从不|偶尔|常常"),
    (Kind.EVENT, r"\brecently\b|\bjust (?:got|moved|bought|started|finished)|\blast (?:week|month|year)|"
     r"\bwent to\b|\bpassed away\b|\bdied\b|\bbought\b|\bgot\b|\bused to\b|刚|昨天|上周|去年|去世|买了|曾"),
)  # fmt: skip
_KINDS = tuple((kind, re.compile(pattern, _FLAGS)) for kind, pattern in _PATTERNS)
_PASSING = re.compile(
    r"^i(?:'m| am) (?:\w+ )?(?:hungry|tired|bored|sleepy|excited|happy|glad|sorry|good|fine|great|okay|"
    r"ok|well|doing|curious|jealous|sad|ready|here|not sure|busy|surprised|nervous|confused|cold|hot|"
    r"going to (?:bed|sleep)|thinking|looking forward)\b|^i (?:hope|wish|think|agree|don't know|know|"
    r"feel|am having|had a (?:good|great|nice)|can relate|understand|would love|believe|guess)\b|"
    r"^it is\b|^(?:she|he|they|you)\b|^(?:is|was|are)\b",
    _FLAGS,
)


def kind_of_fact(text: str) -> Kind:
    """Return the kind that the words of a fact show.

    >>> kind_of_fact("我有两条狗").value, kind_of_fact("I am a nurse.").value
    ('pet', 'work')
    """
    return next((kind for kind, pattern in _KINDS if pattern.search(text)), Kind.OTHER)


def is_passing(text: str) -> bool:
    """Return whether a fact is a state or an opinion of the moment.

    >>> is_passing("I am hungry."), is_passing("I have a dog.")
    (True, False)
    """
    return _PASSING.search(text) is not None
