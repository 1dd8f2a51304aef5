"""The extension in a real SillyTavern, in a real browser, before a real hub."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fake_upstream import FakeUpstream, fake_upstream
from harness import Server
from tavern_parts import Desk, Known, Meet, settings_of, sillytavern

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
# What single tests change, and every test may rely on.
_USUAL = {
    "enabled": True,
    "timeoutMs": 5000,
    "perChat": False,
    "mem0_query_rewrite_enabled": False,
}


@pytest.fixture(scope="package")
def model() -> Iterator[FakeUpstream]:
    with fake_upstream() as served:
        yield served


@pytest.fixture(scope="package")
def hub(tmp_path_factory: pytest.TempPathFactory, model: FakeUpstream) -> Iterator[Server]:
    upstream = {"proxy_upstream_url": model.url, "proxy_upstream_key": "upstream-key"}
    server = Server(tmp_path_factory.mktemp("hub"), upstream).start()
    yield server
    server.close()


@pytest.fixture(scope="package")
def tavern(
    clients: Path, hub: Server, model: FakeUpstream, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of one SillyTavern for all tests."""
    home = clients / "sillytavern" / "node_modules" / "sillytavern"
    settings = settings_of(home, model.url, {"baseUrl": hub.url, "apiKey": "devkey", **_USUAL})
    with sillytavern(home, tmp_path_factory.mktemp("sillytavern"), settings) as url:
        yield url


@pytest.fixture(scope="package")
def desk(tavern: str, hub: Server) -> Iterator[Desk]:
    """One browser for all tests; each has characters of its own."""
    # Installed with the real clients only.
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=_FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        sitting = Desk(page, tavern)
        page.on(
            "request",
            lambda one: sitting.hub_calls.append(one.url) if hub.url in one.url else None,
        )
        page.on("console", lambda line: sitting.console.append(line.text))
        yield sitting.open()
        browser.close()


@pytest.fixture(scope="package")
def known(hub: Server) -> Iterator[Known]:
    asking = Known(hub)
    yield asking
    asking.http.close()


@pytest.fixture
def meet(desk: Desk, model: FakeUpstream) -> Meet:
    """Return a function that makes a character and opens a chat with it."""

    def start(name: str, greeting: str = "") -> str:
        model.says("好的。")
        for name_of, value in _USUAL.items():
            desk.set(name_of, value)
        avatar = desk.new_character(name, greeting)
        desk.sit_with(avatar)
        return avatar

    return start


@pytest.fixture(autouse=True)
def nobody_known_yet(known: Known) -> None:
    """Erase the user: an allergy told to one character is known to all of them."""
    known.ask("POST", "/user/erase", confirm="userA")
