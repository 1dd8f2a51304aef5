"""The composition root: opens the adapters and assembles the services of each theme into a hub."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from plastic_memories import logs
from plastic_memories.adapters.prometheus.meter import PrometheusMeter
from plastic_memories.hub.api_keys import ApiKeys
from plastic_memories.hub.formation.unread_clauses import UnreadClauses
from plastic_memories.hub.hub import Hub
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.hub.vectors.embedding import EmbeddingService
from plastic_memories.ports.clock import Clock
from plastic_memories.runtime.metered_storage import MeteredStorage
from plastic_memories.runtime.private_files import make_private_folder
from plastic_memories.settings import Settings
from plastic_memories.wiring.background_tasks import running_tasks
from plastic_memories.wiring.plugin_choice import (
    HubPlugins,
    PluginContext,
    SystemClock,
    open_plugins,
    plugin_factories,
)
from plastic_memories.wiring.process_tuning import limit_matrix_threads
from plastic_memories.wiring.services.console import build_console
from plastic_memories.wiring.services.conversation import build_conversation
from plastic_memories.wiring.services.erasure import build_erasure
from plastic_memories.wiring.services.formation import build_formation
from plastic_memories.wiring.services.memories import build_memories
from plastic_memories.wiring.services.pages import build_pages
from plastic_memories.wiring.services.personas import build_personas
from plastic_memories.wiring.services.recall import build_recall
from plastic_memories.wiring.services.service_context import ServiceContext
from plastic_memories.wiring.services.transfer import build_transfer
from plastic_memories.wiring.services.upkeep import build_upkeep
from plastic_memories.wiring.services.vectors import build_embedding

logger = logging.getLogger(__name__)


@asynccontextmanager
async def open_hub(
    settings: Settings, clock: Clock | None = None, *, brief: bool = False
) -> AsyncIterator[Hub]:
    """Open everything the settings name, and close it at the end.

    `brief` says that it is for one command: its embedder starts at once, and clears nothing.
    """
    factories = plugin_factories(settings)
    # What is remembered of a person is nobody else's on this machine.
    make_private_folder(settings.data_dir)
    limit_matrix_threads(settings.embedder_threads)
    handler = _open_log(settings)
    try:
        async with AsyncExitStack() as opened:
            meter = PrometheusMeter()
            bare = await opened.enter_async_context(factories["storage"](settings))
            storage = MeteredStorage(bare, meter, settings.backend)
            choice = factories["embedder"](settings)
            embedding = build_embedding(storage, choice, meter, brief=brief)
            context = PluginContext(settings, storage, embedding, meter, clock or SystemClock())
            hub_plugins = await open_plugins(factories, context, opened)
            hub = _assemble_hub(context, hub_plugins, embedding)
            await hub.jobs.set_formation_enabled(on=settings.formation)
            async with running_tasks(hub, settings, bare):
                yield hub
    finally:
        logs.stop_logging(handler)


def _open_log(settings: Settings) -> logging.Handler:
    """Open the log; log what replaces the variables of older set-ups that are set."""
    handler = logs.log_to_file(settings.log_path, settings.log_level)
    for name, replacement in settings.replaced_variables.items():
        fields = {"variable": name, "msg": f"{name} has no effect; it is replaced by {replacement}"}
        logger.warning("settings.replaced", extra={"fields": fields})
    return handler


def _assemble_hub(opened: PluginContext, chosen: HubPlugins, embedding: EmbeddingService) -> Hub:
    settings, clock, meter = opened.settings, opened.clock, opened.meter
    storage = AuditedStorage(
        opened.storage, chosen.events, clock, embedding.wake, embedding.write_throttle
    )
    screening = Screening(chosen.sensitive, chosen.judge)
    context = ServiceContext(settings, storage, screening, chosen, meter, UnreadClauses(embedding))
    memories = build_memories(context)
    formation = build_formation(context)
    pages = build_pages(context)
    personas = build_personas(context, formation, pages)
    transfer = build_transfer(context, personas)
    recall = build_recall(context, personas, pages)
    conversation = build_conversation(context, formation, recall)
    erasure = build_erasure(context, formation, pages, conversation, memories)
    keys = ApiKeys(opened.storage, clock, settings.keys)
    return Hub(
        storage=storage,
        screening=screening,
        keys=keys,
        console=build_console(context, keys, personas, transfer),
        write=memories.write,
        review=memories.review,
        browse=memories.browse,
        undo=memories.undo,
        upcoming_events=memories.upcoming_events,
        consolidate=memories.consolidate,
        jobs=formation.jobs,
        job_runner=formation.job_runner,
        exports=formation.exports,
        archive_reader=formation.archive_reader,
        pages=pages.reader,
        page_sync=pages.sync,
        personas=personas.personas,
        goals=personas.goals,
        transfer=transfer.transfer,
        cards=transfer.cards,
        undo_import=transfer.undo_import,
        recall=recall.recall,
        search=recall.search,
        messages=conversation.messages,
        timeline=conversation.timeline,
        sessions=conversation.sessions,
        ingest=conversation.ingest,
        learn_from_conversation=conversation.learn,
        proxied_conversation=conversation.proxied,
        forget=erasure.forget,
        delete_session=erasure.delete_session,
        erase_user=erasure.erase_user,
        forget_on_request=erasure.forget_on_request,
        pending_forgets=erasure.pending_forgets,
        upkeep=build_upkeep(context, formation, recall, erasure),
        meter=meter,
        embedding=embedding,
        extractor=chosen.extractor,
    )
