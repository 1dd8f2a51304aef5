"""The web application of some settings: the hub behind its front door."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from plastic_memories import __version__
from plastic_memories.http.app import Application, create_app, warm_up
from plastic_memories.http.options import HttpOptions, ProxyOptions
from plastic_memories.hub.hub import Hub
from plastic_memories.language.gate.decision import lasting_score
from plastic_memories.language.text.lazy_regex import compile_all
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.settings import LOOPBACK_ORIGINS, Settings
from plastic_memories.wiring.background_tasks import stop_tasks
from plastic_memories.wiring.composition import open_hub
from plastic_memories.wiring.first_key import announce, ensure_first_key
from plastic_memories.wiring.plugin_choice import embedder_choice, plugin_factories, plugin_names
from plastic_memories.wiring.process_tuning import tune_process

# Whoever starts a server gets its first answer before bodies and rules are made ready.
_WARM_UP_DELAY_S = 0.5


def build_app(settings: Settings, *, alone: bool = False, brief: bool = False) -> Application:
    """Build the web application of these settings; unknown names are refused here.

    `alone` says that this process does nothing else, and may be tuned as a whole; `brief` that
    it answers one command.
    """
    plugin_factories(settings)

    @asynccontextmanager
    async def open_and_warm_up() -> AsyncIterator[Hub]:
        if alone:
            tune_process()
        async with open_hub(settings, brief=brief) as hub:
            announce(settings, await ensure_first_key(hub.keys, settings))
            warming = asyncio.create_task(_warm_up(), name="warm-up")
            try:
                yield hub
            finally:
                await stop_tasks([warming])

    return create_app(http_options(settings), open_and_warm_up)


async def _warm_up() -> None:
    """Make ready what the first callers would wait for."""
    await asyncio.sleep(_WARM_UP_DELAY_S)
    await warm_up()
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(None, compile_all)
    await loop.run_in_executor(None, to_simplified, "茶")  # any such text has the table made
    await loop.run_in_executor(None, lasting_score, "茶")  # and the weights of the gate loaded


def http_options(settings: Settings) -> HttpOptions:
    """Return the options of the front door."""
    return HttpOptions(
        version=__version__,
        key_file=str(settings.key_file),
        plugged_in=plugin_names(settings) | {"embedder": embedder_choice(settings).name},
        max_query_chars=settings.max_query_chars,
        max_content_chars=settings.max_content_chars,
        max_body_bytes=settings.max_body_bytes,
        max_import_bytes=settings.max_import_bytes,
        max_import_entries=settings.max_import_entries,
        max_card_entries=settings.max_card_entries,
        recall_deadline_s=settings.recall_deadline_ms / 1000,
        cors_origins=settings.cors_origins,
        cors_origin_regex=None if settings.cors_origins else LOOPBACK_ORIGINS,
        allowed_hosts=settings.allowed_hosts,
        rate=settings.rate,
        wrong_keys_per_minute=settings.wrong_keys_per_minute,
        max_event_sockets=settings.max_event_sockets,
        max_event_sockets_per_key=settings.max_event_sockets_per_key,
        metrics_public=settings.metrics_public,
        effective_settings=settings.shown_values(),
        proxy=_proxy_options(settings),
    )


def _proxy_options(settings: Settings) -> ProxyOptions:
    return ProxyOptions(
        url=settings.proxy_upstream_url.rstrip("/"),
        key=settings.proxy_upstream_key,
        recall_s=settings.proxy_recall_ms / 1000,
        budget_tokens=settings.proxy_budget_tokens,
        position=settings.proxy_position,
        depth=settings.proxy_depth,
        role=settings.proxy_role,
        context_messages=settings.proxy_context_messages,
        rewrite=settings.proxy_rewrite,
        rewrite_prompt=settings.proxy_rewrite_prompt,
        rewrite_model=settings.proxy_rewrite_model,
        rewrite_s=settings.proxy_rewrite_ms / 1000,
        connect_s=settings.proxy_connect_s,
        first_byte_s=settings.proxy_first_byte_s,
        idle_s=settings.proxy_idle_s,
    )
