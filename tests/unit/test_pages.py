"""The pages a browser sees need no key, and nothing from another host."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import nullcontext
from pathlib import Path

import httpx
import pytest
from docs.generator.openapi import openapi

from plastic_memories.http.app import create_app
from plastic_memories.http.options import HttpOptions
from plastic_memories.settings import load_settings
from plastic_memories.wiring import build_app

PAGES = {
    "/": "text/html",
    "/docs": "text/html",
    "/static/docs.js": "text/javascript",
    "/static/style.css": "text/css",
}
HTML = [path for path, kind in PAGES.items() if kind == "text/html"]


@pytest.fixture
async def browser(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A client without a key; the pages do not even need the hub to be open."""
    app = build_app(load_settings({"PLASTIC_MEMORIES_DATA_DIR": str(tmp_path)}))
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield client


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_is_served_without_a_key(browser: httpx.AsyncClient, path: str) -> None:
    response = await browser.get(path)

    assert response.status_code == 200
    assert response.headers["content-type"] == f"{PAGES[path]}; charset=utf-8"
    assert len(response.text) > 500


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_may_load_from_its_own_host_only(
    browser: httpx.AsyncClient, path: str
) -> None:
    response = await browser.get(path)

    policy = response.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_names_no_foreign_host(browser: httpx.AsyncClient, path: str) -> None:
    text = (await browser.get(path)).text

    loaded = re.findall(r"""(?:src|href|action)\s*=\s*["']?([^"'\s>]+)""", text)
    loaded += re.findall(
        r"""(?:url\(|@import|\bimport\b[^(]*?from|fetch\()\s*["']?([^"')\s]+)""", text
    )
    assert [url for url in loaded if re.match(r"(?:[a-z]+:)?//", url)] == []


@pytest.mark.parametrize("path", HTML)
async def test_a_page_has_no_inline_script_or_style(browser: httpx.AsyncClient, path: str) -> None:
    text = (await browser.get(path)).text

    assert re.findall(r"<script(?![^>]*\bsrc=)", text) == []
    assert re.findall(r"<style|\sstyle=|\son\w+=", text) == []


@pytest.mark.parametrize("path", HTML)
async def test_whatever_a_page_links_to_is_there(browser: httpx.AsyncClient, path: str) -> None:
    text = (await browser.get(path)).text

    links = set(re.findall(r"""(?:src|href)="(/[^"#]*)""", text)) - {"/health"}
    assert links
    for link in links:
        assert (await browser.get(link)).status_code == 200, link


async def test_the_document_served_is_the_one_the_routes_make(browser: httpx.AsyncClient) -> None:
    response = await browser.get("/openapi.json")

    assert response.headers["content-type"] == "application/json"
    # In the order of the declarations, too.
    assert response.text == json.dumps(openapi(), ensure_ascii=False, separators=(",", ":"))


async def test_the_document_names_the_version_that_runs() -> None:
    transport = httpx.ASGITransport(create_app(HttpOptions(version="47.11"), nullcontext))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        document = (await client.get("/openapi.json")).json()

    assert document["info"]["version"] == "47.11"
    assert document["paths"] == openapi()["paths"]


async def test_the_first_page_speaks_both_languages(browser: httpx.AsyncClient) -> None:
    text = (await browser.get("/")).text

    assert "long-term memory" in text
    assert "长期记忆" in text


async def test_the_key_is_kept_nowhere(browser: httpx.AsyncClient) -> None:
    script = (await browser.get("/static/docs.js")).text

    assert not re.search(r"localStorage|sessionStorage|cookie|indexedDB|innerHTML", script)


async def test_the_first_page_names_the_real_address_and_key_file(
    browser: httpx.AsyncClient, tmp_path: Path
) -> None:
    text = (await browser.get("http://127.0.0.1:9009/")).text

    assert "http://127.0.0.1:9009/memory/write" in text
    assert ":8007" not in text
    assert str(tmp_path / "key") in text


async def test_another_machine_is_not_told_where_files_are(tmp_path: Path) -> None:
    app = build_app(load_settings({"PLASTIC_MEMORIES_DATA_DIR": str(tmp_path)}))
    transport = httpx.ASGITransport(app, client=("192.168.1.7", 4711))
    async with httpx.AsyncClient(transport=transport, base_url="http://192.168.1.2") as client:
        text = (await client.get("/")).text

    assert str(tmp_path) not in text
