"""`plastic-memories demo`"""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from plastic_memories import settings as configuration
from plastic_memories.cli import rows
from plastic_memories.cli.doorway import Door, in_process
from plastic_memories.cli.place import Place, local_command
from plastic_memories.cli.screen import Screen, counted, plain
from plastic_memories_client import AsyncPlasticMemoriesClient, Message

_KEY = "demo"
_BLINK_S = 0.15
_TALK = (
    ("user", "叫我小林吧，我在上海做后端开发。"),
    ("assistant", "好的，小林！"),
    ("user", "我对海鲜过敏，千万别给我推荐虾。"),
    ("assistant", "记住了，以后避开海鲜。"),
    ("user", "我喜欢喝乌龙茶。 And my birthday is 3 May."),
    ("assistant", "Oolong it is, and I'll remember the third of May."),
    ("user", "我下周五要去北京出差。"),
    ("assistant", "一路顺风，需要帮你列个清单吗？"),
)
_WISH = ("values", "style", "先给结论，再讲理由；不确定就直说。")
_QUESTION = "今晚聚餐喝什么茶好？能点虾吗？"
_REGRET = "Please forget my birthday, and don't learn it again."
_AGAIN = "By the way, my birthday is 3 May."


@dataclass(slots=True)
class Played:
    """What happened, for a program."""

    turns: list[dict[str, Any]] = field(default_factory=list)
    confirmed: dict[str, Any] = field(default_factory=dict)
    recalled: dict[str, Any] = field(default_factory=dict)
    receipt: dict[str, Any] = field(default_factory=dict)


@click.command()
@click.option("--no-wait", is_flag=True, help="Do not even pause for a blink.")
@local_command
def demo(place: Place, no_wait: bool) -> None:
    """Play a short conversation and show what is remembered.

    Everything happens in a folder that is removed at the end.
    """
    screen = Screen.of(place)
    pause_s = _BLINK_S if screen.console.is_terminal and not no_wait else 0.0
    played = asyncio.run(_play(screen, pause_s))
    screen.told(
        {
            "turns": played.turns,
            "confirmed": played.confirmed,
            "recall": played.recalled,
            "receipt": played.receipt,
        }
    )


async def _play(screen: Screen, pause_s: float) -> Played:
    with tempfile.TemporaryDirectory(prefix="plastic_memories_demo_") as folder:
        settings = configuration.load(
            {
                "PLASTIC_MEMORIES_DATA_DIR": str(Path(folder)),
                "PLASTIC_MEMORIES_API_KEYS": f"{_KEY}:local",
            }
        )
        async with in_process(settings) as transport:
            door = Door("http://127.0.0.1", Place(persona="小忆"), _KEY, transport)
            async with door.client() as client:
                return await _Stage(screen, client, pause_s).play()


class _Stage:
    """Plays the acts one after the other."""

    def __init__(self, screen: Screen, client: AsyncPlasticMemoriesClient, pause_s: float) -> None:
        self._screen = screen
        self._client = client
        self._pause_s = pause_s
        self._played = Played()

    async def play(self) -> Played:
        self._title("1  A conversation", "what is worth keeping is kept by itself")
        for role, text in _TALK:
            await self._say(role, text)
        self._title("2  Who the persona is", "waits for a yes, and then fills a slot")
        await self._confirm_a_slot()
        self._title("3  Another day", "what a prompt gets for a question")
        await self._recall()
        self._title("4  Forgetting", "for good, with a receipt")
        await self._forget()
        self._goodbye()
        return self._played

    async def _say(self, role: str, text: str) -> None:
        spoken = Message(role=role, content=text, session_id="demo")
        await self._client.append_messages(spoken)
        self._line(f"{'小林' if role == 'user' else '小忆'}  {text}", _voice(role))
        learned: list[dict[str, Any]] = []
        if role == "user":
            written = await self._client.write([spoken])
            ids = [item.memory_id for item in written.items if item.memory_id]
            for item in await rows.by_ids(self._client, ids):
                learned.append({"id": item.id, "type": item.type, "key": item.key})
                self._line(f"      ↳ remembered: {item.type} {item.key}", "green")
            for skipped in written.skipped:
                learned.append({"skipped": skipped.reason})
                self._line(f"      ↳ not remembered: {skipped.reason}", "yellow")
        self._played.turns.append({"role": role, "content": text, "learned": learned})
        await asyncio.sleep(self._pause_s)

    async def _confirm_a_slot(self) -> None:
        kind, key, text = _WISH
        written = await self._client.write_item(kind, key, text)
        assert written.memory_id is not None
        self._line(f"? {kind}: {text}  ({written.memory_status})", "yellow")
        await asyncio.sleep(self._pause_s)
        done = await self._client.confirm(written.memory_id)
        self._line(f"✓ confirmed: it is {done.memory_status} now", "green")
        slots = [slot.model_dump(mode="json") for slot in await self._client.slots()]
        self._played.confirmed = {"memory_id": written.memory_id, "slots": slots}

    async def _recall(self) -> None:
        self._line(f"小林  {_QUESTION}", _voice("user"))
        found = await self._client.recall(_QUESTION, include=["profile", "memory"])
        self._played.recalled = {"query": _QUESTION, "injection_block": found.injection_block}
        title = f"the block for the prompt, {found.tokens} tokens"
        self._panel(found.injection_block.strip(), title)

    async def _forget(self) -> None:
        await self._say("user", _REGRET)
        preview = await self._client.forget_memory(query="birthday", dry_run=True)
        gone = await self._client.forget_memory(
            memory_ids=preview.memory_ids, never_again=True, include_messages=True
        )
        self._played.receipt = gone.raw
        self._receipt(gone.memory_ids, gone.receipt)
        await self._say("user", _AGAIN)

    def _receipt(self, memory_ids: list[int], receipt: dict[str, Any]) -> None:
        if self._screen.as_json:
            return
        table = Table(title="Receipt", title_justify="left", show_header=False)
        table.add_row("forgotten", ", ".join(f"#{one}" for one in memory_ids))
        for name in ("erased", "hidden", "remaining"):
            table.add_row(name, counted(receipt[name]))
        table.add_row("never again", "yes" if receipt["never_again"] else "no")
        self._screen.console.print(table)

    def _goodbye(self) -> None:
        self._line()
        self._line("That was all of it; nothing was kept. Now your own:", "bold")
        self._line("  plastic-memories remember '叫我小林'", "cyan")
        self._line("  plastic-memories recall '怎么称呼我'", "cyan")
        self._line("  plastic-memories serve", "cyan")

    def _title(self, title: str, about: str) -> None:
        self._line()
        self._line(f"{title} · {about}", "bold magenta")
        self._line()

    def _line(self, text: str = "", style: str = "") -> None:
        if not self._screen.as_json:
            self._screen.text(text, style)

    def _panel(self, text: str, title: str) -> None:
        if not self._screen.as_json:
            panel = Panel(Text(plain(text)), title=title, title_align="left", border_style="blue")
            self._screen.console.print(panel)


def _voice(role: str) -> str:
    return "bold" if role == "user" else "bold cyan"


COMMANDS = {"demo": demo}
