"""The benchmark's own arithmetic: scores, samples, ratios."""

from __future__ import annotations

import doctest
import gzip
import io
import json
import re
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from bench.__main__ import main
from bench.paths import CallCounter
from bench.quality import report, scores, summary
from bench.quality.conversations import (
    FULL,
    Conversation,
    Memory,
    Profile,
    Question,
    UnreadableData,
    read_folder,
    sample,
)
from bench.quality.environments import Environments, adapter_of, peer_names, version_of
from bench.quality.system import CallTime, Outcome
from click.testing import CliRunner
from rich.console import Console

BENCH = Path(__file__).parents[2] / "bench"


def groups(*ids: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(one) for one in ids)


def conversation(name: str, questions: int = 4, dataset: str = "letters") -> Conversation:
    memories = tuple(Memory(id=letter, text=f"about {letter}") for letter in "abcdef")
    asked = (
        Question(f"{name}{n}", f"what {n}?", ["odd", "even"][n % 2], groups("a"))
        for n in range(questions)
    )
    return Conversation(dataset, name, memories, tuple(asked))


def write(folder: Path, name: str, *lines: str) -> None:
    with gzip.open(folder / name, "wt", encoding="utf-8") as file:
        file.write("\n".join(lines))


LINE = {
    "conv_id": "c1",
    "memories": [{"id": 1, "session": 3, "ts": "2024-01-02", "text": "我喜欢茶"}],
    "questions": [
        {"text": "什么茶？", "asked_at": "2024-01-03T10:00:00", "gold": [[1]]},
        {"text": "nobody knows", "gold": []},
    ],
}


def test_the_examples_in_the_documentation_hold() -> None:
    assert doctest.testmod(scores).failed == 0


def test_any_id_of_a_group_satisfies_it() -> None:
    assert scores.recall(["d", "x"], groups("cd", "e"), 2) == 0.5
    assert scores.recall(["d", "e"], groups("cd", "e"), 2) == 1.0
    assert scores.recall(["x", "d", "e"], groups("cd", "e"), 1) == 0.0


def test_the_best_order_scores_one_and_a_later_place_less() -> None:
    gold = groups("ab", "c")

    assert scores.ndcg(["b", "c"], gold) == 1.0
    assert 0 < scores.ndcg(["x", "b", "c"], gold) < 1
    assert scores.ndcg(["a", "b"], gold) < scores.ndcg(["a", "x", "c"], gold)


def test_one_id_that_satisfies_two_groups_scores_no_more_than_one() -> None:
    assert scores.ndcg(["a"], groups("ab", "ac")) == 1.0


def test_nothing_found_scores_nothing() -> None:
    assert set(scores.scores([], groups("a")).values()) == {0.0}


def test_a_sample_is_the_same_every_time_and_in_order() -> None:
    everything = [conversation(f"c{n}") for n in range(10)]

    first = sample(everything, Profile("some", conversations=3, questions=5))
    again = sample(everything, Profile("some", conversations=3, questions=5))

    assert first == again
    assert len(first) == 3
    assert sum(len(one.questions) for one in first) == 5
    assert [one.id for one in first] == sorted(one.id for one in first)
    assert all(len(one.memories) == 6 for one in first)


def test_the_sample_of_a_data_set_does_not_depend_on_the_others() -> None:
    mine = [conversation(f"c{n}") for n in range(10)]
    other = [conversation(f"d{n}", dataset="other") for n in range(10)]
    some = Profile("some", conversations=3, questions=5)

    assert sample([*other, *mine], some)[3:] == sample(mine, some)


def test_a_full_profile_takes_everything() -> None:
    everything = [conversation(f"c{n}") for n in range(3)]

    assert sample(everything, FULL) == everything


def test_files_are_read_and_questions_without_evidence_left_out(tmp_path: Path) -> None:
    write(tmp_path, "tea.jsonl.gz", json.dumps(LINE), "")

    (found,) = read_folder(tmp_path)

    assert found.name == "tea.c1"
    assert found.memories == (Memory("1", "我喜欢茶", "3", None, 1704153600.0),)
    assert [question.gold for question in found.questions] == [groups("1")]
    assert found.questions[0].asked_at == 1704276000.0


def test_only_the_data_sets_asked_for_are_read(tmp_path: Path) -> None:
    write(tmp_path, "tea.jsonl.gz", json.dumps(LINE))

    assert read_folder(tmp_path, frozenset({"coffee"})) == []


def test_a_line_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    write(tmp_path, "tea.jsonl.gz", json.dumps(LINE), '{"conv_id": "c2"}')

    with pytest.raises(UnreadableData, match=r"tea\.jsonl\.gz, line 2"):
        read_folder(tmp_path)


ONE = {"id": "m1", "text": "我喜欢茶 and coffee"}
ASKED = {"id": "q1", "text": "什么茶 do I like?", "gold": [["m1"]]}


def line(**changed: Any) -> bytes:
    whole = {"conv_id": "c1", "memories": [ONE], "questions": [ASKED], **changed}
    return json.dumps({name: value for name, value in whole.items() if value is not None}).encode()


UNUSABLE = [
    (b"\xff\xfe{}", "not UTF-8"),
    (b'{"not json', "Expecting|Unterminated"),
    (b"[]", "not an object"),
    (line(memories=None), "'memories' is missing"),
    (line(memories=[]), "memories is empty"),
    (line(memories=["m1"]), "memories is not a list of objects"),
    (line(memories=[{"id": "m1", "text": " "}]), "memory 'm1' has no text"),
    (line(memories=[ONE, ONE]), "memories share the id 'm1'"),
    (line(memories=[{**ONE, "ts": "昨天"}]), "昨天"),
    (line(questions=[]), "questions is empty"),
    (line(questions=[{**ASKED, "gold": []}]), "no question has evidence"),
    (line(questions=[{**ASKED, "gold": [[]]}]), "no question has evidence"),
    (line(questions=[{**ASKED, "gold": ["m1"]}]), "'q1': gold is not a list of lists"),
    (line(questions=[{**ASKED, "gold": [["m1", "zz"]]}]), "'q1': gold names 'zz'"),
    (line(questions=[{**ASKED, "text": ""}]), "question 'q1' has no text"),
    (line(conv_id="c0"), "there is a conversation 'c0' already"),
]


@pytest.mark.parametrize("command", ["quality", "tune"])
@pytest.mark.parametrize(("bad", "why"), UNUSABLE)
def test_data_that_would_spoil_a_score_is_refused_by_file_line_and_reason(
    tmp_path: Path, command: str, bad: bytes, why: str
) -> None:
    (tmp_path / "tea.jsonl").write_bytes(line(conv_id="c0") + b"\n\n" + bad)

    done = CliRunner().invoke(main, [command, "--data", str(tmp_path)])

    assert done.exit_code == 1
    assert re.search(rf"^Error: .*tea\.jsonl, line 3: .*(?:{why})", done.output, re.MULTILINE)


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tea.jsonl.gz").write_bytes(gzip.compress(line() * 100)[:60])

    with pytest.raises(UnreadableData, match=r"tea\.jsonl\.gz cannot be read"):
        read_folder(tmp_path)


@pytest.mark.parametrize("command", ["quality", "tune"])
@pytest.mark.parametrize("folder", ["", "missing"])
def test_a_folder_without_conversations_is_named(tmp_path: Path, command: str, folder: str) -> None:
    done = CliRunner().invoke(main, [command, "--data", str(tmp_path / folder)])

    assert done.exit_code == 1
    assert f"No labelled conversations in {tmp_path / folder}" in done.output


def test_a_mark_at_the_start_of_a_file_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "tea.jsonl").write_bytes(b"\xef\xbb\xbf" + line() + b"\n")

    [found] = read_folder(tmp_path)

    assert found.memories[0].text == ONE["text"]


def outcome(found: str, query_s: float, embedding_s: float = 0.0) -> Outcome:
    return Outcome(
        answers=[[found]] * 4,
        queries=[CallTime(query_s, embedding_s)] * 4,
        ingests=[(6, CallTime(6 * query_s))],
    )


def test_embedding_is_taken_out_of_a_time_and_added_as_it_is_alone() -> None:
    found = summary.summarize([conversation("c")], outcome("a", 0.005, 0.003), [0.010] * 4)

    assert found["question_ms"]["p50"] == 2.0
    assert found["question_with_embedding_ms"]["p50"] == 12.0


def test_a_system_without_embedding_is_not_charged_for_it() -> None:
    found = summary.summarize([conversation("c")], outcome("a", 0.005), [0.010] * 4)

    assert found["question_with_embedding_ms"]["p50"] == 5.0


def test_vectors_that_come_later_are_counted_from_the_first_write_on() -> None:
    late = outcome("a", 0.001, 0.001)
    late.settle_seconds, late.filling_seconds = 0.5, 0.6

    found = summary.summarize([conversation("c")], late, [0.001] * 4)

    assert found["texts_per_second"] == 10.0


def test_a_long_text_counts_as_often_as_the_hub_embeds_it() -> None:
    long = Memory("long", "I like tea with milk in the garden. " * 10)
    short = Memory("short", "我喜欢在花园里喝茶")
    talk = Conversation("letters", "c", (long, short), ())

    texts = summary.embedded_texts([talk])

    assert texts[0] == long.text
    assert texts[-1] == short.text
    assert len(texts) > 3


def results() -> dict[str, Any]:
    talk = [conversation("c")]
    systems = {
        "hub": {"skipped": 1, **summary.summarize(talk, outcome("a", 0.001), [])},
        "hub-keyword": {"failed": "this hub does not know it"},
        "slow": {"skipped": 0, **summary.summarize(talk, outcome("b", 0.010), [])},
        "near": {"skipped": 0, **summary.summarize(talk, outcome("a", 0.002), [])},
        "gone": {"failed": "no such package"},
    }
    return {
        "sample": summary.sizes(talk),
        "embedder": {"failed": "no such package"},
        "systems": systems,
        "ratios": summary.ratios(systems),
    }


def test_ratios_say_how_much_faster_and_better_the_hub_is() -> None:
    found = summary.ratios(results()["systems"])

    assert found["by_peer"]["slow"]["question_p50_faster"] == 10.0
    assert found["by_peer"]["slow"]["ingest_p50_faster"] == 10.0
    assert found["by_peer"]["slow"]["recall@10"] is None
    assert found["best_peer"]["letters"]["peer"] == "near"
    assert found["best_peer"]["letters"]["ratio"] == 1.0


def test_the_report_names_what_was_not_measured_and_shows_ratios() -> None:
    console = Console(record=True, width=200, file=io.StringIO())

    report.show(console, results(), every_score=True)

    text = console.export_text()
    assert "gone was not measured: no such package" in text
    assert "hub refused 1 memories" in text
    assert "10.00×" in text
    assert "ndcg@10 by data set and category" in text
    assert re.search(r"even\W+2\W+1\.000", text)


def test_two_ways_to_use_one_package_share_its_environment(tmp_path: Path) -> None:
    cache = Environments(tmp_path)

    assert {"mem0", "mem0-apart"} <= set(peer_names())
    assert cache.folder("mem0-apart") == cache.folder("mem0") != cache.folder("chroma")
    assert version_of("mem0-apart") == version_of("mem0")


def test_the_report_says_how_many_texts_the_memories_are() -> None:
    console = Console(record=True, width=400, file=io.StringIO())
    known = results()
    question_ms = {"p50": 1.0}
    known["embedder"] = {
        "version": "x==1", "texts": 12, "texts_per_second": 20.0,
        "question_ms": question_ms, "memory_mb": 1.0,
    }  # fmt: skip
    known["systems"]["hub"]["texts_per_second"] = 18.0

    report.show(console, known, every_score=False)

    text = console.export_text()
    assert "18 texts per second, 90% of that: 6 memories are 12 texts" in text


def test_every_peer_has_an_adapter_and_every_version_is_pinned() -> None:
    for name in peer_names():
        assert (BENCH / "peers" / f"{adapter_of(name)}.py").exists(), name
        assert "==" in version_of(name) or name == "fts5", name
    for file in (BENCH / "environments").glob("*.txt"):
        lines = [line for line in file.read_text().splitlines() if not line.startswith("#")]
        assert all(re.fullmatch(r"[\w.\-\[\]]+==[\w.]+", line) for line in lines), file


def test_calls_are_counted_by_the_file_they_are_in() -> None:
    counter = CallCounter(str(Path(doctest.__file__)))
    before = sys.getprofile()
    counter.install()
    try:
        doctest.script_from_examples("outside of the counter")
        with counter:
            doctest.script_from_examples("no examples")
            re.escape("elsewhere")
    finally:
        threading.setprofile(None)
        sys.setprofile(before)

    assert counter.modules == {doctest.__file__}
    assert 0 < counter.calls < counter.all_calls
