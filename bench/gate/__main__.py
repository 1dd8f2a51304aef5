"""`python -m bench.gate`: train the gate, and measure it."""

from __future__ import annotations

from pathlib import Path

import click
from threadpoolctl import threadpool_limits

from bench.gate.corpora import read_sentences
from bench.gate.evaluation import Reader, chatter_alarms, fact_coverage, score_sentences
from bench.gate.examples import corpus_examples, written_examples
from bench.gate.training import train_heads, write_arrays
from bench.gate.vectors import VectorCache

_PATH = click.Path(path_type=Path)
_SENTENCES = Path(__file__).parent / "sentences"
_WEIGHTS = Path("src/plastic_memories/language/gate/weights.npz")
_OPTIONS = {
    "talk": click.option("--talk", type=_PATH, required=True, help="Folder with the corpora."),
    "sentences": click.option(
        "--sentences",
        type=_PATH,
        default=_SENTENCES,
        show_default=True,
        help="Folder with the sentences written for this project.",
    ),
    "vectors": click.option(
        "--vectors",
        type=_PATH,
        default=Path.home() / ".cache/plastic-memories-bench/gate-vectors.npz",
        show_default=True,
        help="Keep vectors here.",
    ),
}


@click.group()
def main() -> None:
    """Train the gate, and measure it."""


@main.command()
@_OPTIONS["talk"]
@_OPTIONS["sentences"]
@_OPTIONS["vectors"]
@click.option("--out", type=_PATH, default=_WEIGHTS, show_default=True, help="The file to write.")
def train(talk: Path, sentences: Path, vectors: Path, out: Path) -> None:
    """Train both heads on one thread; the same input gives the same bytes."""
    with threadpool_limits(1):
        cache = VectorCache(vectors)
        written = read_sentences(sentences, "train")
        examples = [*corpus_examples(talk, cache), *written_examples(written)]
        write_arrays(train_heads(examples, cache), out)
    click.echo(f"{out}: {out.stat().st_size} bytes")


@main.command()
@_OPTIONS["talk"]
@_OPTIONS["sentences"]
@_OPTIONS["vectors"]
@click.option("--half", default="aside", show_default=True, help="Sentences: train or aside.")
@click.option("--limit", default=1500, show_default=True, help="Utterances of each corpus.")
@click.option("--talks", default=150, show_default=True, help="Conversations with facts.")
def evaluate(talk: Path, sentences: Path, vectors: Path, half: str, limit: int, talks: int) -> None:
    """Measure the shipped weights, with and without an embedder."""
    written = read_sentences(sentences, half)
    for name, cache in (("with an embedder", VectorCache(vectors)), ("without", None)):
        reader = Reader(cache)
        click.echo(f"== {name}")
        for language in ("zh", "en"):
            figures = score_sentences(reader, [one for one in written if one.language == language])
            for kind, one in figures.items():
                click.echo(
                    f"{language} {kind}: {one.total}, kept {one.kept}, "
                    f"as wanted {one.kept_as}, kind right {one.kind_right}"
                )
        for corpus, shares in chatter_alarms(reader, talk, limit).items():
            click.echo(f"{corpus}: " + ", ".join(f"{k} {v:.4f}" for k, v in shares.items()))
        for corpus in ("dulemon", "msc_persona"):
            found = fact_coverage(reader, talk, corpus, talks)
            click.echo(
                f"{corpus}: {found.said} facts said, covered by rules {found.by_rules}, "
                f"by all {found.by_all}; {found.drafts} drafts of {found.utterances} utterances"
            )


if __name__ == "__main__":
    main()
