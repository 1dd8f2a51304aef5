"""Words for the people and pets of the user, by the part of the key they stand for."""

from __future__ import annotations

import re

from plastic_memories.language.text.lazy_regex import regex
from plastic_memories.language.text.tokens import READ_CHARS

_CHINESE_KIN_WORDS = {
    "mother": "妈妈 妈 母亲 老妈 老母亲 我娘",
    "father": "爸爸 爸 父亲 老爸 老爹",
    "parents": "爸妈 父母",
    "brother": "哥哥 弟弟 大哥 二哥 哥 弟",
    "sister": "姐姐 妹妹 大姐 姐 妹",
    "wife": "老婆 妻子 太太 媳妇 爱人",
    "husband": "老公 丈夫",
    "boyfriend": "男朋友 男友",
    "girlfriend": "女朋友 女友",
    "partner": "对象 伴侣 另一半",
    "fiance": "未婚夫 未婚妻",
    "ex": "前男友 前女友 前任 前夫 前妻",
    "son": "儿子 大儿子 小儿子",
    "daughter": "女儿 闺女 大女儿 小女儿",
    "child": "孩子 宝宝 小孩 娃",
    "grandfather": "爷爷 外公 姥爷",
    "grandmother": "奶奶 外婆 姥姥",
    "family": "家人 家里人 亲戚",
    "in_law": "公公 婆婆 岳父 岳母 嫂子 姐夫 妹夫 弟媳",
    "subordinate": "下属 部下 手下 徒弟 助理 实习生",
    "client": "客户",
    "schoolmate": "学长 学姐 学弟 学妹 师兄 师姐 师弟 师妹 校友",
    "landlord": "房东",
    "acquaintance": "网友 队友 搭档 合伙人 师傅 班主任",
    "cousin": "表哥 表弟 表姐 表妹 堂哥 堂弟 堂姐 堂妹",
    "uncle": "叔叔 舅舅 伯伯 伯父 姑父 姨父 大伯 二叔",
    "aunt": "阿姨 姑姑 姑妈 舅妈 婶婶 姨妈 大姨 小姨 伯母",
    "nephew": "侄子 外甥",
    "niece": "侄女 外甥女",
    "twins": "双胞胎",
    "best_friend": "最好的朋友 好朋友 闺蜜 死党 发小 好兄弟 好基友",
    "friend": "朋友 好友 哥们",
    "roommate": "室友 舍友",
    "colleague": "同事",
    "classmate": "同学 同桌",
    "boss": "老板 领导 上司 上级",
    "teacher": "老师 导师",
    "neighbor": "邻居",
    "idol": "偶像",
}
_CHINESE_PET_WORDS = {
    "cat": "cat 猫 猫咪 猫猫 猫主子 "
    "小猫 小猫咪 橘猫 英短 布偶 布偶猫 美短 暹罗猫 狸花猫 加菲猫 黑猫 白猫 "
    "三花猫 三花 奶牛猫 缅因猫 流浪猫 主子",
    "dog": "dog 狗 狗狗 小狗 狗子 狗勾 "
    "柯基 金毛 哈士奇 二哈 泰迪 柴犬 拉布拉多 边牧 萨摩耶 吉娃娃 博美 比熊 "
    "法斗 贵宾犬 土狗 狼狗 中华田园犬 "
    "田园犬 雪纳瑞 边境牧羊犬 流浪狗",
    "hamster": "仓鼠",
    "rabbit": "兔子 兔兔 小兔子",
    "parrot": "鹦鹉",
    "turtle": "乌龟 龟",
    "fish": "金鱼 鱼 热带鱼",
    "bird": "鸟 小鸟",
    "snake": "蛇",
    "lizard": "蜥蜴 守宫",
    "hedgehog": "刺猬",
    "chinchilla": "龙猫",
    "guinea_pig": "豚鼠 荷兰猪",
    "duck": "鸭子 柯尔鸭",
    "pet": "宠物",
}
ENGLISH_KIN = {
    "mother": "mother|mom|mum|mommy|mama",
    "father": "father|dad|daddy|papa",
    "parents": "parents",
    "brother": "brothers?",
    "sister": "sisters?",
    "wife": "wife",
    "husband": "husband",
    "boyfriend": "boyfriend",
    "girlfriend": "girlfriend",
    "partner": "partner",
    "fiance": "fianc[eé]e?",
    "son": "sons?",
    "daughter": "daughters?",
    "child": "child|children|kids?|baby",
    "grandfather": "grandfather|grandpa|granddad",
    "grandmother": "grandmother|grandma|granny|nana",
    "cousin": "cousins?",
    "uncle": "uncle",
    "aunt": "aunt",
    "nephew": "nephews?",
    "niece": "nieces?",
    "twins": "twins",
    "best_friend": "best friend",
    "friend": "friend",
    "roommate": "roommate|flatmate",
    "colleague": "colleague|coworker",
    "classmate": "classmate",
    "boss": "boss",
    "teacher": "teacher",
    "neighbor": "neighbou?r",
}
ENGLISH_PETS = {
    "cat": "cats?|kittens?|kitty",
    "dog": "dogs?|puppy|puppies|corgi|golden retriever|retriever|husky|poodle|labrador|beagle|"
    "border collie|shiba(?: inu)?|dachshund|german shepherd",
    "hamster": "hamsters?",
    "rabbit": "rabbits?|bunny|bunnies",
    "parrot": "parrots?",
    "turtle": "turtles?|tortoise",
    "fish": "goldfish|fish",
    "bird": "birds?|parakeets?|budgies?",
    "snake": "pet snake|snakes?",
    "lizard": "lizards?|gecko",
    "hedgehog": "hedgehogs?",
    "guinea_pig": "guinea pigs?",
    "horse": "horses?",
    "ferret": "ferrets?",
}
# Of these only the name is the user's to tell; the rest is about somebody else.
DISTANT_RELATIONS = frozenset({
    "friend", "best_friend", "roommate", "colleague", "classmate", "boss", "teacher", "neighbor",
    "ex", "idol", "family", "subordinate", "client", "schoolmate", "landlord", "acquaintance",
})  # fmt: skip


def _keys_by_word(words_by_key: dict[str, str]) -> dict[str, str]:
    return {word: key for key, words in words_by_key.items() for word in words.split()}


def _longest_first(words: dict[str, str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


CHINESE_KIN = _keys_by_word(_CHINESE_KIN_WORDS)
CHINESE_PETS = _keys_by_word(_CHINESE_PET_WORDS)
CHINESE_KIN_WORD = f"(?:{_longest_first(CHINESE_KIN)})"
CHINESE_PET_WORD = f"(?:{_longest_first(CHINESE_PETS)})"
ENGLISH_KIN_WORD = f"(?:{'|'.join(ENGLISH_KIN.values())})"
ENGLISH_PET_WORD = f"(?:{'|'.join(ENGLISH_PETS.values())}|pet)"


# What is said of relatives and friends, or only supposed, is not said of the speaker.
_OF_OTHERS = regex(
    r"我(?:的)?(?:爸|妈|父|母|哥|姐|弟|妹|爷|奶|外婆|外公|姥|舅|姑|姨|叔|婶|孩子|儿子|女儿|闺女|"
    r"朋友|同事|同学|室友|细佬|阿妈|阿爸|家人|父母)|^(?:他|她|佢)|要是|如果|假如|万一|"
    r"\b(?:my (?:mum|mom|mother|dad|father|parents|sister|brother|son|daughter|kid|kids|friend|"
    r"cousin|aunt|uncle|grandma|grandpa|nan)|if i|if we)\b",
    re.IGNORECASE,
)


def is_of_others_or_supposed(text: str) -> bool:
    """Return whether a statement is about somebody close to the speaker, or only supposed.

    >>> is_of_others_or_supposed("我朋友小美对芒果过敏"), is_of_others_or_supposed("我对芒果过敏")
    (True, False)
    """
    return _OF_OTHERS.search(text[:READ_CHARS]) is not None
