# Generated from async_client.py (`make docs`); do not edit.
"""The client for synchronous code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

import httpx

from .calls import Calls
from .connection import Connection
from .sync_methods.conversation import Conversation
from .sync_methods.formation import Formation
from .sync_methods.memories import Memories
from .sync_methods.operations import Operations
from .sync_methods.pages import Pages
from .sync_methods.personas import Personas
from .sync_methods.recall import Recall
from .sync_methods.transfer import Transfer


class PlasticMemoriesClient(
    Personas,
    Conversation,
    Memories,
    Recall,
    Formation,
    Pages,
    Transfer,
    Operations,
):
    """A client of one hub; close it, or use it in a `with` statement.

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
        transport: httpx.BaseTransport | None = None,
        bot_id: str | None = None,
        bots: Literal["all"] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._calls = Calls(persona_id, source_app, session_id, bot_id, bots)
        self._connection = Connection(
            base_url, user_id=user_id, api_key=api_key, timeout_s=timeout_s, headers=headers
        )
        self._http = httpx.Client(transport=transport, **self._connection.client_options())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()
