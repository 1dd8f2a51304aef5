"""Contracts for plug-in authors: inherit one, give it your implementation, run pytest.

Each class holds the promises of one port as tests. The built-in adapters pass the same ones.
"""

from __future__ import annotations

from plastic_memories.testing import explained as explained
from plastic_memories.testing.archive import ArchiveContract
from plastic_memories.testing.embedder import EmbedderContract
from plastic_memories.testing.event_sink import EventSinkContract
from plastic_memories.testing.extractor import ExtractorContract
from plastic_memories.testing.judge import JudgeEngineContract
from plastic_memories.testing.profile_builder import ProfileBuilderContract
from plastic_memories.testing.recall_engine import RecallEngineContract
from plastic_memories.testing.sensitive_policy import SensitivePolicyContract
from plastic_memories.testing.storage import StorageContract

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
