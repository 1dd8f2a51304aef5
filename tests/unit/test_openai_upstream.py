"""The connection to the upstream: what is sent and what comes back, byte for byte."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
import pytest

from plastic_memories.http.doors.openai.failures import UpstreamError
from plastic_memories.http.doors.openai.upstream import (
    Upstream,
    UpstreamResponse,
    _proxy_for,
    _ssl_context,
)
from plastic_memories.http.options import ProxyOptions

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@dataclass
class Wire:
    """A server that says the same bytes to every request, and what it was sent."""

    says: bytes = OK
    then_closes: bool = False
    port: int = 0
    heads: list[bytes] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def names(self) -> list[bytes]:
        """Return the names of the last request's headers."""
        return [line.partition(b":")[0].lower() for line in self.heads[-1].splitlines()[1:] if line]

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                _, _, length = head.lower().partition(b"content-length: ")
                self.bodies.append(
                    await reader.readexactly(int(length.split()[0] if length else 0))
                )
                self.heads.append(head)
                writer.write(self.says)
                if self.then_closes:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@pytest.fixture
async def wire() -> AsyncGenerator[Wire]:
    wire = Wire()
    async with await asyncio.start_server(wire.talk, "127.0.0.1", 0) as server:
        wire.port = server.sockets[0].getsockname()[1]
        yield wire


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Upstream]:
    upstream = Upstream(ProxyOptions(url=url, connect_s=20, first_byte_s=20, idle_s=20))
    try:
        yield upstream
    finally:
        await upstream.close()


async def whole(answer: UpstreamResponse) -> bytes:
    found = b""
    while chunk := await answer.next_chunk():
        found += chunk
    return found


async def asked(wire: Wire, *headers: tuple[bytes, bytes], body: bytes = b"{}") -> bytes:
    async with (
        opened(wire.url) as upstream,
        upstream.stream_request("POST", "/x", headers, body) as answer,
    ):
        return await whole(answer)


async def test_nothing_is_said_that_the_client_has_not_said(wire: Wire) -> None:
    await asked(wire)

    assert wire.heads[-1].startswith(b"POST /v1/x HTTP/1.1\r\n")
    assert sorted(wire.names) == [b"accept-encoding", b"content-length", b"host"]


async def test_headers_go_out_as_they_came_and_as_often(wire: Wire) -> None:
    await asked(wire, (b"x-odd", b"1"), (b"x-odd", "小雨".encode()), (b"x-old", b"caf\xe9"))

    lines = wire.heads[-1].splitlines()
    assert {b"x-odd: 1", "x-odd: 小雨".encode(), "x-old: café".encode()} <= set(lines)


@pytest.mark.parametrize(("name", "word"), [("", b"Bearer k"), ("me:secret@", b"Basic ")])
async def test_a_name_in_the_address_goes_before_the_key(
    wire: Wire, name: str, word: bytes
) -> None:
    upstream = Upstream(ProxyOptions(url=wire.url.replace("//", f"//{name}"), key="k"))

    async with upstream.stream_request("POST", "/x", (), b"{}") as answer:
        await whole(answer)
    await upstream.close()

    assert wire.names.count(b"authorization") == 1
    assert b"authorization: " + word.lower() in wire.heads[-1].lower()


async def test_headers_come_back_as_often_as_they_were_sent_however_long(wire: Wire) -> None:
    many = b"".join(b"X-Many: %d\r\n" % n for n in range(300))
    wire.says = OK.replace(b"\r\n\r\n", b"\r\nX-Long: %s\r\n%s\r\n" % (b"y" * 60_000, many), 1)

    async with (
        opened(wire.url) as upstream,
        upstream.stream_request("POST", "/x", (), b"{}") as answer,
    ):
        returned = answer.forwarded_headers

    assert (b"x-long", b"y" * 60_000) in returned
    assert [value for name, value in returned if name == b"x-many"] == [
        b"%d" % n for n in range(300)
    ]


async def test_what_is_compressed_stays_so(wire: Wire) -> None:
    wire.says = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b!"

    assert await asked(wire) == b"\x1f\x8b!"


async def test_cookies_are_not_kept(wire: Wire) -> None:
    wire.says = OK.replace(b"\r\n\r\n", b"\r\nSet-Cookie: a=b\r\n\r\n", 1)

    async with opened(wire.url) as upstream:
        for _ in range(2):
            async with upstream.stream_request("POST", "/x", (), b"{}") as answer:
                await whole(answer)

    assert len(wire.heads) == 2
    assert b"cookie" not in wire.names
    assert b"set-cookie" not in dict(answer.forwarded_headers)


async def test_the_upstream_cannot_speak_for_the_memory(wire: Wire) -> None:
    own = b"X-Memory-Ids: 1\r\nX-MEMORY-Tokens: 2\r\nX-Memory-Degraded: a\r\n"
    ids = b"X-Request-Id: theirs\r\nX-Upstream-Request-Id: other\r\n"
    wire.says = OK.replace(b"\r\n\r\n", b"\r\n%s%s\r\n" % (own, ids), 1)

    async with (
        opened(wire.url) as upstream,
        upstream.stream_request("POST", "/x", (), b"{}") as answer,
    ):
        returned = answer.forwarded_headers

    assert [name for name, _ in returned if name.startswith(b"x-memory")] == []
    assert [part for part in returned if b"request-id" in part[0]] == [
        (b"x-upstream-request-id", b"theirs")
    ]


async def test_a_large_request_arrives_whole(wire: Wire) -> None:
    body = b"picture " * 500_000

    await asked(wire, body=body)

    assert wire.bodies == [body]


LARGE = b"data: " + b"z" * 1_000_000 + b"\n\n"
BODIES = {
    "large": (b"Content-Length: %d\r\n\r\n" % len(LARGE) + LARGE, LARGE),
    "chunked": (
        b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(LARGE), LARGE),
        LARGE,
    ),
    "until the end": (b"\r\n" + LARGE, LARGE),
    "empty": (b"Content-Length: 0\r\n\r\n", b""),
}


@pytest.mark.parametrize("name", BODIES)
async def test_an_answer_of_any_form_comes_whole(wire: Wire, name: str) -> None:
    said, expected = BODIES[name]
    wire.says = b"HTTP/1.1 200 OK\r\n" + said
    wire.then_closes = True

    async with (
        opened(wire.url) as upstream,
        upstream.stream_request("POST", "/x", (), b"{}") as answer,
    ):
        found = await whole(answer)

        assert answer.is_whole
    assert found == expected


async def test_an_early_hint_is_not_the_answer(wire: Wire) -> None:
    wire.says = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK

    assert await asked(wire) == b"ok"


async def test_who_reads_slowly_gets_all_that_came_before_the_end(wire: Wire) -> None:
    wire.says = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b"w" * 70_000
    wire.then_closes = True

    async with (
        opened(wire.url) as upstream,
        upstream.stream_request("POST", "/x", (), b"{}") as answer,
    ):
        with pytest.raises(aiohttp.ClientPayloadError):
            await answer._raw.content.wait_eof()
        found = await answer.next_chunk()
        with pytest.raises(UpstreamError, match="in the middle"):
            await answer.next_chunk()

    assert found == b"w" * 70_000


@pytest.mark.parametrize(
    "said",
    [
        b"Transfer-Encoding: chunked\r\n\r\nzz\r\nno number\r\n",
        b"Content-Length: 9\r\n\r\nshort",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n",
    ],
)
async def test_an_answer_that_is_broken_is_said_to_be(wire: Wire, said: bytes) -> None:
    wire.says = b"HTTP/1.1 200 OK\r\n" + said
    wire.then_closes = True

    with pytest.raises(UpstreamError) as failed:
        await asked(wire)

    assert failed.value.code == "upstream_broken"


async def test_a_server_without_a_certificate_is_told_nothing() -> None:
    heard = bytearray()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.extend(await reader.read(1000))
        writer.write(OK)
        writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with opened(f"https://127.0.0.1:{port}/v1") as upstream:
            with pytest.raises(UpstreamError) as failed:
                await upstream.stream_request("POST", "/x", (), b"secret").__aenter__()

    assert failed.value.code == "upstream_unreachable"
    assert heard
    assert b"secret" not in heard


def test_certificates_are_checked() -> None:
    context = _ssl_context("https://models.example/v1")

    assert context is not None
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert context.get_ca_certs()


async def test_a_proxy_of_the_environment_is_asked(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://me:secret@127.0.0.1:{wire.port}")

    away = opened("http://models.example/v1")
    async with away as upstream, upstream.stream_request("POST", "/x", (), b"{}") as answer:
        assert await whole(answer) == b"ok"

    assert wire.heads[-1].startswith(b"POST http://models.example/v1/x HTTP/1.1\r\n")
    assert b"proxy-authorization" in wire.names


WAYS = [
    ("http://models.example/v1", {"http_proxy": "proxy:1"}, "http://proxy:1"),
    ("https://models.example/v1", {"http_proxy": "proxy:1"}, None),
    ("https://models.example/v1", {"https_proxy": "http://proxy:2"}, "http://proxy:2"),
    ("https://models.example/v1", {"all_proxy": "http://proxy:3"}, "http://proxy:3"),
    ("http://models.example/v1", {"http_proxy": "proxy:1", "no_proxy": ".example"}, None),
    ("http://127.0.0.1:11434/v1", {"http_proxy": "proxy:1"}, None),
    ("http://[::1]:11434/v1", {"all_proxy": "proxy:1"}, None),
    ("http://localhost:11434/v1", {"all_proxy": "proxy:1"}, None),
    ("http://models.example/v1", {}, None),
]


@pytest.mark.parametrize(("url", "environment", "way"), WAYS)
def test_the_environment_says_which_way(
    monkeypatch: pytest.MonkeyPatch, url: str, environment: dict[str, str], way: str | None
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert _proxy_for(url) == way
