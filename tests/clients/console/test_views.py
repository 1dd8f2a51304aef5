"""Every view, in both languages, light and dark, on a phone: what it shows, and for everybody."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from clients.console.conftest import Caller, Visit, Visitor
from harness import Server

pytestmark = [pytest.mark.external, pytest.mark.timeout(300)]
VIEWS = (
    "say", "memories", "inbox", "about", "lab?q=晚饭吃什么好", "timeline", "persona", "activity",
    "connect", "transfer",
)  # fmt: skip
CONSOLE = Path(__file__).parents[3] / "src/plastic_memories/http/console"
HOSTILE = {
    "script": "<script>alert(1)</script>",
    "markup": "<img src=x onerror=alert(1)><b>粗</b>",
    "right to left": "\u202e反着写\u202c مرحبا",
    "zero width": "零\u200b宽\u200d字",
    "long": "很长" * 5000,
    "template": "{{user}} ${7*7} javascript:alert(1)",
}


def load_demo(visitor: Visitor) -> None:
    visitor.open("say").page.locator(".empty .button").last.click()
    visitor.page.wait_for_selector(".memory-row")


@pytest.fixture(scope="session")
def axe(clients: Path) -> str:
    return (clients / "console/node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")


def problems(visitor: Visitor, axe: str) -> list[Any]:
    """Return what Axe finds wrong, each as its rule and where."""
    visitor.page.evaluate(axe)
    found: Any = visitor.page.evaluate(
        "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})"
    )
    return [
        (one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found["violations"]
    ]


@pytest.mark.parametrize(("language", "scheme"), [("zh", "light"), ("en", "dark")])
def test_every_view_is_accessible_and_complains_about_nothing(
    visit: Visit, axe: str, language: str, scheme: str
) -> None:
    visitor = visit(language=language, color_scheme=scheme)
    load_demo(visitor)

    found = {}
    for view in VIEWS:
        visitor.open(view)
        visitor.page.wait_for_timeout(400)  # for the picture: what comes a moment later
        visitor.picture(f"{view.partition('?')[0]}-{language}-{scheme}")
        found[view] = problems(visitor, axe)

    assert {view: wrong for view, wrong in found.items() if wrong} == {}
    assert visitor.complaints == []
    assert visitor.hosts == {"127.0.0.1"}


def test_the_page_before_signing_in_is_accessible(visit: Visit, axe: str) -> None:
    visitor = visit(key=None)
    visitor.page.goto(f"{visitor.url}/console")
    visitor.page.wait_for_selector(".gate")
    visitor.picture("sign-in-zh-light")

    assert problems(visitor, axe) == []


def test_on_a_phone_nothing_is_wider_than_the_screen(visit: Visit, axe: str) -> None:
    visitor = visit(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    load_demo(visitor)

    widths, found = {}, {}
    for view in VIEWS:
        visitor.open(view)
        visitor.page.wait_for_timeout(400)
        visitor.picture(f"{view.partition('?')[0]}-phone")
        widths[view] = visitor.page.evaluate("document.documentElement.scrollWidth")
        found[view] = problems(visitor, axe)

    assert set(widths.values()) == {390}
    assert {view: wrong for view, wrong in found.items() if wrong} == {}


def test_on_a_phone_the_menu_has_everything_within_reach(visit: Visit) -> None:
    visitor = visit(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    visitor.open("memories")

    visitor.page.tap(".tabs button")
    visitor.page.tap(".foot [aria-label=在手机上打开]")
    visitor.page.wait_for_selector("dialog .qr")
    visitor.picture("qr-phone")

    assert "只能用一次" in visitor.text("dialog")


def test_no_text_is_missing_in_either_language(visit: Visit) -> None:
    visitor = visit(language="en")
    load_demo(visitor)

    texts = {view: visitor.open(view).text("main .view-head") for view in VIEWS}

    assert len(set(texts.values())) == len(VIEWS)
    assert not any("nav." in text or "lead." in text for text in texts.values())


@pytest.mark.parametrize("view", VIEWS)
def test_hostile_text_is_shown_as_text(visit: Visit, hub: Server, view: str) -> None:
    caller = Caller(hub, "devkey")
    caller.post("/persona/create", display_name=HOSTILE["script"], description=HOSTILE["markup"])
    for number, text in enumerate(HOSTILE.values()):
        caller.remember(text, "profile", f"k{number}")
        caller.remember(text, "preferences", f"p{number}", quote=text, source_app="<i>app</i>")
        caller.post("/messages/append", role="user", content=text, speaker="<u>me</u>")
        caller.post("/messages/append", role="assistant", content=text)
    caller.post("/goals/create", title=HOSTILE["markup"])
    visitor = visit()

    visitor.open(view)
    visitor.page.wait_for_timeout(300)
    marked = visitor.page.evaluate(
        "document.querySelectorAll('main b img, main img, main script, main u, main i b').length"
    )

    assert marked == 0
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert [one for one in visitor.complaints if "alert" in one or "dialog" in one] == []
    if view in ("memories", "timeline"):
        assert HOSTILE["script"] in visitor.text()


def test_the_types_of_the_code_are_right(clients: Path) -> None:
    compiler = clients / "console/node_modules/.bin/tsc"

    done = subprocess.run(
        [compiler, "-p", CONSOLE / "jsconfig.json"], capture_output=True, text=True, check=False
    )

    assert done.stdout == ""
