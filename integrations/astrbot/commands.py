"""Parse `/mem` commands; texts of the answers in Chinese and English."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_NAMES = {
    "status": "status", "状态": "status",
    "search": "search", "搜索": "search", "查": "search",
    "list": "list", "列表": "list", "ls": "list",
    "forget": "forget", "忘记": "forget", "忘掉": "forget", "删除": "forget",
    "confirm": "confirm", "确认": "confirm",
    "reset": "reset", "重置": "reset", "清空": "reset",
    "help": "help", "帮助": "help",
}  # fmt: skip
_DIGITS = 15
YES = frozenset({"confirm", "yes", "确认", "确定"})
REPLACE = frozenset({"replace", "替换"})

HELP = """记忆指令 / Memory commands（只涉及你自己的记忆 / only your own memories）
/mem status  状态 — 记忆中枢、会话 ID 与隔离开关 / hub, id and filters
/mem list [页]  列表 — 记得你的什么 / memories about you
/mem search <内容>  搜索 — 与一句话有关的记忆 / memories relevant to a text
/mem forget <编号…>  忘记 — 彻底删除 / erase for good
/mem confirm [编号] [replace]  确认 — 待确认的记忆 / memories to confirm
/mem reset  重置 — 忘记你的全部（需再次确认）/ forget everything about you (asks again)
/mem help  帮助"""

_CHINESE = {
    "ok": "记忆中枢 {version} 运行正常",
    "status": (
        "{hub}\n会话：{key}\n用户：{user}\n人格：{persona}\n隔离：{filters}\n等待发送：{waiting}"
    ),
    "adapter": "（平台没有可靠的机器人 ID，已改用适配器 ID）",
    "down": "记忆中枢暂时不可用，对话照常进行。",
    "old": (
        "另有 {count} 条记忆不属于任何机器人，这里看不到。管理员可用下面的命令归入：\n"
        "plastic-memories rekey --user {user} --from no-bot --to bot_{bot}"
    ),
    "nothing": "还没有关于你的记忆。",
    "not_found": "没有找到有关的记忆。",
    "no_candidates": "没有待确认的记忆。",
    "candidates": "待确认（/mem confirm 编号）：",
    "page": "关于你的记忆，第 {page} 页 / 共 {pages} 页：",
    "found": "有关的记忆：",
    "what": "请写上要找的内容：/mem search 咖啡",
    "which": "请写上编号：/mem {name} 12（编号见 /mem list）",
    "gone": "已彻底忘记 {count} 条记忆。",
    "not_yours": "没有这个编号的记忆。",
    "confirmed": "已确认 #{id}。",
    "unchanged": "#{id} 不是待确认的记忆，没有改变。",
    "conflict": "与已有的 #{active} 冲突。要用新的替换它，请发送：/mem confirm {id} replace",
    "expired": "#{id} 已经过期。",
    "sure": (
        "这会彻底忘记{where}关于你的全部记忆和对话记录，无法恢复。\n"
        "确定请在 60 秒内发送：/mem reset confirm"
    ),
    "here": "本会话中",
    "everywhere": "",
    "late": "没有等待确认的重置，或者已超过 60 秒。请先发送 /mem reset",
    "reset": "已忘记 {memories} 条记忆，删除 {messages} 条消息。",
    "private": "为了你的隐私，请私聊机器人使用这个指令。",
}
_ENGLISH = {
    "ok": "The hub {version} is running",
    "status": (
        "{hub}\nConversation: {key}\nUser: {user}\nPersona: {persona}\n"
        "Filters: {filters}\nWaiting to be sent: {waiting}"
    ),
    "adapter": " (the platform gives no reliable bot id: the adapter's is used)",
    "down": "The hub is not available. The conversation goes on.",
    "old": (
        "{count} more memories belong to no bot and are not seen here. To move them:\n"
        "plastic-memories rekey --user {user} --from no-bot --to bot_{bot}"
    ),
    "nothing": "There are no memories about you yet.",
    "not_found": "No relevant memories.",
    "no_candidates": "No memories to confirm.",
    "candidates": "To confirm (/mem confirm <id>):",
    "page": "Memories about you, page {page} of {pages}:",
    "found": "Relevant memories:",
    "what": "Give a text to search for: /mem search coffee",
    "which": "Give an id: /mem {name} 12 (ids are in /mem list)",
    "gone": "Forgot {count} memories for good.",
    "not_yours": "There is no such memory.",
    "confirmed": "Confirmed #{id}.",
    "unchanged": "#{id} is not waiting for confirmation; nothing changed.",
    "conflict": "It conflicts with #{active}. To replace that one: /mem confirm {id} replace",
    "expired": "#{id} has expired.",
    "sure": (
        "This forgets everything about you{where}, memories and messages, for good.\n"
        "If you are sure, send within 60 seconds: /mem reset confirm"
    ),
    "here": " in this conversation",
    "everywhere": "",
    "late": "No reset is waiting, or its 60 seconds are over. Send /mem reset first.",
    "reset": "Forgot {memories} memories, erased {messages} messages.",
    "private": "For your privacy, please use this command in a private chat.",
}
TEXTS: Mapping[str, Mapping[str, str]] = {"zh": _CHINESE, "en": _ENGLISH}


@dataclass(frozen=True)
class Command:
    name: str
    words: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def ids(self) -> list[int]:
        """Return the given numbers: `12`, `#12`, `12,13` and `12，13` alike."""
        parts = self.text.replace(",", " ").replace("，", " ").replace("、", " ").split()
        numbers = [part.lstrip("#＃") for part in parts]
        return [int(number) for number in numbers if number.isdecimal() and len(number) <= _DIGITS]


def parse(message: str) -> Command:
    """Parse `mem search 咖啡`; an unknown command becomes `help`.

    >>> parse("mem 忘记 #3").ids
    [3]
    """
    words = message.strip().lstrip("/").split()[1:]
    name = _NAMES.get(words[0].casefold()) if words else None
    return Command(name, tuple(words[1:])) if name else Command("help")
