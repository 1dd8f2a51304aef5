"""The console in a real Chromium, before a real hub."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from fake_upstream import FakeUpstream, fake_upstream
from harness import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
PICTURES = Path(__file__).parents[3] / "build" / "console"


@dataclass
class Visitor:
    """Somebody in front of the console; whatever their browser complains about is kept."""

    page: Page
    url: str
    complaints: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    def watch(self) -> Visitor:
        self.page.on(
            "console",
            lambda line: self.complaints.append(line.text) if line.type == "error" else None,
        )
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda shown: self.complaints.append(f"dialog {shown.message}"))
        self.page.on("request", lambda one: self.hosts.add(httpx.URL(one.url).host))
        return self

    def sign_in(self, key: str) -> Visitor:
        self.page.goto(f"{self.url}/console")
        self.page.fill("#key", key)
        self.page.click("form button[type=submit]")
        self.page.wait_for_selector(".sidebar, .people", state="attached")
        # That nobody was signed in before is no complaint.
        self.complaints = [one for one in self.complaints if "401" not in one]
        return self

    def open(self, view: str) -> Visitor:
        """Open a view and wait until it has shown what it has to show."""
        self.page.goto(f"{self.url}/console#/{view}")
        name = view.partition("?")[0]
        current = f".links [data-view={name}][aria-current=page]"
        self.page.wait_for_selector(current, state="attached")
        self.page.wait_for_selector("main:not([aria-busy])")
        return self

    def text(self, selector: str = "main") -> str:
        return self.page.inner_text(selector)

    def rows(self, number: int, selector: str = ".memory-row") -> None:
        """Wait until there are so many rows."""
        more = self.page.locator(f"{selector} >> nth={number}")
        more.wait_for(state="detached")
        if number:
            self.page.locator(f"{selector} >> nth={number - 1}").wait_for()

    def picture(self, name: str) -> None:
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=PICTURES / f"{name}.png")


@dataclass
class Caller:
    """A program that calls the hub with a key, as another client would."""

    hub: Server
    key: str

    def post(self, path: str, **body: Any) -> Any:
        sent = {"persona_id": "default", **body}
        answer = httpx.post(
            f"{self.hub.url}{path}", json=sent, headers={"X-API-Key": self.key}, trust_env=False
        )
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    def remember(self, content: str, type: str = "fact", key: str = "k", **more: Any) -> int:  # noqa: A002
        return int(
            self.post("/memory/write", type=type, key=key, content=content, **more)["memory_id"]
        )


@pytest.fixture(scope="package")
def model() -> Iterator[FakeUpstream]:
    with fake_upstream() as served:
        yield served


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path).start()
    yield server
    server.close()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    # Installed with the real clients only.
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=_FLAGS)
        yield found
        found.close()


Visit = Callable[..., Visitor]


@pytest.fixture
def visit(browser: Browser, hub: Server) -> Iterator[Visit]:
    """Return a function that opens the console in a browser of its own."""
    contexts = []

    def start(key: str | None = "devkey", language: str = "zh", **options: Any) -> Visitor:
        given = {"viewport": {"width": 1280, "height": 820}, "locale": "zh-CN", **options}
        context = browser.new_context(**given)
        contexts.append(context)
        context.set_default_timeout(15_000)
        page = context.new_page()
        page.add_init_script(
            "localStorage.getItem('pm.language') ?? "
            f"localStorage.setItem('pm.language', '{language}')"
        )
        visitor = Visitor(page, hub.url).watch()
        return visitor.sign_in(key) if key else visitor

    yield start
    for context in contexts:
        context.close()
