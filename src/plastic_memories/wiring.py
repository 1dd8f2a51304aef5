"""Settings → adapters → hub: the composition root."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass

from threadpoolctl import threadpool_limits

from plastic_memories import __version__, logs, plugins
from plastic_memories.adapters.markdown.templates import TemplateFolder
from plastic_memories.adapters.pages.files import FilePageFolders
from plastic_memories.adapters.prometheus.meter import PrometheusMeter
from plastic_memories.errors import Unavailable
from plastic_memories.http.app import Application, create_app, warm_up
from plastic_memories.http.options import HttpOptions, ProxyOptions
from plastic_memories.hub.api_keys import ApiKeys, new_key
from plastic_memories.hub.conversation.ingest import IngestConversation
from plastic_memories.hub.conversation.learn_from_conversation import LearnFromConversation
from plastic_memories.hub.conversation.message_changes import ConversationTimeline
from plastic_memories.hub.conversation.messages import MessageHistory
from plastic_memories.hub.conversation.proxied_conversation import ProxiedConversation
from plastic_memories.hub.conversation.sessions import SessionLifecycle
from plastic_memories.hub.erasure.delete_session import DeleteSession
from plastic_memories.hub.erasure.forget import ForgetMemory
from plastic_memories.hub.formation.archiving import ArchiveConversation
from plastic_memories.hub.formation.digest import Digest
from plastic_memories.hub.formation.export_files import ExportFiles
from plastic_memories.hub.formation.job_runner import JobRunner
from plastic_memories.hub.formation.jobs import FormationOptions, Jobs
from plastic_memories.hub.hub import Hub
from plastic_memories.hub.memories.browse import BrowseMemories
from plastic_memories.hub.memories.consolidate import Consolidate, ConsolidateOptions
from plastic_memories.hub.memories.review import ReviewMemory
from plastic_memories.hub.memories.search import SearchMemories
from plastic_memories.hub.memories.undo import UndoChange
from plastic_memories.hub.memories.upcoming import ListUpcomingEvents
from plastic_memories.hub.memories.write import WriteMemory
from plastic_memories.hub.pages.forget_in_pages import ForgetInPages
from plastic_memories.hub.pages.line_drafts import LineDrafter
from plastic_memories.hub.pages.read_pages import PageReader
from plastic_memories.hub.pages.sync import PageLocks, SyncPages
from plastic_memories.hub.personas.goals import Goals
from plastic_memories.hub.personas.personas import Personas
from plastic_memories.hub.recall.recall import Recall, RecallOptions
from plastic_memories.hub.recall.snippets import SnippetFinder
from plastic_memories.hub.transactions.audited_storage import AuditedStorage
from plastic_memories.hub.transactions.screening import Screening
from plastic_memories.hub.transfer.cards import CharacterCards
from plastic_memories.hub.transfer.transfer import Transfer
from plastic_memories.hub.upkeep import Retention, UpkeepLoop
from plastic_memories.hub.vectors.backfill import MODEL_BATCH, READ_BATCH
from plastic_memories.hub.vectors.embedding import EmbeddingService, EmbeddingTimings
from plastic_memories.language.text.digests import api_key_digest
from plastic_memories.language.text.lazy_regex import compile_all
from plastic_memories.language.text.scripts import to_simplified
from plastic_memories.model.key import KeyLimits
from plastic_memories.ports.clock import Clock
from plastic_memories.ports.embedder import EmbedderChoice, QueryEmbedder
from plastic_memories.ports.extractor import Extractor
from plastic_memories.ports.meter import Meter
from plastic_memories.ports.recall_engine import RecallEngine
from plastic_memories.ports.storage import StorageBackend
from plastic_memories.runtime.metered_storage import MeteredStorage
from plastic_memories.runtime.recall_counts import RecallCountBuffer
from plastic_memories.runtime.wakeup import WakeUp
from plastic_memories.settings import DEFAULT_TENANT, LOOPBACK_ORIGINS, Settings
from plastic_memories.worker.loop import Worker

logger = logging.getLogger(__name__)
FIRST_USER = "local"
# How long one thread may keep the interpreter while another waits. Ours let go by themselves at
# every statement and every system call; being made to as well, 200 times a second, cost a third
# of the throughput of writes.
_SWITCH_INTERVAL_S = 0.1
# What was imported lives as long as the process: the collector need not walk it again and again.
_GC_THRESHOLDS = (20_000, 50, 100)
# Whoever starts a server gets its first answer before bodies and rules for talk are made ready.
_WARM_UP_DELAY_S = 0.5
# How many times as long as a job took the worker inside a server leaves it to its callers.
_SLEEP_FACTOR = 6.0
# A hub that ends waits so long for each of the things it does by itself.
_LAST_S = 10.0


class SystemClock:
    def now(self) -> float:
        return time.time()


@dataclass(frozen=True, slots=True)
class PluginContext:
    """What every plug-in's constructor is given."""

    settings: Settings
    storage: StorageBackend
    query_embedder: QueryEmbedder
    meter: Meter
    clock: Clock

    @property
    def recall_cache_bytes(self) -> int:
        return self.settings.recall_cache_mb * 1024 * 1024

    @property
    def refuse_contact(self) -> bool:
        return self.settings.refuse_contact


@asynccontextmanager
async def open_storage(settings: Settings) -> AsyncIterator[StorageBackend]:
    """Open the chosen storage alone, for maintenance."""
    async with plugins.plugin_factory("storage", settings.backend)(settings) as storage:
        yield storage


@asynccontextmanager
async def open_hub(
    settings: Settings, clock: Clock | None = None, *, brief: bool = False
) -> AsyncIterator[Hub]:
    """Open everything the settings name, and close it at the end.

    `brief` says that it is for one command: its embedder starts at once, and clears nothing.
    """
    chosen = {
        port: plugins.plugin_factory(port, getattr(settings, _SETTING_OF_PORT[port]))
        for port in _SETTING_OF_PORT
    }
    # What is remembered of a person is nobody else's on this machine.
    settings.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    handler = logs.log_to_file(settings.log_path, settings.log_level)
    # Left alone, numpy's matrix library starts a thread for each core, and they wait for each
    # other in turns: small products get seven times slower, embedding seventeen times.
    threadpool_limits(settings.embedder_threads, user_api="blas")
    try:
        async with AsyncExitStack() as opened:
            meter = PrometheusMeter()
            bare = await opened.enter_async_context(chosen["storage"](settings))
            storage = MeteredStorage(bare, meter, settings.backend)
            pace = EmbeddingTimings(settle_s=0) if brief else EmbeddingTimings()
            choice = chosen["embedder"](settings)
            embedding = EmbeddingService(
                storage,
                choice,
                meter,
                pace,
                may_clear=not brief,
                batch=MODEL_BATCH if brief else READ_BATCH,
            )
            context = PluginContext(settings, storage, embedding, meter, clock or SystemClock())
            extractor = await _open_extractor(context, opened)
            hub = _assemble(context, chosen, embedding, extractor)
            await hub.jobs.set_formation_enabled(on=settings.formation)
            working = _start_tasks(hub, settings)
            try:
                yield hub
            finally:
                await hub.proxied_conversation.drain()
                await _stop_tasks(working)
                await hub.embedding.close()
                hub.pages.close()
                await _flush(hub.recall.recall_counts, storage)
    finally:
        logs.stop_logging(handler)


def _start_tasks(hub: Hub, settings: Settings) -> list[asyncio.Task[None]]:
    """Start what the hub does by itself."""
    work = {"upkeep": hub.upkeep.run_forever(), "embedding": hub.embedding.run_forever()}
    if settings.markdown != "off":
        everybody = settings.markdown == "sync"
        work["pages"] = hub.page_sync.run_forever(settings.markdown_poll_s, everybody=everybody)
    if settings.formation and settings.worker == "inside":
        worker = Worker(
            hub.job_runner, hub.consolidate, settings.worker_poll_s, sleep_factor=_SLEEP_FACTOR
        )
        work["worker"] = worker.run_forever()
    return [asyncio.create_task(one, name=name) for name, one in work.items()]


async def _stop_tasks(tasks: Sequence[asyncio.Task[None]]) -> None:
    """End what runs by itself, within a time; what has failed there is only worth a line."""
    for task in tasks:
        task.cancel()
    done, _ = await asyncio.wait(tasks, timeout=_LAST_S)
    for task in done:
        if not task.cancelled() and (error := task.exception()):
            logger.error("hub.stop", exc_info=error, extra={"fields": {"task": task.get_name()}})


async def _flush(touches: RecallCountBuffer, storage: StorageBackend) -> None:
    """Write down what was recalled last; on a full disk that is lost, and harms nobody."""
    with suppress(Unavailable, TimeoutError):
        async with asyncio.timeout(_LAST_S):
            await touches.flush(storage)


def embedder_choice(settings: Settings) -> EmbedderChoice:
    """Return the embedder that the settings lead to, not loaded yet."""
    choice: EmbedderChoice = plugins.plugin_factory("embedder", settings.embedder)(settings)
    return choice


_SETTING_OF_PORT = {port: variable.lower() for port, variable in plugins.PORTS.items()}


async def _open_extractor(context: PluginContext, opened: AsyncExitStack) -> Extractor | None:
    """Open what reads talk beside the chosen judge, if that judge has such a part."""
    make = plugins.companion_factory("extractor", context.settings.judge)
    if make is None:
        return None
    extractor: Extractor = await opened.enter_async_context(make(context))
    return extractor


def _assemble(
    context: PluginContext,
    chosen: dict[str, plugins.Factory],
    embedding: EmbeddingService,
    extractor: Extractor | None,
) -> Hub:
    settings, clock, meter = context.settings, context.clock, context.meter
    judge, sink = chosen["judge"](context), chosen["events"](context)
    storage = AuditedStorage(context.storage, sink, clock, embedding.wake, embedding.write_throttle)
    formation, wakeup = _formation_options(settings), WakeUp()
    screening = Screening(chosen["sensitive"](context), judge)
    archive = ArchiveConversation(storage, chosen["archive"](context), formation)
    exports = ExportFiles(storage, archive.archive, formation)
    digest = Digest(storage, screening, judge, extractor, formation, archive.archive.is_enabled)
    work = JobRunner(Jobs(storage, formation), digest, archive, exports, meter, wakeup)
    folders, locks = _page_folders(settings), PageLocks()
    in_pages = ForgetInPages(storage, folders, locks)
    profile, templates = chosen["profile"](context), TemplateFolder(settings.template_root)
    personas = Personas(storage, screening, profile, templates, archive, exports, in_pages)
    transfer = Transfer(storage, screening, personas, settings.max_import_entries)
    messages = MessageHistory(storage, screening, formation, wakeup, exports)
    pages = PageReader(storage, screening, folders)
    drafts = LineDrafter(screening, judge, settings.max_content_chars)
    has_model = extractor is not None and settings.formation
    engine = chosen["recall"](context)
    recall = _build_recall(context, engine, personas, pages)
    timeline = ConversationTimeline(
        storage, screening, judge, formation, wakeup, exports, has_model
    )
    return Hub(
        storage=storage,
        screening=screening,
        keys=ApiKeys(context.storage, clock, settings.keys),
        write=WriteMemory(storage, screening),
        learn_from_conversation=LearnFromConversation(
            storage, screening, judge, messages if has_model else None
        ),
        review=ReviewMemory(storage, screening),
        forget=ForgetMemory(storage, archive, exports, in_pages),
        browse=BrowseMemories(storage),
        recall=recall,
        proxied_conversation=ProxiedConversation(recall, messages, timeline),
        search=SearchMemories(storage, engine, recall.recall_counts),
        ingest=IngestConversation(storage, screening, judge, messages, has_model),
        messages=messages,
        timeline=timeline,
        delete_session=DeleteSession(storage, archive.archive, timeline),
        sessions=SessionLifecycle(storage, formation, work, wakeup),
        jobs=work.jobs,
        job_runner=work,
        consolidate=Consolidate(storage, meter, _consolidate_options(settings)),
        undo=UndoChange(storage),
        upcoming_events=ListUpcomingEvents(storage),
        personas=personas,
        goals=Goals(storage, screening),
        pages=pages,
        page_sync=SyncPages(storage, drafts, folders, locks),
        cards=CharacterCards(storage, screening, transfer, settings.max_card_entries),
        transfer=transfer,
        exports=exports,
        upkeep=UpkeepLoop(storage, recall.recall_counts, _retention_options(settings), work),
        meter=meter,
        embedding=embedding,
        extractor=extractor,
    )


def _build_recall(
    context: PluginContext,
    engine: RecallEngine,
    personas: Personas,
    pages: PageReader,
) -> Recall:
    settings = context.settings
    return Recall(
        personas.storage,
        engine,
        personas,
        _recall_options(settings),
        SnippetFinder(settings.snippet_days, settings.snippet_limit),
        RecallCountBuffer(),
        context.meter,
        pages,
    )


def _page_folders(settings: Settings) -> FilePageFolders | None:
    if settings.markdown == "off":
        return None
    root = settings.memory_root
    return FilePageFolders(root, at_home=root == settings.data_dir)


def _recall_options(settings: Settings) -> RecallOptions:
    return RecallOptions(
        budget_tokens=settings.recall_budget_tokens,
        core_budget_tokens=settings.core_budget_tokens,
        page_budget_tokens=settings.markdown_budget_tokens,
    )


def _formation_options(settings: Settings) -> FormationOptions:
    return FormationOptions(
        enabled=settings.formation,
        threshold=settings.formation_threshold,
        idle_s=settings.formation_idle_s,
        schedule_s=settings.formation_schedule_s,
        max_retries=settings.job_max_retries,
        backoff_s=settings.job_backoff_s,
        lease_s=settings.job_lease_s,
        concurrency=settings.job_concurrency,
    )


def _consolidate_options(settings: Settings) -> ConsolidateOptions:
    return ConsolidateOptions(
        enabled=settings.consolidate, interval_s=settings.consolidate_interval_s
    )


def _retention_options(settings: Settings) -> Retention:
    return Retention(
        message_days=settings.message_retention_days,
        messages_per_persona=settings.message_max_per_persona,
        audit_days=settings.audit_retention_days,
    )


def build_app(settings: Settings, *, alone: bool = False, brief: bool = False) -> Application:
    """Build the web application of these settings; unknown names are refused here.

    `alone` says that this process does nothing else, and may be tuned as a whole; `brief` that
    it answers one command.
    """
    for port, name in _SETTING_OF_PORT.items():
        plugins.plugin_factory(port, getattr(settings, name))

    @asynccontextmanager
    async def opened() -> AsyncIterator[Hub]:
        if alone:
            _tune_process()
        async with open_hub(settings, brief=brief) as hub:
            announce(settings, await ensure_first_key(hub, settings))
            settling = asyncio.create_task(_warm_up(), name="settle")
            try:
                yield hub
            finally:
                await _stop_tasks([settling])

    return create_app(http_options(settings), opened)


async def _warm_up() -> None:
    """Make ready what the first callers would wait for."""
    await asyncio.sleep(_WARM_UP_DELAY_S)
    await warm_up()
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(None, compile_all)
    await loop.run_in_executor(None, to_simplified, "茶")  # any such text has the table made


def _tune_process() -> None:
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)


def http_options(settings: Settings) -> HttpOptions:
    return HttpOptions(
        version=__version__,
        plugged_in={port: getattr(settings, name) for port, name in _SETTING_OF_PORT.items()}
        | {"embedder": embedder_choice(settings).name},
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


def announce(settings: Settings, key: str | None) -> None:
    """Show a key that was just made, once, on the screen and nowhere else."""
    if key is not None:
        print(f"\n  Your API key (kept in {settings.key_file}): {key}\n", flush=True)  # noqa: T201


async def ensure_first_key(hub: Hub, settings: Settings) -> str | None:
    """Make sure there is a key; return its text if this call has made it.

    The key file outlives the database it was made for: its key is taken up again, so that a
    fresh database does not lock out the clients of this machine.
    """
    stored = await hub.keys.list_keys()
    if hub.keys.configured or any(key.revoked_at is None for key in stored):
        return None
    kept = _read_key(settings)
    if kept is not None and any(key.digest == api_key_digest(kept) for key in stored):
        kept = None  # it was revoked on purpose
    key = kept or new_key()
    await hub.keys.create(DEFAULT_TENANT, FIRST_USER, "first start", KeyLimits(), key=key)
    if kept is not None:
        return None
    _save_key(settings, key)
    return key


def _read_key(settings: Settings) -> str | None:
    if not settings.key_file.is_file():
        return None
    return settings.key_file.read_text(encoding="utf-8").strip() or None


def _save_key(settings: Settings, key: str) -> None:
    settings.key_file.parent.mkdir(parents=True, exist_ok=True)
    # Made with its mode, not changed to it: at no moment can another user read the key.
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with os.fdopen(os.open(settings.key_file, flags, 0o600), "w", encoding="utf-8") as file:
        file.write(key + "\n")
