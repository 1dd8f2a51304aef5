"""`plastic-memories embedder …`"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plastic_memories import settings as configuration
from plastic_memories.cli.command_options import CliOptions, local_command
from plastic_memories.cli.output import Screen, size_text
from plastic_memories.errors import PlasticMemoriesError, Unavailable

if TYPE_CHECKING:
    from plastic_memories.adapters.embedding.download import FetchedFile


_CHECK_TEXT = {
    "": "not checked: the hub gave no checksum",
    "loaded": "checked by loading it",
    "prefixes": "with prefixes of your own",
}
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


def _validate_sha256(_: click.Context, __: click.Parameter, given: str) -> str:
    if given and not _SHA256.fullmatch(given):
        raise click.BadParameter("a SHA-256 has 64 hexadecimal digits.")
    return given


@click.group()
def embedder() -> None:
    """Manage models for search by meaning."""


@embedder.command()
@click.argument("name")
@click.option("--url", default="", help="Model hub; else PLASTIC_MEMORIES_EMBEDDER_HUB_URL.")
@click.option("--revision", default="main", show_default=True, help="Branch, tag or commit.")
@click.option("--file", "model_file", default="", help="Which ONNX file, if there are several.")
@click.option(
    "--sha256",
    default="",
    callback=_validate_sha256,
    help="Expected SHA-256 of the ONNX file, if the model hub gives none.",
)
@click.option("--query-prefix", default="", help='Prefix of queries; e5 needs "query: ".')
@click.option("--passage-prefix", default="", help='Prefix of memories; e5 needs "passage: ".')
@local_command
def download(
    options: CliOptions,
    *,
    name: str,
    url: str,
    revision: str,
    model_file: str,
    sha256: str,
    query_prefix: str,
    passage_prefix: str,
) -> None:
    """Download the model NAME (owner/model) for EMBEDDER=onnx.

    If interrupted, run it again to resume. Files are compared with the checksums of the model hub,
    and the model is loaded to see whether it works.
    """
    import httpx

    from plastic_memories.adapters.embedding.download import ModelHub
    from plastic_memories.adapters.embedding.onnx import downloaded_model_path

    settings = configuration.load_settings()
    folder = downloaded_model_path(settings.data_dir, name)
    screen = Screen.for_options(options)
    with (
        httpx.Client(timeout=httpx.Timeout(30, connect=10)) as client,
        screen.progress("downloading") as report,
    ):
        hub = ModelHub(client, url or settings.embedder_hub_url, name, revision)
        found = hub.fetch_model(folder, model_file, sha256, report)
    if query_prefix or passage_prefix:
        prompts_file = _save_prefixes(folder, revision, query_prefix, passage_prefix)
        found = [prompts_file if one.path == prompts_file.path else one for one in found]
    missing, dimension = _try_model(folder, found)
    if dimension:
        found = hub.mark_loaded(folder, found)
    answer = {
        "model": name,
        "folder": str(folder),
        "files": [
            {"path": str(one.path.relative_to(folder)), "bytes": one.size, "checked": one.checked}
            for one in found
        ],
        "dimension": dimension,
    }
    if screen.print_if_json(answer):
        return
    for one in found:
        mark, style = ("✓", "green") if one.checked else ("!", "yellow")
        checked = _CHECK_TEXT.get(one.checked, f"checked ({one.checked})")
        line = f"{mark} {one.path.relative_to(folder)}  {size_text(one.size)}, {checked}"
        screen.line(line, style=style)
    if dimension:
        screen.line(f"✓ The model loads; its vectors have {dimension} dimensions.", style="green")
    else:
        screen.line(f"! The model was not tested; missing: {missing}", "yellow")
    screen.line(f"Use it with: PLASTIC_MEMORIES_EMBEDDER=onnx:{name}")


def _try_model(folder: Path, found: Sequence[FetchedFile]) -> tuple[str, int | None]:
    """Load the model and embed a text; return the missing packages, or the dimension."""
    from plastic_memories.adapters.embedding.model_folder import read_model_folder
    from plastic_memories.adapters.embedding.onnx import OnnxEmbedder, missing_packages
    from plastic_memories.hub.vectors.embedder_probe import probe_embedder

    missing = missing_packages()
    if missing:
        return missing, None
    try:
        embedder = OnnxEmbedder(read_model_folder(folder), threads=1)
        probe_embedder(embedder)
    except PlasticMemoriesError as error:
        # A file without a checksum may be anything; the next run downloads it again.
        for one in found:
            if not one.checked:
                one.path.unlink()
        raise Unavailable(f"What was downloaded does not work: {error.message}") from error
    return "", embedder.dimension


def _save_prefixes(folder: Path, revision: str, query: str, passage: str) -> FetchedFile:
    from plastic_memories.adapters.embedding.download import FetchedFile
    from plastic_memories.adapters.embedding.known_files import FileCheckRecord
    from plastic_memories.adapters.embedding.model_folder import PROMPTS

    file = folder / PROMPTS
    known = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    prompts = {"query": query, "passage": passage}
    file.write_text(json.dumps({**known, "prompts": prompts}, indent=2), encoding="utf-8")
    # It now differs from the model hub's copy: the next run must not overwrite it.
    FileCheckRecord(folder, revision).record_check(PROMPTS, "prefixes")
    return FetchedFile(file, file.stat().st_size, "prefixes")


COMMANDS = {"embedder": embedder}
