"""The built-in judge keeps the published contract."""

from __future__ import annotations

import pytest

from plastic_memories.adapters.judge.rules import rule_judge
from plastic_memories.ports.judge import JudgeEngine
from plastic_memories.testing.judge_contract import JudgeEngineContract


class TestRules(JudgeEngineContract):
    @pytest.fixture
    def judge(self) -> JudgeEngine:
        return rule_judge(object())
