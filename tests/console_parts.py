"""Signing in to the console, as its pages do."""

from __future__ import annotations

from typing import Any

import httpx

from harness import Api

COOKIE = "plastic_memories_8007"


def cookie_headers(answer: httpx.Response) -> dict[str, str]:
    """Return what a page sends after this answer: its cookie, and the console's own header."""
    secret = answer.cookies.get(COOKIE)
    assert secret, answer.text
    return {"Cookie": f"{COOKIE}={secret}", "X-Console": "1"}


async def post_session(api: Api, **body: Any) -> httpx.Response:
    answer = await api.http.post("/console/session", json=body, headers={"X-Console": "1"})
    api.http.cookies.clear()  # each test says itself which cookie is sent
    return answer


async def sign_in(api: Api, key: str = "devkey", user: str | None = None) -> Api:
    """Return a caller with the cookie of a session instead of a key."""
    headers = cookie_headers(await post_session(api, api_key=key))
    return Api(api.http, api.hub, None, user, api.persona, headers)


async def link_secret(api: Api, *, is_admin: bool = True) -> str:
    """Return the secret of a link, as the server prints one at its start."""
    assert api.hub is not None
    key = await api.hub.keys.authenticate(api.key or "")
    return await api.hub.console.sign_in.create_link(key, is_admin=is_admin)
