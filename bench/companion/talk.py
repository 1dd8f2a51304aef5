"""Labelled conversations as talk: every line is a message, and a gold line must be quoted."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.companion.hub import HubCompanion
from bench.companion.people import Utterance
from bench.companion.scores import Scores
from bench.quality.conversations import Conversation, Memory, Question
from bench.server import running

_ASSISTANT = "assistant"
_UNNAMED = frozenset({"user", _ASSISTANT})
_FILLED = "filled"


def run(found: list[Conversation], scratch: Path | None, console: Console) -> dict[str, Any]:
    """Measure on every data set how often a gold line stands in the prompt."""
    results: dict[str, Any] = {}
    with _folder(scratch) as folder, running(folder) as server:
        server.wait_until_ready()
        hub = HubCompanion(server)
        mark = folder / _FILLED
        if not mark.exists():
            for one in found:
                hub.listen(one.name, [_utterance(memory, one) for memory in one.memories])
            mark.touch()
        server.wait_until_ready()
        for dataset in dict.fromkeys(one.dataset for one in found):
            some = [one for one in found if one.dataset == dataset]
            results[dataset] = _measure(hub, some)
    _show(console, results)
    return results


@contextmanager
def _folder(scratch: Path | None) -> Iterator[Path]:
    if scratch is None:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
        return
    scratch.mkdir(parents=True, exist_ok=True)
    yield scratch


def _utterance(memory: Memory, conversation: Conversation) -> Utterance:
    speaker = memory.speaker or ""
    return Utterance(
        session=memory.session or "",
        at=memory.at if memory.at is not None else conversation.last_at or 0.0,
        role=_ASSISTANT if speaker == _ASSISTANT else "user",
        speaker="" if speaker in _UNNAMED else speaker,
        text=memory.text,
        labels=(),
        nothing=False,
    )


def _measure(hub: HubCompanion, conversations: list[Conversation]) -> dict[str, Any]:
    scores, shares = Scores(), []
    for one in conversations:
        texts = {memory.id: memory.text for memory in one.memories}
        for question in one.questions:
            now = question.asked_at or one.last_at or 0.0
            prompt = hub.prompt(one.name, question.text, now)
            share = _satisfied(question, texts, "\n".join(prompt.lines))
            scores.tokens.append(prompt.tokens)
            scores.count("gold line in the prompt", share > 0, f"{one.name} {question.text}")
            shares.append(share)
    mean = round(sum(shares) / len(shares), 3) if shares else None
    return {**scores.as_json(), "groups": mean, "max_tokens": max(scores.tokens, default=0)}


def _satisfied(question: Question, texts: dict[str, str], prompt: str) -> float:
    """Return the share of gold groups of which a line is quoted."""
    told = " ".join(prompt.split())
    quoted = [any(" ".join(texts[one].split()) in told for one in group) for group in question.gold]
    return sum(quoted) / len(quoted)


def _show(console: Console, results: dict[str, Any]) -> None:
    table = Table("talk", "a gold line is quoted", "share of gold", "tokens, median", "most")
    for dataset, one in results.items():
        share = one["shares"]["gold line in the prompt"]
        table.add_row(
            dataset,
            f"{share['share']} ({share['hits']}/{share['of']})",
            str(one["groups"]),
            str(one["median_tokens"]),
            str(one["max_tokens"]),
        )
    console.print(table)
    means = [one["groups"] for one in results.values()]
    console.print(f"mean share {sum(means) / len(means):.3f}, median {median(means):.3f}")
