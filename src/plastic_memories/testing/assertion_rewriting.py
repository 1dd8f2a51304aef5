"""Let pytest rewrite the assertions of the contracts, so that a failure shows the values."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(
    "plastic_memories.testing.event_sink_contract",
    "plastic_memories.testing.judge_contract",
    "plastic_memories.testing.profile_builder_contract",
    "plastic_memories.testing.recall_engine_contract",
    "plastic_memories.testing.sensitive_policy_contract",
    "plastic_memories.testing.storage.storage_contract",
    "plastic_memories.testing.storage.core_memories",
    "plastic_memories.testing.storage.audit_and_keys",
    "plastic_memories.testing.storage.memory_stores",
    "plastic_memories.testing.storage.message_stores",
    "plastic_memories.testing.storage.persona_stores",
    "plastic_memories.testing.storage.unique_keys",
    "plastic_memories.testing.storage.text_search",
    "plastic_memories.testing.storage.upkeep_stores",
)
