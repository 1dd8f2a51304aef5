"""Chinese word lists of the rules: jobs, places, relatives and animals."""

from __future__ import annotations

_JOB_WORDS = (
    "工程师 程序员 程序猿 程序媛 码农 设计师 老师 教师 医生 大夫 护士 律师 会计 教授 "
    "讲师 经理 总监 主管 助理 秘书 "
    "记者 编辑 作家 作者 画家 歌手 演员 导演 编剧 司机 警察 军人 士兵 公务员 销售 运营 "
    "学生 研究生 博士生 博士 "
    "硕士 大学生 高中生 初中生 小学生 本科生 医学生 留学生 实习生 自由职业者 自由职业 "
    "博主 主播 up主 翻译 科学家 "
    "顾问 教练 店长 店主 老板 创业者 个体户 农民 工人 电工 木工 保安 骑手 空姐 空乘 机长 "
    "导游 模特 裁缝 牙医 兽医 "
    "中医 法官 检察官 法医 审计 财务 出纳 人事 hr 客服 清洁工 家庭主妇 全职妈妈 全职太太 "
    "全职爸爸 音乐人 音乐家 "
    "舞者 作曲家 前端 后端 测试 运维 开发者 开发 投资人 保姆 社工 职员 白领 上班族 "
    "打工人 社畜 技工 采购 策划 文案 "
    "美工 漫画家 小说家 诗人 校长 院长 主任 厨子 大厨 船长 选手 护工 班主任 developer "
    "engineer designer teacher doctor "
    "nurse student manager pm freelancer analyst consultant intern lawyer chef "
    "行政 人力 文员 前台 收银 法务 公关 保洁 快递 外卖 "
    "撰稿人 主持人 经纪人 媒体人 合伙人 创始人 "
    "辅警 民警 交警 特警 消防兵 武警 钳工 焊工 瓦工 匠人"
)
_NOT_JOBS = "会员|成员|党员|团员|一员|人员|动员|官员们|大师|老师傅|律师函|球员卡|幸存者"
JOB = (
    rf"(?!(?:{_NOT_JOBS})$)(?:[\u4e00-\u9fffA-Za-z+#/ ]{{0,12}}?(?:{'|'.join(_JOB_WORDS.split())})"
    r"|[\u4e00-\u9fff]{1,8}(?:师|员))"
)

_PLACE_WORDS = (
    "北京 上海 天津 重庆 河北 山西 辽宁 吉林 黑龙江 江苏 浙江 安徽 福建 江西 山东 河南 "
    "湖北 湖南 广东 海南 四川 贵州 "
    "云南 陕西 甘肃 青海 台湾 内蒙古 内蒙 广西 西藏 宁夏 新疆 香港 澳门 东北 广州 深圳 "
    "成都 杭州 武汉 西安 南京 苏州 "
    "长沙 郑州 青岛 大连 厦门 宁波 沈阳 哈尔滨 长春 济南 合肥 福州 南昌 昆明 贵阳 南宁 "
    "海口 三亚 兰州 太原 石家庄 "
    "无锡 常州 温州 佛山 东莞 珠海 中山 惠州 汕头 潮汕 泉州 烟台 威海 洛阳 桂林 大理 "
    "丽江 拉萨 乌鲁木齐 呼和浩特 银川 "
    "西宁 徐州 扬州 绍兴 嘉兴 金华 台州 南通 芜湖 绵阳 德阳 宜昌 株洲 台北 高雄 台中 "
    "中国 日本 韩国 美国 英国 法国 "
    "德国 加拿大 澳大利亚 澳洲 新西兰 新加坡 马来西亚 泰国 越南 印度 俄罗斯 意大利 "
    "西班牙 巴西 东京 大阪 京都 首尔 "
    "纽约 伦敦 巴黎 柏林 旧金山 洛杉矶 西雅图 多伦多 温哥华 悉尼 墨尔本 曼谷 欧洲 冰岛 "
    "瑞士 荷兰 瑞典 挪威 芬兰 埃及"
)
PLACE = (
    rf"(?:{'|'.join(sorted(_PLACE_WORDS.split(), key=len, reverse=True))})(?:[省市区县]|自治区)?"
)

_KIN = {
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
KIN = {word: key for key, words in _KIN.items() for word in words.split()}
# Only the name of these people is stored; other facts about them are not the user's.
DISTANT = frozenset(
    {
        "friend",
        "best_friend",
        "roommate",
        "colleague",
        "classmate",
        "boss",
        "teacher",
        "neighbor",
        "ex",
        "idol",
        "family",
        "subordinate",
        "client",
        "schoolmate",
        "landlord",
        "acquaintance",
    }
)

_PETS = {
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
PETS = {word: key for key, words in _PETS.items() for word in words.split()}


def _longest_first(words: dict[str, str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


KIN_WORD = f"(?:{_longest_first(KIN)})"
PET_WORD = f"(?:{_longest_first(PETS)})"

_TRAIT_WORDS = (
    "内向 外向 社恐 社牛 敏感 乐观 悲观 慢热 细心 粗心 急性子 慢性子 完美主义者 完美主义 "
    "强迫症 拖延症 拖延 夜猫子 幽默 害羞 "
    "腼腆 自卑 自信 独立 固执 倔强 倔 随和 直率 直爽 好强 要强 感性 理性 安静 话痨 话多 "
    "话少 路痴 i人 e人 佛系 重感情 怕生 认生 "
    "健忘 宅 爱哭 心软 念旧 好奇心强 责任心强 胆小 开朗 活泼 沉默寡言 多愁善感 脸盲 "
    "起床困难户 洁癖 有洁癖 选择困难症 "
    "选择困难 社交恐惧 工作狂 吃货 急躁 有耐心 没耐心 没有耐心 容易紧张 容易焦虑 "
    "容易害羞 爱操心 慢性子 纠结 玻璃心 "
    "直男 铁憨憨 文艺 浪漫 务实 自律 懒 较真 认真 怕麻烦 好动 好静 内敛 热情 高冷 毒舌 "
    "嘴硬 三分钟热度 记性差 记性不好"
)
TRAIT = f"(?:{'|'.join(sorted(_TRAIT_WORDS.split(), key=len, reverse=True))})"
