"""What pages of other origins are told."""

from __future__ import annotations

from starlette.middleware.cors import CORSMiddleware
from starlette.types import Receive, Scope, Send


class Cors(CORSMiddleware):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("method") == "POST" and b"origin" not in dict(scope["headers"]):
            # From a program, not from a page. (An answer to GET may be cached and given to a
            # page later, so it must say that it depends on the origin.)
            await self.app(scope, receive, send)
            return
        await super().__call__(scope, receive, send)
