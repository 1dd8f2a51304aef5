"""Makes a failing assertion of a contract say what was compared, as pytest does for tests."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(
    "plastic_memories.testing.event_sink",
    "plastic_memories.testing.judge",
    "plastic_memories.testing.profile_builder",
    "plastic_memories.testing.recall_engine",
    "plastic_memories.testing.sensitive_policy",
    "plastic_memories.testing.storage",
    "plastic_memories.testing.storage_core",
    "plastic_memories.testing.storage_ledgers",
    "plastic_memories.testing.storage_memories",
    "plastic_memories.testing.storage_messages",
    "plastic_memories.testing.storage_personas",
    "plastic_memories.testing.storage_places",
    "plastic_memories.testing.storage_search",
    "plastic_memories.testing.storage_upkeep",
)
