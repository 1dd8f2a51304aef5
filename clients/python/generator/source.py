"""Format generated source as the rest of the repository is formatted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "clients" / "python" / "plastic_memories_client"


def render_file(text: str, path: Path, source: str) -> str:
    """Return a whole file for `path`: a warning, then `text` without unused imports, formatted."""
    header = f"# Generated from {source} (`make docs`); do not edit.\n"
    # Unused imports (F401) and their order (I) change with every rewrite.
    imports = _ruff(header + text, path, "check", "--fix-only", "--quiet", "--select=F401,I")
    return _ruff(imports, path, "format")


def _ruff(text: str, path: Path, *command: str) -> str:
    arguments = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(path), "-"]
    done = subprocess.run(  # noqa: S603 - every argument is ours
        arguments, input=text.encode(), capture_output=True, check=True, cwd=ROOT
    )
    return done.stdout.decode()
