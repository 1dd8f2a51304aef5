"""Which sentences hold something sensitive, and which only look as if they did."""

from __future__ import annotations

import pytest

from plastic_memories.rules.privacy.sensitive_spans import (
    SensitiveSpan,
    find_credentials,
    find_sensitive,
)

# Key-shaped strings are put together here, so that no scanner mistakes this file for a leak.
RANDOM = "a1B2c3D4" * 5
OPENAI = "sk-" + RANDOM
GITHUB = "ghp_" + RANDOM
AWS = "AKIA" + "A1B2C3D4" * 2
SLACK = "xoxb-" + "123456789-" + RANDOM
JWT = ".".join(["eyJ" + RANDOM, "eyJ" + RANDOM, RANDOM])
PEM = f"-----BEGIN RSA {'PRIVATE'} KEY-----\n{RANDOM}\n-----END RSA {'PRIVATE'} KEY-----"

CREDENTIALS = [
    "我的密码是hunter2",
    "密码：abc123",
    "密码:Tr0ub4dor&3",
    "我的银行卡密码是 123456",
    "WiFi密码：TP-Link_5G8888",
    "微信密码就是iloveyou，别告诉别人",
    "账号 bob 密码 qwer1234",
    "锁屏密码1379",
    "密码我改成了hunter2",
    "密码被我设为 s3cret!",
    "密碼是abcd1234",
    "我的密码是芝麻开门",
    "保险箱密码是一三五七九",
    "我的密码是“我的生日”",
    "我的token是abc123def456",
    "令牌：9f8e7d6c5b",
    "验证码是 482913",
    "验证码：4829",
    "PIN码 4821",
    "口令是opensesame",
    "密码（hunter2）",
    "密码→hunter2",
    "私钥：5Kb8kLf9zgWQ",
    "api key是abcd1234efgh",
    "密码是ｈｕｎｔｅｒ２",
    "密\u200b码是hun\u200bter2",
    "助记词是" + " ".join(["apple", "river"] * 6),
    f"这是我的密钥 {OPENAI}，帮我记住",
    f"把{GITHUB}存起来",
    "password is hunter2",
    "My password is swordfish.",
    "my password is swordfish and nobody knows",
    "the password for my gmail is hunter2",
    "the passcode to the garage is 4821#",
    "password: correct-horse-battery",
    'config {"password": "hunter2"}',
    "DB_PASSWORD=hunter2",
    "pwd = qwerty12",
    "my secret password is hunter2",
    "the password was changed to hunter2",
    "my password is still hunter2",
    "token: a1b2c3d4e5",
    "token: mysecrettoken",
    "the wifi password here is coffee2024",
    "Netflix password - Hunter22",
    "access token = a1b2c3d4e5",
    "api key abcd1234efgh",
    "X-Api-Key: abcd1234",
    "client_secret=abcd1234efgh",
    "aws_secret_access_key = " + RANDOM,
    "my pin is 4821",
    "verification code: 482913",
    "Authorization: Bearer " + RANDOM,
    "postgres://bob:hunter2@db.example/app",
    "seed phrase: " + " ".join(["apple", "river"] * 6),
    OPENAI,
    "sk-proj-" + RANDOM,
    GITHUB,
    "github_pat_" + RANDOM,
    AWS,
    SLACK,
    JWT,
    PEM,
    PEM.partition("\n")[0],
    "my password is 123",
    "password: 123",
    "我的密码是abc",
    "我的密码是123哦",
    "wifi password 88888888",
    "passcode 482913",
    "pw: hunter2",
    "token 12345678",
    "token: 12345678",
    "令牌 12345679",
    "密码hunter2x9",
    "密钥abcd1234",
    "hunter2 is my password",
    "swordfish is my password.",
    "remember: coffee2024 is the wifi password",
    "Hunter22 was our Netflix password, I think",
    "abc123 是我的密码",
    "hunter2就是wifi密码",
    "我用abc123当密码",
    "888888是我银行卡的密码",
    "p a s s w o r d: x",
    "p.a.s.s.w.o.r.d = hunter2",
    "p-a-s-s-w-o-r-d is h u n t e r 2",
    "t o k e n: a1b2c3",
    "pass.word: hunter2",
    "pass word: hunter2",
    "pass_word=hunter2",
    "passw0rd: hunter2",
    "p@ssword: hunter2",
    "密 码：abc123",
    "密.码是abc123",
    "密码：1 2 3 4 5 6",
    "pm_" + "aB3-dE_f" * 5 + "xyz",
]
PAYMENTS = [
    "我的卡号是4111111111111111",
    "卡号４１１１１１１１１１１１１１１１",
    "工资卡 6222 0212 3456 7890 128",
    "银联卡6222021234567890128，开户行是工行",
    "卡4111\u200b1111\u200b1111\u200b1111",
    "信用卡背面安全码是 123",
    "visa 4111 1111 1111 1111",
    "4111-1111-1111-1111",
    "amex 3782 822463 10005",
    "mastercard 5555555555554444 exp 12/27",
    "4111 1111 1111 1111 12/27",
    "discover 6011111111111117",
    "jcb: 3530111333300000",
    "old visa 4222222222222",
    "cvv: 123",
    "卡号4111.1111.1111.1111",
    "4111_1111_1111_1111",
    "4111/1111/1111/1111",
    "4111,1111,1111,1111",
    "4111，1111，1111，1111",
    "4111·1111·1111·1111",
    "4111\n1111\n1111\n1111",
    "4111\r\n1111\r\n1111\r\n1111",
    "3782.822463.10005",
    "4.1.1.1_1.1.1.1_1.1.1.1_1.1.1.1".replace(".", "_"),
    "IBAN GB82 WEST 1234 5698 7654 32",
    "GB82WEST12345698765432 THANKS",
    "我的账户是DE89370400440532013000",
    "fr14 2004 1010 0505 0001 3m02 606",
]
GOV_IDS = [
    "身份证号11010519491231002X",
    "我的身份证是11010519491231002x。",
    "１１０１０５１９４９１２３１００２Ｘ",
    "身份证 110105 19491231 002X",
    "护照号E12345678",
    "我的护照号码是 G1234567",
    "护照：EA1234567",
    "社安号 123-45-6789",
    "my SSN is 123-45-6789",
    "social security number: 123 45 6789",
    "passport number 123456789",
    "passport no. C01234567",
    "1 1 0 1 0 5 1 9 4 9 1 2 3 1 0 0 2 X",
    "身份证 1101.0519.4912.3100.2X",
    "2 110105 19491231 002X",
    "香港身份证 A123456(3)",
    "A123456（3）",
    "my HKID is A1234563",
    "HKID AB987654(3)",
    "台湾身份证 A123456789",
    "Taiwan ID: a123456789",
    "A123456789",
]
CONTACTS = [
    "我妈的电话是13800138000",
    "手机 138-0013-8000",
    "电话１３８００１３８０００",
    "打 +86 138 0013 8000 找我",
    "办公室 010-12345678",
    "邮箱是bob@example.com",
    "call me at +1 415 555 0132",
    "+44 20 7946 0958",
    "(415) 555-0132",
    "415-555-0132",
    "write to bob.smith+tea@mail.example.co.uk",
]
INNOCENT = [
    "我忘记密码了怎么办",
    "密码学很有趣",
    "密码是什么来着",
    "我的密码是什么",
    "我的密码是不是泄露了",
    "我的密码是错的",
    "密码太长了记不住",
    "密码要8位以上",
    "密码长度至少12位",
    "密码 2024 年改过一次",
    "密码错误3次就锁了",
    "他在研究密码朋克",
    "摩斯密码真好玩",
    "密码是[credential]",
    "密码：******",
    "这个模型支持128000个token",
    "token 用完了",
    "最大 token: 4096",
    "令牌桶算法",
    "口令红包真好抢",
    "秘密花园是我最喜欢的书",
    "她有一个秘密",
    "我的生日是1990年3月7日",
    "订单号 4111111111111111",
    "快递单号：6222021234567890128",
    "订单编号是202405011234567890",
    "时间戳1714550400000",
    "消息id 1234567890123456789",
    "书号 9787020002207",
    "身份证丢了要去补办",
    "身份证号110105194912310021",
    "证件110105194913310021",
    "护照 20240101 到期",
    "护照明年到期",
    "我的卡号是4111111111111112",
    "卡号A4111111111111111",
    "验证码收不到",
    "我每天走10000步",
    "房间号是1204",
    "圆周率是3.14159265358979",
    "安全码头很热闹",
    "QQ群 123456789",
    "2024-05-01 12:00:00 开会",
    "I love secret gardens",
    "the password was changed yesterday",
    "the password is required",
    "my password is too long",
    "the password is incorrect",
    "I forgot my password again",
    "please reset my password",
    "password: required",
    "password is [credential]",
    "password: ********",
    "password: <your password here>",
    "PASSWORD=${DB_PASSWORD}",
    "token economy",
    "token: a unit of text",
    "max token 128000",
    "the secret is butter",
    "the secret to a good tea is patience",
    "key lime pie is my favourite",
    "the api key was rotated",
    "sk-learn-for-beginners-2024-edition",
    "bearer of bad news",
    "the pin fell on the floor",
    "security code review on Monday",
    "snowflake 1234567890123456789",
    "order number 4111111111111111",
    "tracking no. 6222021234567890128",
    "id: 4111111111111111",
    "ISBN 978-0-306-40615-7",
    "1714550400000",
    "a4111111111111111",
    "4111111111111111a",
    "41111111111111111111111111",
    "phone model 1234567",
    "SSN means social security number",
    "123-45-6789",
    "passport expires in 2031",
    "550e8400-e29b-41d4-a716-446655440000",
    "version 1.2.3-beta.4",
    "3 + 14 + 15 = 32",
    "+1 (2) 3.4.5-6",
    "token: unlimited",
    "a token: nothing more",
    "meet me @ noon",
]


ORDINARY_TALK = [
    "我忘了密码",
    "my password manager is great",
    "token of love",
    "a token of my love",
    "the wifi is slow today, 20 megabits at most",
    "what is the wifi password?",
    "the wifi password is on the fridge",
    "wifi密码贴在冰箱上",
    "这家咖啡店的wifi密码忘了问",
    "wifi 信号只有 2 格",
    "密码锁坏了",
    "密码太简单不安全",
    "我把密码写在本子上了",
    "我在看《达芬奇密码》",
    "密码app好用吗",
    "忘了密码iphone15怎么解锁",
    "密码sha256加密存储",
    "密码：100位以内",
    "password is 256 bits long",
    "my password is 100% safe",
    "my password is old",
    "my password is not set",
    "my new password is 10x stronger",
    "what is my password",
    "that is the password I forgot",
    "1Password is my password manager",
    "123456 is the most common password",
    "123456是最常见的密码",
    "md5是密码学算法",
    "base64是密码的编码方式吗",
    "my dog's name is my password",
    "Don't use 123456 as your password",
    "不要用123456当密码",
    "很多人用123456做密码",
    "密码输错5次会锁定",
    "My password expires in 30 days",
    "I changed my password on 2024-05-01",
    "3 passwords 123456 leaked online",
    "Friday is my password day",
    "token price: 1234.56",
    "IMEI 490154203237518",
    "tracking number 1Z999AA10123456784",
    "统一社会信用代码 91350211M000100Y43",
    "coordinates 39.904200, 116.407396",
    "https://chat.example/a/status/1798765432109876543",
    "银行卡尾号 1234",
    "我的密码是什么时候改的",
    "please pass word to the team",
    "we pass. Words fail me.",
    "max token: 131072",
    "总 token: 12345678",
    "we used 12345678 tokens",
    "token 10000000",
    "token #12345678 of the collection",
    "this prompt has 3500 tokens",
    "the secret ingredient is 250 g of butter",
    "a secret of 12345678 people",
    "订单 A123456789 到了",
    "order no. A123456789",
    "快递单号 B123456780",
    "型号 A123456(4)",
    "航班 CA1234 晚点",
    "product AB1234567 arrived",
    "我的学号是 2019123456",
    "QQ号 2837465910",
    "工号 110105",
    "消息 1234567890123456789 已读",
    "snowflake id 175928847299117063",
    "the total was 1,234,567,890,123 dong",
    "378,282,246,310,005 stars",
    "378.282.246.310.005 Sterne",
    "4, 8, 15, 16, 23, 42 are the numbers",
    "ratings: 5,4,3,5,1,2,4,4,5,3,2,1,5,4,3,5",
    "2019, 2020, 2021, 2022 were hard years",
    "0.4111111111111111 is the ratio",
    "the server is 192.168.100.101",
    "从 2024/05/01 到 2024/06/30",
    "1/2/3/4/5/6/7/8/9/10/11/12",
    "GB82 WEST 1234 5698 7654 33",
    "GB20 is a postcode area",
    "DE10 dollar bills",
    "pm_settings_for_the_long_running_projects_page",
    "see you at 8 pm_ or 9",
    "key 12345678 on the piano",
    "我家门牌号是 88888888 号",
    "身份证 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8",
]


def categories(text: str) -> set[str]:
    return {finding.category for finding in find_sensitive(text)}


@pytest.mark.parametrize("text", CREDENTIALS)
def test_a_credential_is_found(text: str) -> None:
    assert "credential" in categories(text)


@pytest.mark.parametrize("text", PAYMENTS)
def test_payment_data_is_found(text: str) -> None:
    assert categories(text) == {"payment"}


@pytest.mark.parametrize("text", GOV_IDS)
def test_a_government_id_is_found(text: str) -> None:
    assert categories(text) == {"gov_id"}


@pytest.mark.parametrize("text", CONTACTS)
def test_contact_data_is_found(text: str) -> None:
    assert categories(text) == {"contact"}


@pytest.mark.parametrize("text", [*INNOCENT, *ORDINARY_TALK])
def test_innocent_text_is_left_alone(text: str) -> None:
    assert categories(text) == set()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("我的密码是hunter2，记住", "hunter2"),
        ("密码是ｈｕｎｔｅｒ２。", "ｈｕｎｔｅｒ２"),
        ("卡4111\u200b1111 1111 1111 到期", "4111\u200b1111 1111 1111"),
        ("护照号E12345678。", "E12345678"),
        ('{"password": "hunter2", "a": 1}', "hunter2"),
        ("mail bob@example.com now", "bob@example.com"),
        (f"x {PEM} y", PEM),
        ("password=" + "a1" * 400, "a1" * 400),
        ("p a s s w o r d: h u n t e r 2, ok", "h u n t e r 2"),
        ("well, hunter2 is my password", "hunter2"),
        ("我用abc123当密码", "abc123"),
        ("4111\n1111\n1111\n1111\n", "4111\n1111\n1111\n1111"),
    ],
)
def test_only_the_sensitive_part_is_marked(text: str, part: str) -> None:
    (finding,) = find_sensitive(text)

    assert text[finding.start : finding.end] == part


def test_every_finding_of_a_text_is_told_in_order() -> None:
    text = "密码是hunter2，卡号4111111111111111，电话13800138000"

    assert [finding.category for finding in find_sensitive(text)] == [
        "credential",
        "payment",
        "contact",
    ]


def test_a_number_that_is_two_things_is_told_once() -> None:
    assert find_sensitive("密码是4111111111111111") == [SensitiveSpan("credential", 3, 19)]


@pytest.mark.parametrize(
    "text",
    ["4111111111111111", "13800138000", "11010519491231002X", "pin:1234", "bob@example.com", ""],
)
def test_an_id_may_be_any_number(text: str) -> None:
    assert find_credentials(text) == []


@pytest.mark.parametrize(
    "text", [OPENAI, f"note/{GITHUB}", JWT, "https://x.example/?token=a1b2c3d4"]
)
def test_an_id_may_not_be_a_credential(text: str) -> None:
    assert [finding.category for finding in find_credentials(text)] == ["credential"]


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece",
    [
        "9",
        "a",
        "1 ",
        "4111-",
        "password:",
        "token ",
        "eyJ.",
        "sk-",
        "a@",
        "+1 ",
        "我的密码是",
        "1\u200b",
        "-----BEGIN ",
        "://a:",
        "password for a ",
        "password   ",
        "ssn ",
        "护照",
        "seed phrase: abc ",
        "token:1234567 ",
        "x is my password ",
        "is my a b ",
        "abc123是我的",
        "p a s s w o r d: a ",
        "GB82 ",
        "pm_",
        "A123456(",
        "1, ",
    ],
)
def test_hostile_text_costs_no_more_than_its_length(piece: str) -> None:
    text = (piece * 64_000)[:64_000]

    assert len(find_sensitive(text)) <= len(text)


def test_a_text_of_very_many_characters_is_seen_through_all_the_same() -> None:
    many = "".join(map(chr, range(0x4E00, 0x4E00 + 6000)))
    disguised = "\u200bｈｕｎｔｅｒ２"

    [finding] = find_sensitive(f"{many}。我的密码是 {disguised}")

    assert finding.category == "credential"
    assert finding.end - finding.start >= len("hunter2")
