"""One run over a sample: the embedder alone, the hub's variants, the peers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from rich.progress import Progress

from bench.quality import summary
from bench.quality.conversations import Conversation
from bench.quality.environments import Environments, NotInstalled, peer_names, version_of
from bench.quality.hub import VARIANTS, running_hub
from bench.quality.peer import running_peer
from bench.quality.system import System, SystemFailed, measure, steps

Results = dict[str, Any]


def all_names() -> list[str]:
    """Return every system that can be measured, the hub first."""
    return [*VARIANTS, *peer_names()]


@dataclass
class Run:
    """Measures systems one after another, so that none slows down another."""

    sample: list[Conversation]
    environments: Environments
    progress: Progress
    question_seconds: list[float] = field(default_factory=list)

    def measure_all(self, names: list[str]) -> Results:
        """Measure these systems and return the results, ready for JSON."""
        results: Results = {"sample": summary.sizes(self.sample)}
        self._install([name for name in names if name not in VARIANTS])
        results["embedder"] = self._attempt(self._embedder)
        results["systems"] = {name: self._attempt(self._system, name) for name in names}
        results["ratios"] = summary.ratios(results["systems"])
        return results

    def _install(self, names: list[str]) -> None:
        for name in ["bare", *names]:
            if not self.environments.is_ready(name):
                task = self.progress.add_task(f"installing {name} (once)", total=None)
                self._attempt(self.environments.python, name)
                self.progress.remove_task(task)

    def _attempt(self, work: Any, *arguments: Any) -> Any:
        """Call `work`; a system that fails does not stop the rest."""
        try:
            return work(*arguments)
        except (NotInstalled, SystemFailed) as error:
            return {"failed": str(error)}

    def _embedder(self) -> Results:
        """Embed every text once, alone: the cost of embedding, and cached vectors for the peers."""
        texts = summary.embedded_texts(self.sample)
        questions = [question.text for one in self.sample for question in one.questions]
        task = self.progress.add_task("embedding everything once", total=None)
        with running_peer(self.environments, "bare") as bare:
            answer = bare.request(do="measure", texts=texts, questions=questions)
            memory_mb = bare.memory_mb()
        self.progress.remove_task(task)
        self.question_seconds = answer["question_seconds"]
        return {
            "version": version_of("bare"),
            "texts": len(texts),
            "texts_per_second": round(len(texts) / answer["texts_seconds"], 1),
            "question_ms": summary.percentiles_ms(self.question_seconds),
            "memory_mb": round(memory_mb, 1),
        }

    def _system(self, name: str) -> Results:
        started = time.perf_counter()
        task = self.progress.add_task(name, total=steps(self.sample))
        try:
            with self._started(name) as system:
                outcome = measure(
                    system,
                    self.sample,
                    lambda done: self.progress.update(task, advance=done),
                )
                skipped = len(getattr(system, "skipped", ()))
        finally:
            self.progress.remove_task(task)
        version = "" if name in VARIANTS else version_of(name)
        found = summary.summarize(self.sample, outcome, self.question_seconds)
        whole = round(time.perf_counter() - started, 1)
        return {"version": version, "skipped": skipped, "whole_seconds": whole, **found}

    @contextmanager
    def _started(self, name: str) -> Iterator[System]:
        if name not in VARIANTS:
            with running_peer(self.environments, name) as peer:
                yield peer
            return
        with running_hub(name) as hub:
            yield hub
