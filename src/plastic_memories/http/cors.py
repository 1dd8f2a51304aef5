"""CORS middleware."""

from __future__ import annotations

from starlette.middleware.cors import CORSMiddleware
from starlette.types import Receive, Scope, Send


class Cors(CORSMiddleware):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("method") == "POST" and b"origin" not in dict(scope["headers"]):
            # A program, not a page. (A GET response may be cached and reused for a page later, so
            # it must carry `Vary: Origin`.)
            await self.app(scope, receive, send)
            return
        await super().__call__(scope, receive, send)
