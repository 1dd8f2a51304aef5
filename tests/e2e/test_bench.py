"""The quality benchmark on a made-up conversation: a real hub, and a real peer beside it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from bench.quality.conversations import Conversation, Memory, Question
from bench.quality.environments import Environments
from bench.quality.run import Run
from rich.console import Console
from rich.progress import Progress

TALK = Conversation(
    dataset="tea",
    id="小红",
    memories=(
        Memory("m1", "I keep my bicycle in the cellar", "s1", "Anna", 1_700_000_000.0),
        Memory("m2", "My aunt plays the violin in Vienna", "s1", "Anna", 1_700_000_060.0),
        Memory("m3", "我对海鲜过敏", None, None, None),
    ),
    questions=(
        Question("q1", "where is the bicycle?", "place", (frozenset({"m1"}),), 1_700_100_000.0),
        Question("q2", "海鲜可以吃吗？", "food", (frozenset({"m3"}),)),
    ),
)


class ThisInterpreter(Environments):
    """No environments: peers run here, so only those that need nothing can."""

    def is_ready(self, name: str) -> bool:
        return True

    def python(self, name: str) -> Path:
        return Path(sys.executable)


def run(tmp_path: Path, *names: str) -> dict[str, Any]:
    with Progress(console=Console(quiet=True)) as progress:
        return Run([TALK], ThisInterpreter(tmp_path), progress).measure_all(list(names))


def test_the_hub_and_a_peer_answer_the_same_questions(tmp_path: Path) -> None:
    found = run(tmp_path, "hub", "fts5")

    hub, fts5 = found["systems"]["hub"], found["systems"]["fts5"]
    assert hub["scores"]["by_set"]["tea"]["recall@1"] == 1.0
    assert fts5["scores"]["by_set"]["tea"]["recall@20"] == 0.5
    assert hub["skipped"] == 0
    assert hub["memory_mb"] > 10
    assert found["ratios"]["best_peer"]["tea"]["ratio"] == 2.0


def test_a_system_that_cannot_run_does_not_stop_the_rest(tmp_path: Path) -> None:
    found = run(tmp_path, "nobody", "fts5")

    assert "No module named 'bench.peers.nobody'" in str(found["systems"]["nobody"]["failed"])
    assert "scores" in found["systems"]["fts5"]
