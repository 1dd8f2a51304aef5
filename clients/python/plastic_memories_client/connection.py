"""The connection to a hub: address, headers, retries, and connection errors."""

from __future__ import annotations

import ipaddress
import uuid
from collections.abc import Mapping
from functools import cached_property
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import httpx

from .errors import ServerUnreachable, TimedOut
from .local_key import find_key
from .protocol import Call

FAILURES = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError)


class Connection:
    """The connection settings that both clients share."""

    def __init__(
        self,
        base_url: str,
        *,
        user_id: str,
        api_key: str | None,
        timeout_s: float,
        headers: Mapping[str, str] | None,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._user_id = user_id
        self._key = api_key
        self._timeout_s = timeout_s
        self._extra = dict(headers or {})

    @cached_property
    def is_local(self) -> bool:
        """Return whether the hub runs on this machine."""
        return is_loopback(self.base_url)

    def client_options(self) -> dict[str, Any]:
        """Return the options of the httpx client."""
        return {
            "base_url": self.base_url,
            "timeout": self._timeout_s,
            # A proxy of the environment cannot reach the caller's own machine.
            "trust_env": not self.is_local,
        }

    def request(self, call: Call[Any]) -> dict[str, Any]:
        """Return the arguments of an httpx request for a call."""
        headers = self._headers()
        body = call.body()
        if body is not None:
            headers["Content-Type"] = call.content_type
        # Bytes: httpx would refuse a user name that is not ASCII.
        encoded = {name: value.encode("utf-8", "replace") for name, value in headers.items()}
        return {
            "method": call.method,
            "url": call.path,
            "params": dict(call.params),
            "content": body,
            "headers": encoded,
        }

    def socket(self, path: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a `websockets` connection."""
        parts = urlsplit(self.base_url)
        scheme = "wss" if parts.scheme == "https" else "ws"
        place = (scheme, parts.netloc, parts.path + path, urlencode(params), "")
        return {
            "uri": urlunsplit(place),
            "additional_headers": self._headers(),
            "open_timeout": self._timeout_s,
            "proxy": None if self.is_local else True,
        }

    def unreachable_error(self, error: Exception) -> ServerUnreachable:
        """Return the error for a failed connection attempt."""
        if isinstance(error, httpx.TimeoutException | TimeoutError):
            return TimedOut(f"{self.base_url} did not answer in {self._timeout_s:g} s.")
        why = str(error) or type(error).__name__
        return ServerUnreachable(f"{self.base_url} cannot be reached: {why}")

    def _headers(self) -> dict[str, str]:
        known = {"X-User-Id": self._user_id, "X-Request-Id": uuid.uuid4().hex}
        # Looked up when needed, until it exists: the server creates one at its first start.
        if self._key is None:
            self._key = find_key(on_this_machine=self.is_local) or None
        if self._key:
            known["X-API-Key"] = self._key
        return known | self._extra


def may_repeat(call: Call[Any], error: Exception) -> bool:
    """Return whether a failed call may be retried: nothing was sent, or it changes nothing."""
    if isinstance(error, httpx.ConnectError):
        return True
    return call.method == "GET" and isinstance(
        error, httpx.NetworkError | httpx.RemoteProtocolError
    )


def is_loopback(url: str) -> bool:
    """Return whether a URL points to the caller's own machine.

    >>> is_loopback("http://127.0.0.1:8007"), is_loopback("https://hub.example.org")
    (True, False)
    """
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
