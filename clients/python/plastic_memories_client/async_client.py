"""The client for asyncio."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

import httpx

from .async_methods.conversation import AsyncConversation
from .async_methods.formation import AsyncFormation
from .async_methods.memories import AsyncMemories
from .async_methods.operations import AsyncOperations
from .async_methods.pages import AsyncPages
from .async_methods.personas import AsyncPersonas
from .async_methods.recall import AsyncRecall
from .async_methods.transfer import AsyncTransfer
from .calls import Calls
from .connection import Connection


class AsyncPlasticMemoriesClient(
    AsyncPersonas,
    AsyncConversation,
    AsyncMemories,
    AsyncRecall,
    AsyncFormation,
    AsyncPages,
    AsyncTransfer,
    AsyncOperations,
):
    """A client of one hub; close it, or use it in an `async with` statement.

    Without `api_key` the key comes from PLASTIC_MEMORIES_API_KEY or, for a hub on this machine,
    from its key file. Every method raises `PlasticMemoriesClientError` or a subclass. `persona_id`
    defaults to the client's own.
    """

    def __init__(
        self,
        base_url: str = "http://127.0.0.1:8007",
        user_id: str = "local",
        persona_id: str = "default",
        source_app: str = "python_sdk",
        timeout_s: float = 10,
        api_key: str | None = None,
        *,
        session_id: str | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        bot_id: str | None = None,
        bots: Literal["all"] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._calls = Calls(persona_id, source_app, session_id, bot_id, bots)
        self._connection = Connection(
            base_url, user_id=user_id, api_key=api_key, timeout_s=timeout_s, headers=headers
        )
        self._http = httpx.AsyncClient(transport=transport, **self._connection.client_options())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()
