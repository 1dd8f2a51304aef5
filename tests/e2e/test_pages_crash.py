"""A hub that is killed in the middle of writing a page leaves it as it was, or as it is to be."""

from __future__ import annotations

import itertools
import re
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import pytest

from harness import Server, StartServer
from page_parts import Pages

MEMORIES = 200
KILLS = 2
_ANCHOR = re.compile(r" \^pm-(\d+)$", re.MULTILINE)


def post(http: httpx.Client, path: str, **body: Any) -> Any:
    answer = http.post(path, json={"persona_id": "p1", **body})
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def caller(server: Server) -> httpx.Client:
    return httpx.Client(base_url=server.url, headers={"X-API-Key": "devkey"}, timeout=60)


def rewrite_until_killed(server: Server, killed: Event, done: Event) -> None:
    """Change a memory and write the page, again and again."""
    with caller(server) as http, suppress(httpx.HTTPError):
        for number in itertools.count():
            if killed.is_set():
                return
            content = f"第{number}次喜欢 " + "长" * 200
            post(http, "/memory/write", type="profile", key="preference.k0", content=content)
            post(http, "/memory/pages/sync")
            done.set()


@pytest.mark.timeout(600)
def test_a_page_is_whole_whenever_the_hub_dies(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(markdown_poll_s="3600")
    page = Pages(tmp_path / "server").of("p1")
    items = [
        {"type": "profile", "key": f"preference.k{n}", "content": f"喜欢第{n}种茶 tea"}
        for n in range(MEMORIES)
    ]
    with caller(server) as http:
        post(http, "/memory/write", items=items)
        post(http, "/memory/pages/sync")
    anchors = sorted(_ANCHOR.findall(page.core))
    assert len(anchors) == MEMORIES

    for _ in range(KILLS):
        killed, done = Event(), Event()
        rewriting = Thread(target=rewrite_until_killed, args=(server, killed, done))
        rewriting.start()
        done.wait()
        killed.set()
        server.kill()
        rewriting.join()

        assert sorted(_ANCHOR.findall(page.core)) == anchors
        server.start()

    with caller(server) as http:
        post(http, "/memory/pages/sync")
        assert sorted(_ANCHOR.findall(page.core)) == anchors
        assert post(http, "/memory/pages/sync")["items"][1]["written"] == 0
