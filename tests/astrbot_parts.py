"""A real AstrBot in a folder of its own, and people who write to its bots over OneBot v11."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import subprocess
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidHandshake

PLUGIN = Path(__file__).parents[1] / "integrations" / "astrbot"
PLUGIN_NAME = "astrbot_plugin_plastic_memories"
# Starts what `astrbot run` starts, without the web pages that it would download first.
_RUN = """
import asyncio
from astrbot.core import LogBroker, LogManager, db_helper, logger
from astrbot.core.initial_loader import InitialLoader
broker = LogBroker()
LogManager.set_queue_handler(logger, broker)
asyncio.run(InitialLoader(db_helper, broker).start())
"""
_PATIENCE_S = 60.0
_TO_START_S = 200.0
_numbers = count(1000)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@dataclass
class AstrBot:
    """One process with a platform adapter for each bot; everything is on this machine."""

    python: Path
    folder: Path
    model_url: str
    plugin: Mapping[str, Any]
    bots: Mapping[str, int]  # the id of an adapter, and the number of its bot
    ports: dict[str, int] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> str:
        return (self.folder / "log.txt").read_text(encoding="utf-8", errors="replace")

    def start(self) -> None:
        self.ports = {adapter: _free_port() for adapter in self.bots}
        data = self.folder / "data"
        place = data / "plugins" / PLUGIN_NAME
        if not place.exists():
            shutil.copytree(PLUGIN, place, ignore=shutil.ignore_patterns("__pycache__"))
        (data / "config").mkdir(exist_ok=True)
        # Before the first import: AstrBot's own default listens to everybody.
        _write(data / "cmd_config.json", self._config())
        _write(data / "config" / f"{PLUGIN_NAME}_config.json", self.plugin)
        with (self.folder / "log.txt").open("ab") as log:
            self.process = subprocess.Popen(
                [self.python, "-c", _RUN],
                cwd=self.folder,
                env=self._environment(),
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "ASTRBOT_ROOT": str(self.folder),
            "ASTRBOT_DISABLE_METRICS": "1",
            "PYTHONPATH": str(self.folder),
            "PYTHONDONTWRITEBYTECODE": "1",
            # What it would ask the world about at its start is refused at once.
            "https_proxy": "http://127.0.0.1:9",
        }

    def _config(self) -> dict[str, Any]:
        source = {
            "id": "fake", "provider": "openai", "type": "openai_chat_completion",
            "provider_type": "chat_completion", "enable": True, "key": ["sk-test"],
            "api_base": self.model_url, "timeout": 30, "custom_headers": {},
        }  # fmt: skip
        model = {"id": "fake/model", "provider_source_id": "fake", "model": "model",
                 "enable": True, "modalities": [], "custom_extra_body": {}}  # fmt: skip
        return {
            "config_version": 2,
            "dashboard": {"enable": False, "host": "127.0.0.1", "port": _free_port()},
            "platform_settings": {"enable_id_white_list": False,
                                  "rate_limit": {"time": 60, "count": 1000, "strategy": "stall"}},
            "provider_sources": [source],
            "provider": [model],
            "provider_settings": {"default_provider_id": "fake/model", "web_search": False,
                                  "computer_use_runtime": "none", "wake_prefix": ""},
            "platform": [
                {"id": adapter, "type": "aiocqhttp", "enable": True,
                 "ws_reverse_host": "127.0.0.1", "ws_reverse_port": port, "ws_reverse_token": ""}
                for adapter, port in self.ports.items()
            ],
        }  # fmt: skip


def _write(file: Path, content: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


@dataclass
class Bot:
    """A bot's side of OneBot: hands over what people write, and takes what the bot answers."""

    link: ClientConnection
    number: int
    replies: asyncio.Queue[str] = field(default_factory=asyncio.Queue)

    async def listen(self) -> None:
        async for frame in self.link:
            call = json.loads(frame)
            said = call["params"].get("message")
            done = {"status": "ok", "retcode": 0, "data": {"message_id": next(_numbers)}}
            await self.link.send(json.dumps({**done, "echo": call.get("echo")}))
            if said is not None:
                self.replies.put_nowait(_text(said))

    async def hears(self, text: str, sender: int, group: int = 0, *, at: bool = True) -> None:
        """Let somebody write to the bot, in private or in a group, and not wait for an answer."""
        parts: list[dict[str, Any]] = [{"type": "text", "data": {"text": text}}]
        if group and at:
            parts.insert(0, {"type": "at", "data": {"qq": str(self.number)}})
        event = {
            "time": 1_750_000_000,
            "self_id": self.number,
            "post_type": "message",
            "message_type": "group" if group else "private",
            "sub_type": "normal" if group else "friend",
            "message_id": next(_numbers),
            "user_id": sender,
            "message": parts,
            "raw_message": text,
            "font": 0,
            "sender": {"user_id": sender, "nickname": f"member{sender}"},
        }
        if group:
            event["group_id"] = group
        await self.link.send(json.dumps(event))

    async def asked(self, text: str, sender: int, group: int = 0) -> str:
        """Write to the bot; return what it answers."""
        await self.hears(text, sender, group)
        async with asyncio.timeout(_PATIENCE_S):
            return await self.replies.get()


def _text(message: Any) -> str:
    if isinstance(message, str):
        return message
    return "".join(part["data"].get("text", "") for part in message if part["type"] == "text")


@asynccontextmanager
async def online(astrbot: AstrBot) -> AsyncGenerator[list[Bot]]:
    """Connect all bots, as soon as AstrBot is there."""
    async with asyncio.timeout(_TO_START_S):
        bots = [await _connected(astrbot, adapter) for adapter in astrbot.bots]
    listening = [asyncio.create_task(bot.listen()) for bot in bots]
    try:
        yield bots
    finally:
        for bot, task in zip(bots, listening, strict=True):
            await bot.link.close()
            await asyncio.wait([task])


async def _connected(astrbot: AstrBot, adapter: str) -> Bot:
    number = astrbot.bots[adapter]
    headers = {"X-Self-ID": str(number), "X-Client-Role": "Universal"}
    while True:
        assert astrbot.process is not None
        assert astrbot.process.poll() is None, astrbot.log[-3000:]
        try:
            url = f"ws://127.0.0.1:{astrbot.ports[adapter]}/ws"
            link = await connect(url, additional_headers=headers, proxy=None)
        except (OSError, InvalidHandshake):
            await asyncio.sleep(0.2)  # it opens its port when everything is loaded
        else:
            return Bot(link, number)
