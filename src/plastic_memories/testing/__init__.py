"""Contract tests for plug-in authors: inherit one, provide your implementation, run pytest.

Each class tests the promises of one port. The built-in adapters pass the same tests.
"""

from __future__ import annotations

from plastic_memories.testing import assertion_rewriting  # noqa: F401 - must come first
from plastic_memories.testing.archive_contract import ArchiveContract
from plastic_memories.testing.embedder_contract import EmbedderContract
from plastic_memories.testing.event_sink_contract import EventSinkContract
from plastic_memories.testing.extractor_contract import ExtractorContract
from plastic_memories.testing.judge_contract import JudgeEngineContract
from plastic_memories.testing.profile_builder_contract import ProfileBuilderContract
from plastic_memories.testing.recall_engine_contract import RecallEngineContract
from plastic_memories.testing.sensitive_policy_contract import SensitivePolicyContract
from plastic_memories.testing.storage.storage_contract import StorageContract

__all__ = [
    "ArchiveContract",
    "EmbedderContract",
    "EventSinkContract",
    "ExtractorContract",
    "JudgeEngineContract",
    "ProfileBuilderContract",
    "RecallEngineContract",
    "SensitivePolicyContract",
    "StorageContract",
]
