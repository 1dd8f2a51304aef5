"""The implementation of each port that the settings name, and what its constructor is given."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TypeAlias

from plastic_memories import plugins
from plastic_memories.ports.archive import Archive
from plastic_memories.ports.clock import Clock
from plastic_memories.ports.embedder import EmbedderChoice, QueryEmbedder
from plastic_memories.ports.event_sink import EventSink
from plastic_memories.ports.extractor import Extractor
from plastic_memories.ports.judge import JudgeEngine
from plastic_memories.ports.meter import Meter
from plastic_memories.ports.profile_builder import ProfileBuilder
from plastic_memories.ports.recall_engine import RecallEngine
from plastic_memories.ports.sensitive_policy import SensitivePolicy
from plastic_memories.ports.storage import StorageBackend
from plastic_memories.settings import Settings

Factories: TypeAlias = Mapping[str, plugins.Factory]

_SETTING_OF_PORT = {port: variable.lower() for port, variable in plugins.PORTS.items()}


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


@dataclass(frozen=True, slots=True, kw_only=True)
class HubPlugins:
    """The plug-ins that the rooms of the hub use."""

    judge: JudgeEngine
    recall: RecallEngine
    profile: ProfileBuilder
    sensitive: SensitivePolicy
    events: EventSink
    archive: Archive
    # Reads conversations with a language model, if one is configured.
    extractor: Extractor | None


def plugin_names(settings: Settings) -> dict[str, str]:
    """Return the name of the chosen implementation by port."""
    return {port: getattr(settings, name) for port, name in _SETTING_OF_PORT.items()}


def plugin_factories(settings: Settings) -> Factories:
    """Return the constructor of each chosen plug-in; raise `InvalidSetting` for unknown names."""
    return {
        port: plugins.plugin_factory(port, name) for port, name in plugin_names(settings).items()
    }


def embedder_choice(settings: Settings) -> EmbedderChoice:
    """Return the embedder that the settings lead to, not loaded yet."""
    choice: EmbedderChoice = plugins.plugin_factory("embedder", settings.embedder)(settings)
    return choice


@asynccontextmanager
async def open_storage(settings: Settings) -> AsyncIterator[StorageBackend]:
    """Open the chosen storage alone, for maintenance."""
    async with plugins.plugin_factory("storage", settings.backend)(settings) as storage:
        yield storage


async def open_plugins(
    factories: Factories, context: PluginContext, opened: AsyncExitStack
) -> HubPlugins:
    """Build the plug-ins of the hub; `opened` closes those that have something to close."""
    return HubPlugins(
        judge=factories["judge"](context),
        recall=factories["recall"](context),
        profile=factories["profile"](context),
        sensitive=factories["sensitive"](context),
        events=factories["events"](context),
        archive=factories["archive"](context),
        extractor=await _open_extractor(context, opened),
    )


async def _open_extractor(context: PluginContext, opened: AsyncExitStack) -> Extractor | None:
    """Open the extractor that goes with the chosen judge, if there is one."""
    make = plugins.companion_factory("extractor", context.settings.judge)
    if make is None:
        return None
    extractor: Extractor = await opened.enter_async_context(make(context))
    return extractor
