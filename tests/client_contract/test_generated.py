"""What is generated in the SDK is as the generators would write it now."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from clients.python.generator import sync_client, wire_types
from clients.python.generator.source import PACKAGE, ROOT
from clients.python.generator.sync_client import to_sync
from pydantic import create_model

from plastic_memories.wire.memories import MemoryRow

FILES = {**sync_client.files(), **wire_types.files()}


@pytest.mark.parametrize("name", FILES)
def test_a_generated_file_is_current(name: str) -> None:
    written = (ROOT / name).read_text(encoding="utf-8")

    assert written.splitlines() == FILES[name]().splitlines(), f"{name} is stale; run: make docs"


def test_every_file_that_says_it_is_generated_has_a_generator() -> None:
    sources = {file: file.read_text(encoding="utf-8") for file in PACKAGE.rglob("*.py")}

    marked = {file for file, text in sources.items() if text.startswith("# Generated")}

    assert {file.relative_to(ROOT).as_posix() for file in marked} == set(FILES)


def test_the_sync_client_awaits_nothing() -> None:
    words = ("async", "await", "Async")

    for name in sync_client.files():
        code = (ROOT / name).read_text(encoding="utf-8").partition("\n")[2]
        assert [word for word in words if word in code] == [], name


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("async def f(): await g()\n", "def f(): g()\n"),
        ("async with a as b: pass\n", "with a as b: pass\n"),
        ("x = [i async for i in y]\n", "x = [i for i in y]\n"),
        ("class AsyncA(AsyncB): pass\n", "class A(B): pass\n"),
        ("from w.asyncio.client import c\n", "from w.sync.client import c\n"),
        ("x = await asyncio.to_thread(f, a, b=1)\n", "x = f(a, b=1)\n"),
        ("async for i in x:\n    yield i\n", "yield from x\n"),
        ("for i in x:\n    yield i + 1\n", "for i in x:\n    yield i + 1\n"),
        ("s = '猫'; x = await asyncio.to_thread(f, '猫')\n", "s = '猫'; x = f('猫')\n"),
        ("y = 'await it'  # await it\n", "y = 'await it'  # await it\n"),
    ],
)
def test_async_source_becomes_sync_source(source: str, expected: str) -> None:
    assert to_sync(source) == expected


def test_a_new_field_of_a_memory_needs_no_edit(monkeypatch: pytest.MonkeyPatch) -> None:
    wider = create_model("WiderRow", __base__=MemoryRow, mood=(str | None, ...))
    monkeypatch.setattr(wire_types, "ROWS", (wider,))

    text = _generator("models/memory_item.py")()

    assert '    mood: str = ""\n' in text


def _generator(name: str) -> Callable[[], str]:
    return FILES[(PACKAGE / name).relative_to(ROOT).as_posix()]
