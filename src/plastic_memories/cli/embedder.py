"""`plastic-memories embedder …`"""

from __future__ import annotations

import json
from pathlib import Path

import click

from plastic_memories import settings as configuration
from plastic_memories.cli.place import Place, local_command
from plastic_memories.cli.screen import Screen, size


@click.group()
def embedder() -> None:
    """Models that find memories by meaning."""


@embedder.command()
@click.argument("name")
@click.option("--url", default="", help="Model hub; else PLASTIC_MEMORIES_EMBEDDER_HUB_URL.")
@click.option("--revision", default="main", show_default=True, help="Branch, tag or commit.")
@click.option("--file", "model_file", default="", help="Which ONNX file, if there are several.")
@click.option("--sha256", default="", help="What the ONNX file must be, if the hub is not asked.")
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
    that the hub gives.
    """
    import httpx

    from plastic_memories.adapters.embedding.download import ModelHub
    from plastic_memories.adapters.embedding.onnx import downloaded

    settings = configuration.load()
    folder = downloaded(settings.data_dir, name)
    screen = Screen.of(place)
    with httpx.Client(timeout=30) as client, screen.progress("downloading") as report:
        hub = ModelHub(client, url or settings.embedder_hub_url, name, revision)
        found = hub.fetch_model(folder, model_file, sha256, report)
    if query_prefix or passage_prefix:
        _keep_prefixes(folder, query_prefix, passage_prefix)
    answer = {
        "model": name,
        "folder": str(folder),
        "files": [
            {"path": str(one.path.relative_to(folder)), "bytes": one.size, "checked": one.checked}
            for one in found
        ],
    }
    if screen.told(answer):
        return
    for one in found:
        checked = f"checked ({one.checked})" if one.checked else "no checksum was given"
        screen.line(f"✓ {one.path.relative_to(folder)}  {size(one.size)}, {checked}", style="green")
    screen.line(f"Use it with: PLASTIC_MEMORIES_EMBEDDER=onnx:{name}")


def _keep_prefixes(folder: Path, query: str, passage: str) -> None:
    from plastic_memories.adapters.embedding.model_folder import PROMPTS

    file = folder / PROMPTS
    known = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    prompts = {"query": query, "passage": passage}
    file.write_text(json.dumps({**known, "prompts": prompts}, indent=2), encoding="utf-8")


COMMANDS = {"embedder": embedder}
