"""`plastic-memories embedder …`"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plastic_memories import settings as configuration
from plastic_memories.cli.command_options import Place, local_command
from plastic_memories.cli.output import Screen, size
from plastic_memories.errors import PlasticMemoriesError, Unavailable

if TYPE_CHECKING:
    from plastic_memories.adapters.embedding.download import Fetched


_CHECKED = {
    "": "not checked: the hub gave no checksum",
    "loaded": "checked by loading it",
    "prefixes": "with prefixes of your own",
}
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


def _hexadecimal(_: click.Context, __: click.Parameter, given: str) -> str:
    if given and not _SHA256.fullmatch(given):
        raise click.BadParameter("a SHA-256 has 64 hexadecimal digits.")
    return given


@click.group()
def embedder() -> None:
    """Models that find memories by meaning."""


@embedder.command()
@click.argument("name")
@click.option("--url", default="", help="Model hub; else PLASTIC_MEMORIES_EMBEDDER_HUB_URL.")
@click.option("--revision", default="main", show_default=True, help="Branch, tag or commit.")
@click.option("--file", "model_file", default="", help="Which ONNX file, if there are several.")
@click.option(
    "--sha256",
    default="",
    callback=_hexadecimal,
    help="What the ONNX file must be, if the hub is not asked.",
)
@click.option("--query-prefix", default="", help='Put before questions; e5 wants "query: ".')
@click.option("--passage-prefix", default="", help='Put before memories; e5 wants "passage: ".')
@local_command
def download(
    place: Place,
    *,
    name: str,
    url: str,
    revision: str,
    model_file: str,
    sha256: str,
    query_prefix: str,
    passage_prefix: str,
) -> None:
    """Fetch the model NAME (owner/model) for EMBEDDER=onnx.

    Interrupted, it goes on where it was when run again. Files are compared with the checksums
    that the hub gives, and the model is loaded to see whether it works.
    """
    import httpx

    from plastic_memories.adapters.embedding.download import ModelHub
    from plastic_memories.adapters.embedding.onnx import downloaded

    settings = configuration.load()
    folder = downloaded(settings.data_dir, name)
    screen = Screen.of(place)
    with (
        httpx.Client(timeout=httpx.Timeout(30, connect=10)) as client,
        screen.progress("downloading") as report,
    ):
        hub = ModelHub(client, url or settings.embedder_hub_url, name, revision)
        found = hub.fetch_model(folder, model_file, sha256, report)
    if query_prefix or passage_prefix:
        kept = _keep_prefixes(folder, revision, query_prefix, passage_prefix)
        found = [kept if one.path == kept.path else one for one in found]
    missing, dimension = _tried(folder, found)
    if dimension:
        found = hub.loaded(folder, found)
    answer = {
        "model": name,
        "folder": str(folder),
        "files": [
            {"path": str(one.path.relative_to(folder)), "bytes": one.size, "checked": one.checked}
            for one in found
        ],
        "dimension": dimension,
    }
    if screen.told(answer):
        return
    for one in found:
        mark, style = ("✓", "green") if one.checked else ("!", "yellow")
        checked = _CHECKED.get(one.checked, f"checked ({one.checked})")
        line = f"{mark} {one.path.relative_to(folder)}  {size(one.size)}, {checked}"
        screen.line(line, style=style)
    if dimension:
        screen.line(f"✓ It loads, and makes vectors of {dimension} numbers.", style="green")
    else:
        screen.line(f"! It was not loaded to see whether it works, without {missing}", "yellow")
    screen.line(f"Use it with: PLASTIC_MEMORIES_EMBEDDER=onnx:{name}")


def _tried(folder: Path, found: Sequence[Fetched]) -> tuple[str, int | None]:
    """Load the model and make a vector; return which packages are missing, or how long it is."""
    from plastic_memories.adapters.embedding.model_folder import read_folder
    from plastic_memories.adapters.embedding.onnx import OnnxEmbedder, missing_packages
    from plastic_memories.hub.vectors.embedder_probe import probe

    missing = missing_packages()
    if missing:
        return missing, None
    try:
        embedder = OnnxEmbedder(read_folder(folder), threads=1)
        probe(embedder)
    except PlasticMemoriesError as error:
        # What came without a checksum may be anything; the next command fetches it again.
        for one in found:
            if not one.checked:
                one.path.unlink()
        raise Unavailable(f"What was downloaded does not work: {error.message}") from error
    return "", embedder.dimension


def _keep_prefixes(folder: Path, revision: str, query: str, passage: str) -> Fetched:
    from plastic_memories.adapters.embedding.download import Fetched
    from plastic_memories.adapters.embedding.known_files import KnownFiles
    from plastic_memories.adapters.embedding.model_folder import PROMPTS

    file = folder / PROMPTS
    known = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    prompts = {"query": query, "passage": passage}
    file.write_text(json.dumps({**known, "prompts": prompts}, indent=2), encoding="utf-8")
    # No longer what the hub has: the next command must leave it as it is.
    KnownFiles(folder, revision).note(PROMPTS, "prefixes")
    return Fetched(file, file.stat().st_size, "prefixes")


COMMANDS = {"embedder": embedder}
