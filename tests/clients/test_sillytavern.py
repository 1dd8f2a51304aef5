"""The extension in a real SillyTavern, in a real browser, before a real hub."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from chat_upstream import Upstream, upstream
from harness import Json, Server
from tavern_parts import Desk, settings_of, sillytavern

pytestmark = [pytest.mark.external, pytest.mark.timeout(300)]

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def model() -> Iterator[Upstream]:
    with upstream() as served:
        yield served


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("hub")).start()
    yield server
    server.close()


@pytest.fixture(scope="module")
def desk(
    clients: Path, hub: Server, model: Upstream, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Desk]:
    """One SillyTavern and one browser for all tests; each has characters of its own."""
    from playwright.sync_api import sync_playwright  # installed with the real clients only

    home = clients / "sillytavern" / "node_modules" / "sillytavern"
    own = {"baseUrl": hub.url, "apiKey": "devkey", "timeoutMs": 3000}
    settings = settings_of(home, model.url, own)
    with (
        sillytavern(home, tmp_path_factory.mktemp("sillytavern"), settings) as url,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=_FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        sitting = Desk(page, url)
        page.on(
            "request",
            lambda one: sitting.hub_calls.append(one.url) if hub.url in one.url else None,
        )
        yield sitting.open()
        browser.close()


class Known:
    """What the hub knows, asked past SillyTavern."""

    def __init__(self, hub: Server) -> None:
        self.http = httpx.Client(base_url=hub.url, headers={"X-API-Key": "devkey"}, timeout=30)

    def ask(self, method: str, path: str, **more: Any) -> Json:
        given = {"params": more} if method == "GET" else {"json": more}
        answer = self.http.request(method, path, **given)  # type: ignore[arg-type]
        assert answer.status_code == 200, answer.text
        data: Json = answer.json()["data"]
        return data

    def digest(self, persona: str) -> None:
        self.ask("POST", "/jobs/run", persona_id=persona, wait=True)

    def memories(self, persona: str, **more: Any) -> str:
        found = self.ask("GET", "/memory/list", persona_id=persona, limit=200, **more)
        return "\n".join(row["content"] for row in found["items"] if row["type"] != "summary")

    def messages(self, persona: str, **more: Any) -> list[Json]:
        """Return what was said, oldest first."""
        found = self.ask("GET", "/messages/recent", persona_id=persona, limit=100, **more)
        return [*reversed(found["messages"])]


@pytest.fixture(scope="module")
def known(hub: Server) -> Iterator[Known]:
    asking = Known(hub)
    yield asking
    asking.http.close()


@pytest.fixture
def meet(desk: Desk, model: Upstream) -> Callable[..., str]:
    """Return a function that makes a character and opens a chat with it."""

    def start(name: str, greeting: str = "") -> str:
        model.reply = "好的。"
        avatar = desk.new_character(name, greeting)
        desk.sit_with(avatar)
        return avatar

    return start


Meet = Callable[..., str]


def test_a_fact_told_in_one_chat_is_in_the_prompt_of_the_next(
    desk: Desk, known: Known, model: Upstream, meet: Meet
) -> None:
    persona_of = meet("小雨", "你好，我是小雨。")
    desk.say("我对海鲜过敏，记住哦")
    persona = desk.persona(persona_of)

    desk.new_chat()  # which ends the first, and has it digested
    known.digest(persona)
    desk.say("Where shall we have 晚饭?")

    assert "海鲜" in model.last_prompt
    assert "海鲜" not in "".join(desk.texts)
