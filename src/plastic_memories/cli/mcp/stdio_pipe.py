"""Bridge MCP over stdio to the hub: JSON-RPC lines become requests to /mcp, responses lines."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx

_PATH = "/mcp"
_VERSION_IN_META = "io.modelcontextprotocol/protocolVersion"
# The parameter a request is about; newer clients repeat it in a header.
_NAME_FIELD = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_PARSE_ERROR, _INVALID_REQUEST, _FAILED = -32_700, -32_600, -32_603


class StdioPipe:
    """Forwards messages both ways. Its only state is the negotiated protocol version."""

    def __init__(self, hub: httpx.AsyncClient, write: Callable[[bytes], None]) -> None:
        self._hub = hub
        self._write = write
        self._version = ""
        self._running: dict[Any, asyncio.Task[None]] = {}

    async def run(self, lines: AsyncIterator[bytes]) -> None:
        """Forward lines until the input ends, then finish pending requests."""
        async with asyncio.TaskGroup() as answering:
            async for line in lines:
                if not line.strip():
                    continue
                message = _parse_message(line)
                if message is None:
                    self._refuse(None, _PARSE_ERROR, "This line is not a JSON-RPC message.")
                elif message.get("method") == "notifications/cancelled":
                    self._cancel(message)
                else:
                    self._start_exchange(answering, message)

    def _start_exchange(self, answering: asyncio.TaskGroup, message: dict[str, Any]) -> None:
        request_id = message.get("id")
        task = answering.create_task(self._exchange(message))
        if isinstance(request_id, int | str):
            self._running[request_id] = task
            task.add_done_callback(lambda _: self._running.pop(request_id, None))

    def _cancel(self, message: dict[str, Any]) -> None:
        params = message.get("params")
        request_id = params.get("requestId") if isinstance(params, dict) else None
        task = self._running.get(request_id) if isinstance(request_id, int | str) else None
        if task is not None:
            task.cancel()

    async def _exchange(self, message: dict[str, Any]) -> None:
        request_id = message.get("id")
        try:
            answer = await self._hub.post(_PATH, json=message, headers=self._headers(message))
        except httpx.HTTPError as error:
            why = str(error) or type(error).__name__
            self._refuse(request_id, _FAILED, f"The hub does not answer: {why}")
            return
        if request_id is None or not answer.content:
            return
        body = _parse_message(answer.content) or {}
        if body.get("jsonrpc") != "2.0":
            self._refuse(request_id, _INVALID_REQUEST, _error_reason(body, answer.status_code))
            return
        if message.get("method") == "initialize":
            self._version = str((body.get("result") or {}).get("protocolVersion", ""))
        self._send({**body, "id": request_id})

    def _headers(self, message: dict[str, Any]) -> dict[str, str]:
        """Return the headers that the protocol requires over HTTP and a pipe does not have."""
        headers = {"Accept": "application/json, text/event-stream"}
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        method = str(message.get("method", ""))
        stated = (params.get("_meta") or {}).get(_VERSION_IN_META)
        if stated:
            headers |= {"MCP-Protocol-Version": str(stated), "Mcp-Method": method}
            if method in _NAME_FIELD:
                headers["Mcp-Name"] = _header_text(str(params.get(_NAME_FIELD[method], "")))
        elif self._version and method != "initialize":
            headers["MCP-Protocol-Version"] = self._version
        return headers

    def _refuse(self, request_id: Any, code: int, reason: str) -> None:
        self._send({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": reason}})

    def _send(self, message: dict[str, Any]) -> None:
        self._write(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode())


def _parse_message(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _error_reason(body: dict[str, Any], status: int) -> str:
    """Return the error of a response that is not JSON-RPC, such as the hub's envelope."""
    error = body.get("error")
    text = error.get("message") if isinstance(error, dict) else None
    return str(text or f"What answers at {_PATH} is not a hub with an MCP door (status {status}).")


def _header_text(value: str) -> str:
    """Encode a value so that it survives in a header, as the protocol defines."""
    if value.isascii() and value.isprintable() and value == value.strip():
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="
