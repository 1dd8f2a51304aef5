"""A fake model server that answers at once, for measuring the proxy in front of it."""

from __future__ import annotations

import asyncio
import sys

_TEXT = b'{"id":"c1","choices":[{"index":0,"delta":{"content":"well "}}]}'
_ANSWER = (
    b'{"id":"c1","object":"chat.completion","choices":[{"index":0,"message":'
    b'{"role":"assistant","content":"well well well"},"finish_reason":"stop"}]}'
)
_WHOLE = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    % len(_ANSWER)
) + _ANSWER
_STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)


def _chunk(data: bytes) -> bytes:
    event = b"data: " + data + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(event), event)


_PIECES = [*([_chunk(_TEXT)] * 20), _chunk(b"[DONE]") + b"0\r\n\r\n"]


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
            body = await reader.readexactly(length)
            if b'"stream": true' in body:
                writer.write(_STREAM_HEAD)
                for piece in _PIECES:
                    writer.write(piece)
                    await writer.drain()
            else:
                writer.write(_WHOLE)
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main(port: int) -> None:
    async with await asyncio.start_server(_serve, "127.0.0.1", port, backlog=512) as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
