"""Memory keys: one key per topic, whichever language it was stated in."""

from __future__ import annotations

import re
import unicodedata

from plastic_memories.language.text.lazy_regex import regex

_SLUG_LENGTH = 40
_NOT_WORD = regex(r"[^\w]+")
_ARTICLE = regex(r"^(?:the|a|an|my|some|all|any|all kinds of)\s+", re.IGNORECASE)

# Chinese words, then English synonyms; the slug becomes a part of the key.
_SYNONYMS = """
seafood 海鲜|海产品|seafood
shrimp 虾|虾子|大虾|shrimp|shrimps|prawns
crab 蟹|螃蟹|crab|crabs
shellfish 贝类|甲壳类|shellfish
fish 鱼|鱼类|fish
peanut 花生|peanut|peanuts
nut 坚果|nut|nuts|tree nuts
almond 杏仁|almond|almonds
milk 牛奶|奶|milk
dairy 乳制品|奶制品|dairy|dairy products
lactose 乳糖|lactose
egg 鸡蛋|蛋|egg|eggs
wheat 小麦|wheat
gluten 麸质|面筋|gluten
soy 大豆|黄豆|soy|soybeans
sesame 芝麻|sesame
mango 芒果|mango|mangoes|mangos
strawberry 草莓|strawberry|strawberries
pineapple 菠萝|凤梨|pineapple|pineapples
peach 桃子|桃|桃毛|peach|peaches
pollen 花粉|pollen
dust_mite 尘螨|螨虫|dust mites
dust 灰尘|粉尘|dust
cat 猫|猫咪|小猫|cat|cats
cat_hair 猫毛|cat hair|cat fur
dog 狗|狗狗|小狗|dog|dogs
penicillin 青霉素|盘尼西林|penicillin
cephalosporin 头孢|头孢类|cephalosporin
aspirin 阿司匹林|aspirin
alcohol 酒精|酒|alcohol
latex 乳胶|latex
cilantro 香菜|芫荽|cilantro|coriander
spicy 辣|辣的|辣椒|辣味|spicy|spicy food
pork 猪肉|pork
beef 牛肉|beef
lamb 羊肉|lamb|mutton
meat 肉|肉类|meat
onion 洋葱|onion|onions
garlic 大蒜|蒜|garlic
scallion 葱|scallion|scallions
celery 芹菜|celery
bitter_melon 苦瓜|bitter melon
durian 榴莲|durian
sugar 糖|sugar
sweets 甜食|甜的|甜品|sweets|sweet food
caffeine 咖啡因|caffeine
coffee 咖啡|coffee
tea 茶|tea
green_tea 绿茶|green tea
milk_tea 奶茶|milk tea|bubble tea
beer 啤酒|beer
hotpot 火锅|hotpot|hot pot
noodles 面条|面|noodles
rice 米饭|rice
dumplings 饺子|dumplings
sushi 寿司|sushi
pizza 披萨|pizza
chocolate 巧克力|chocolate
fruit 水果|fruit|fruits
vegetables 蔬菜|vegetables
vegetarian 素食|素|吃素|素食主义者|素食者|vegetarian
vegan 纯素|纯素食|纯素食者|纯素食主义者|严格素食者|vegan
halal 清真|清真食品|halal
running 跑步|running|run
swimming 游泳|swimming|swim
hiking 爬山|登山|徒步|hiking|hike
reading 看书|读书|阅读|reading|read|reading books
music 音乐|听音乐|听歌|music|listening to music
movies 电影|看电影|movies|watching movies|films
basketball 篮球|打篮球|basketball|playing basketball
football 足球|踢足球|football|soccer
badminton 羽毛球|打羽毛球|badminton
games 游戏|打游戏|玩游戏|games|video games|playing games
travel 旅行|旅游|travel|traveling|travelling
photography 摄影|拍照|photography
painting 画画|绘画|painting|drawing
piano 钢琴|弹钢琴|piano|playing piano|playing the piano
guitar 吉他|弹吉他|guitar|playing guitar|playing the guitar
singing 唱歌|singing|sing
dancing 跳舞|dancing|dance
cooking 做饭|做菜|烹饪|cooking|cook
sleep 睡觉|睡懒觉|sleeping
rain 下雨|雨天|rain|rainy days
snow 下雪|雪天|snow
blue 蓝色|blue
red 红色|red
green 绿色|green
black 黑色|black
white 白色|white
purple 紫色|purple
pink 粉色|粉红色|pink
yellow 黄色|yellow
introverted 内向|introvert|introverted
extroverted 外向|extrovert|extroverted|outgoing
shy 害羞|腼腆|怕生|shy
sensitive 敏感|sensitive
optimistic 乐观|optimistic|optimist
pessimistic 悲观|pessimistic|pessimist
perfectionist 完美主义|完美主义者|perfectionist
night_owl 夜猫子|night owl
early_bird 早起的鸟儿|early bird|early riser|morning person
smoking 抽烟|吸烟|烟|smoking|smoke|cigarettes
diabetes 糖尿病|diabetes|diabetic
asthma 哮喘|asthma|asthmatic
hypertension 高血压|hypertension|high blood pressure
depression 抑郁症|depression
snake 蛇|snake|snakes
spider 蜘蛛|spider|spiders
heights 高|heights
dark 黑|the dark
work 工作|work|my job
"""
_SLUGS = {
    word: line.split(" ", 1)[0]
    for line in _SYNONYMS.strip().splitlines()
    for word in line.split(" ", 1)[1].split("|")
}


def slug(text: str) -> str:
    """Return the part of a key for a value, the same in both languages.

    >>> slug("海鲜"), slug("Sea food"), slug("peanuts"), slug("老上海的弄堂")
    ('seafood', 'sea_food', 'peanut', '老上海的弄堂')
    """
    plain = unicodedata.normalize("NFKC", text).strip().lower()
    plain = _ARTICLE.sub("", plain)
    if plain in _SLUGS:
        return _SLUGS[plain]
    return _NOT_WORD.sub("_", plain).strip("_")[:_SLUG_LENGTH].strip("_") or "other"


_ADDITIVE_WISH = regex(r"^(?:不要|别|少|不用|多|do not|never|no |stop|avoid|use )")


def style_key(value: str) -> str:
    """Return the key of a reply-style wish: one general style, any number of dos and don'ts.

    >>> style_key("简洁"), style_key("别太长")
    ('preference.reply_style', 'preference.reply_style.别太长')
    """
    return (
        f"preference.reply_style.{slug(value)}"
        if _ADDITIVE_WISH.match(value)
        else "preference.reply_style"
    )


_OPPOSITES = (("preference.like.", "preference.dislike."),)


def opposite_key(key: str) -> str | None:
    """Return the contradicting key: a like ends a dislike of the same thing."""
    for one, other in _OPPOSITES:
        if key.startswith(one):
            return other + key[len(one) :]
        if key.startswith(other):
            return one + key[len(other) :]
    return None


FAVORITES = {
    "食物": "food",
    "菜": "food",
    "美食": "food",
    "吃的": "food",
    "颜色": "color",
    "电影": "movie",
    "歌": "song",
    "歌曲": "song",
    "音乐": "music",
    "歌手": "singer",
    "书": "book",
    "小说": "book",
    "运动": "sport",
    "动物": "animal",
    "水果": "fruit",
    "季节": "season",
    "游戏": "game",
    "动漫": "anime",
    "番": "anime",
    "动画": "anime",
    "城市": "city",
    "饮料": "drink",
    "饮品": "drink",
    "喝的": "drink",
    "作家": "author",
    "作者": "author",
    "演员": "actor",
    "明星": "star",
    "花": "flower",
    "数字": "number",
    "乐队": "band",
    "电视剧": "show",
    "剧": "show",
    "零食": "snack",
    "甜点": "dessert",
    "甜品": "dessert",
    "科目": "subject",
    "球队": "team",
    "球星": "player",
    "角色": "character",
    "编程语言": "programming_language",
    "语言": "language",
    "节日": "holiday",
    "口味": "flavor",
    "蔬菜": "vegetable",
    "宠物": "pet",
    "品牌": "brand",
    "天气": "weather",
    "诗人": "poet",
    "画家": "painter",
    "导演": "director",
    "咖啡": "coffee",
    "茶": "tea",
    "地方": "place",
    "国家": "country",
    "colour": "color",
    "film": "movie",
    "tv show": "show",
    "series": "show",
    "dish": "food",
    "meal": "food",
    "cuisine": "food",
    "writer": "author",
    "movies": "movie",
    "musician": "singer",
}


def favorite_key(category: str) -> str:
    """Return the key of a favourite in a category.

    >>> favorite_key("颜色"), favorite_key("colour"), favorite_key("ice cream")
    ('preference.favorite_color', 'preference.favorite_color', 'preference.favorite_ice_cream')
    """
    plain = category.strip().lower()
    return f"preference.favorite_{FAVORITES.get(plain) or slug(plain)}"
