"""`plastic-memories demo`"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import click
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from plastic_memories import settings as configuration
from plastic_memories.cli.command_options import CliOptions, local_command
from plastic_memories.cli.hub_connection import HubConnection, in_process_transport
from plastic_memories.cli.language import tr
from plastic_memories.cli.memories import memory_rows
from plastic_memories.cli.output import Screen, counts_text, without_control_characters
from plastic_memories_client import AsyncPlasticMemoriesClient, MemoryItem, Message

_KEY = "demo"
_TURN_PAUSE_S = 0.1
# A conversation is digested after this number of messages, while it goes on.
_TURNS_PER_DIGEST = 20
_DAYS_AHEAD = 365
_UPCOMING_FIELDS = ("next_date", "days_away", "content")
_CANDIDATE = ("values", "style", "先给结论，再讲理由；不确定就直说。")
_QUESTION = "今晚聚餐喝什么茶好？能点虾吗？"
_FORGET_KEY = "basic_info.birthday"


@dataclass(frozen=True, slots=True)
class DemoConversation:
    persona: str
    user: str
    turns: Sequence[Mapping[str, str]]

    @classmethod
    def load(cls) -> DemoConversation:
        """Load the packaged conversation: from the wheel, or from the checkout."""
        package = Path(__file__).parents[2]
        name = Path("examples", "conversation.zh.json")
        in_wheel = package / name
        file = in_wheel if in_wheel.is_file() else package.parents[1] / name
        return cls(**json.loads(file.read_text(encoding="utf-8")))


@dataclass(slots=True)
class DemoReport:
    """The outcome of the demo as JSON data."""

    turns: list[dict[str, Any]] = field(default_factory=list)
    known: dict[str, str] = field(default_factory=dict)
    upcoming: list[dict[str, Any]] = field(default_factory=list)
    confirmed: dict[str, Any] = field(default_factory=dict)
    recall: dict[str, Any] = field(default_factory=dict)
    receipt: dict[str, Any] = field(default_factory=dict)
    after_replay: dict[str, Any] = field(default_factory=dict)


@click.command()
@click.option("--no-wait", is_flag=True, help="Do not pause.")
@local_command
def demo(options: CliOptions, no_wait: bool) -> None:
    """Play a short conversation and show what is remembered.

    Everything happens in a folder that is removed at the end.
    """
    screen = Screen.for_options(options)
    pause_s = _TURN_PAUSE_S if screen.console.is_terminal and not no_wait else 0.0
    screen.print_if_json(asdict(asyncio.run(_play_demo(screen, pause_s))))


async def _play_demo(screen: Screen, pause_s: float) -> DemoReport:
    conversation = DemoConversation.load()
    with tempfile.TemporaryDirectory(prefix="plastic_memories_demo_") as folder:
        settings = configuration.load_settings(
            {
                "PLASTIC_MEMORIES_DATA_DIR": str(Path(folder)),
                "PLASTIC_MEMORIES_API_KEYS": f"{_KEY}:local",
                "PLASTIC_MEMORIES_WORKER": "off",  # the demo runs each job itself
            }
        )
        async with in_process_transport(settings) as transport:
            connection = HubConnection(
                "http://127.0.0.1", CliOptions(persona=conversation.persona), _KEY, transport
            )
            async with connection.client() as client:
                return await _DemoStage(screen, client, conversation, pause_s).play()


class _DemoStage:
    """Plays the acts one after the other."""

    def __init__(
        self,
        screen: Screen,
        client: AsyncPlasticMemoriesClient,
        conversation: DemoConversation,
        pause_s: float,
    ) -> None:
        self._screen = screen
        self._client = client
        self._conversation = conversation
        self._pause_s = pause_s
        self._played = DemoReport()

    async def play(self) -> DemoReport:
        self._title("1  A conversation", "memories are extracted automatically, without a model")
        await self._converse()
        self._title("2  What is known now", "the user, and upcoming dates")
        self._played.known = await self._fetch_profile()
        self._played.upcoming = await self._fetch_upcoming()
        self._print_profile()
        self._title("3  Who the persona is", "waits for confirmation, then fills a slot")
        await self._confirm_a_slot()
        self._title("4  Another day", "what a prompt gets for a question")
        await self._recall()
        self._title("5  Forgetting", "for good, with a receipt, even when the conversation repeats")
        await self._forget()
        self._goodbye()
        return self._played

    async def _converse(self) -> None:
        turns = self._conversation.turns
        for start in range(0, len(turns), _TURNS_PER_DIGEST):
            batch = turns[start : start + _TURNS_PER_DIGEST]
            message_ids = await self._say(batch, "demo")
            learned = await self._memories_by_message()
            for turn, message_id in zip(batch, message_ids, strict=True):
                await self._print_turn(turn, learned[message_id])

    async def _say(self, turns: Sequence[Mapping[str, str]], session_id: str) -> list[int]:
        """Append messages, and digest them."""
        messages = [
            Message(role=turn["role"], content=turn["content"], session_id=session_id)
            for turn in turns
        ]
        appended = await self._client.append_messages(messages)
        await self._client.jobs_run(session_id, wait=True)
        return list(appended.message_ids)

    async def _memories_by_message(self) -> Mapping[int, list[MemoryItem]]:
        learned: defaultdict[int, list[MemoryItem]] = defaultdict(list)
        async for item in memory_rows.iterate_memories(self._client, status="all"):
            if item.type != "summary" and item.source_message_ids:
                learned[min(item.source_message_ids)].append(item)
        return learned

    async def _print_turn(self, turn: Mapping[str, str], learned: Sequence[MemoryItem]) -> None:
        is_user = turn["role"] == "user"
        name = self._conversation.user if is_user else self._conversation.persona
        self._line(f"{name}  {turn['content']}", "bold" if is_user else "cyan")
        for item in learned:
            again = tr(", replaces an earlier memory") if item.supersedes_id else ""
            kept = tr("remembered: {what}", what=f"{item.type} {item.key}")
            self._line(f"      ↳ {kept}{again}", "green")
        notes = [{"id": item.id, "type": item.type, "key": item.key} for item in learned]
        self._played.turns.append({**turn, "learned": notes})
        await asyncio.sleep(self._pause_s)

    async def _fetch_profile(self) -> dict[str, str]:
        found = memory_rows.iterate_memories(self._client, type="profile")
        values = {item.key: str(item.attributes.get("value", item.content)) async for item in found}
        return dict(sorted(values.items()))

    async def _fetch_upcoming(self) -> list[dict[str, Any]]:
        events = await self._client.upcoming_events(_DAYS_AHEAD)
        dumped = [event.model_dump(mode="json") for event in events]
        return [{name: one[name] for name in _UPCOMING_FIELDS} for one in dumped]

    def _print_profile(self) -> None:
        if self._screen.as_json:
            return
        self._screen.table(["about the user", ""], list(self._played.known.items()))
        coming = [list(one.values()) for one in self._played.upcoming]
        self._screen.table(["date", "in days", "what"], coming)

    async def _confirm_a_slot(self) -> None:
        kind, key, text = _CANDIDATE
        written = await self._client.write_item(kind, key, text)
        assert written.memory_id is not None
        self._line(f"? {kind}: {text}  ({written.memory_status})", "yellow")
        await asyncio.sleep(self._pause_s)
        done = await self._client.confirm(written.memory_id)
        confirmed = tr("✓ confirmed: it is {status} now", status=done.memory_status)
        self._line(confirmed, "green")
        slots = [slot.model_dump(mode="json") for slot in await self._client.slots()]
        self._played.confirmed = {"memory_id": written.memory_id, "slots": slots}

    async def _recall(self) -> None:
        self._line(f"{self._conversation.user}  {_QUESTION}", "bold")
        found = await self._client.recall(_QUESTION, include=["profile", "memory"])
        self._played.recall = {"query": _QUESTION, "injection_block": found.injection_block}
        title = tr("the block for the prompt, {tokens} tokens", tokens=found.tokens)
        self._panel(found.injection_block.strip(), title)

    async def _forget(self) -> None:
        gone = await self._client.forget_memory(
            "profile", _FORGET_KEY, never_again=True, include_messages=True
        )
        self._played.receipt = gone.raw
        self._receipt(gone.memory_ids, gone.receipt)
        await self._say(self._conversation.turns, "again")
        known, upcoming = await self._fetch_profile(), await self._fetch_upcoming()
        self._played.after_replay = {"known": known, "upcoming": upcoming}
        state = tr("came back") if _FORGET_KEY in known else tr("stays forgotten")
        turns = len(self._conversation.turns)
        again = tr("✓ the same {turns} turns again: the birthday {state}", turns=turns, state=state)
        self._line(again, "green")

    def _receipt(self, memory_ids: list[int], receipt: dict[str, Any]) -> None:
        if self._screen.as_json:
            return
        table = Table(title=tr("Receipt"), title_justify="left", show_header=False)
        table.add_row(tr("forgotten"), ", ".join(f"#{one}" for one in memory_ids))
        for name in ("erased", "hidden", "remaining"):
            table.add_row(tr(name), counts_text(receipt[name]))
        table.add_row(tr("never again"), tr("yes") if receipt["never_again"] else tr("no"))
        self._screen.console.print(table)

    def _goodbye(self) -> None:
        self._line()
        self._line(tr("That was the demo; nothing was kept. Now start your own:"), "bold")
        self._line("  plastic-memories remember '叫我小林'", "cyan")
        self._line("  plastic-memories recall '怎么称呼我'", "cyan")
        self._line("  plastic-memories serve", "cyan")

    def _title(self, title: str, about: str) -> None:
        self._line()
        self._line(f"{tr(title)} · {tr(about)}", "bold magenta")
        self._line()

    def _line(self, text: str = "", style: str = "") -> None:
        if not self._screen.as_json:
            self._screen.text(text, style)

    def _panel(self, text: str, title: str) -> None:
        if not self._screen.as_json:
            panel = Panel(
                Text(without_control_characters(text)),
                title=title,
                title_align="left",
                border_style="blue",
            )
            self._screen.console.print(panel)


COMMANDS = {"demo": demo}
