"""The reference of the ports, from their Protocols and the entry points of the built-in parts."""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path
from types import FunctionType

from docs.generator.markdown import GENERATED, pages, table
from plastic_memories import testing
from plastic_memories.plugins import COMPANIONS, PORTS
from plastic_memories.ports.archive import Archive
from plastic_memories.ports.embedder import Embedder
from plastic_memories.ports.event_sink import EventSink
from plastic_memories.ports.extractor import Extractor
from plastic_memories.ports.judge import JudgeEngine
from plastic_memories.ports.profile_builder import ProfileBuilder
from plastic_memories.ports.recall_engine import RecallEngine
from plastic_memories.ports.sensitive_policy import SensitivePolicy
from plastic_memories.ports.storage import StorageBackend

PROTOCOLS: dict[str, type] = {
    "storage": StorageBackend,
    "recall": RecallEngine,
    "judge": JudgeEngine,
    "extractor": Extractor,
    "profile": ProfileBuilder,
    "sensitive": SensitivePolicy,
    "events": EventSink,
    "embedder": Embedder,
    "archive": Archive,
}
_PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
_INTRODUCTION = """# Ports and plug-ins

Each part below can be replaced by a package of your own: [how to write
one](../howto/plugin.md). A plug-in is found by its entry point in the group, and chosen by
setting the variable to its name. Built-in parts use the same door. A name that is not installed
stops the start with one line that says which are."""

_CONSTRUCTORS = """## Constructors

The entry point names a function with one argument.

- **storage** is given the `Settings`, and returns an async context manager that yields the
  backend.
- **embedder** is given the `Settings`, looks at them, and returns an `EmbedderChoice`: a name, the
  reason, and a function that loads the model. That is called later, on a thread of its own.
  With its `model`, where that is known so early, stored vectors of another model count as
  waiting before it is loaded.
- **extractor** is given the context below, and returns an async context manager that yields
  the implementation. It is optional: it goes with the judge of the same name.
- **The others** are given a context with `settings`, `storage`, `query_embedder`, `meter` and
  `clock`, and return the implementation at once.

They are called once, when the hub is opened. The ports are also listed, with what is plugged
in, by `GET /capabilities` and `plastic-memories doctor`."""


def page() -> str:
    """Return the whole page."""
    rows = [
        [
            f"[`{protocol.__name__}`](#{protocol.__name__.lower()})",
            f"`plastic_memories.{port}`",
            f"`PLASTIC_MEMORIES_{(PORTS | COMPANIONS)[port]}`",
            ", ".join(f"`{name}`" for name in _built_in(port)),
        ]
        for port, protocol in PROTOCOLS.items()
    ]
    overview = table(["port", "entry-point group", "variable", "built in"], rows)
    return pages(
        GENERATED, _INTRODUCTION, overview, _CONSTRUCTORS, *map(_section, PROTOCOLS.values())
    )


def _built_in(port: str) -> list[str]:
    # Not what is installed: somebody's own plug-ins do not belong on this page.
    with _PYPROJECT.open("rb") as file:
        groups = tomllib.load(file)["project"]["entry-points"]
    return sorted(groups[f"plastic_memories.{port}"])


def _section(protocol: type) -> str:
    contract = f"{protocol.__name__.removesuffix('Backend')}Contract"
    promised = f"Contract: `plastic_memories.testing.{contract}`."
    return "\n\n".join(
        [
            f"## {protocol.__name__}",
            " ".join([f"`{protocol.__module__}`.", promised * hasattr(testing, contract)]).strip(),
            _prose(protocol),
            f"```python\n{_signatures(protocol)}\n```",
        ]
    )


def _prose(protocol: type) -> str:
    """Return the docstring without its line about the contract, which stands above."""
    text = inspect.getdoc(protocol) or ""
    kept = [part for part in text.split("\n\n") if "executable" not in part]
    return "\n\n".join(kept)


def _signatures(protocol: type) -> str:
    methods = [value for value in vars(protocol).values() if isinstance(value, FunctionType)]
    shown = [method for method in methods if not method.__name__.startswith("_")]
    return "\n\n\n".join(_signature(method) for method in shown)


def _signature(method: FunctionType) -> str:
    signature = str(inspect.signature(method)).replace("'", "")
    start = "async def" if inspect.iscoroutinefunction(method) else "def"
    text = inspect.getdoc(method) or ""
    comment = "".join(f"# {line}".rstrip() + "\n" for line in text.splitlines())
    return f"{comment}{start} {method.__name__}{signature}: ..."
