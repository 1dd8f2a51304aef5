"""Draw the picture in its own environment: the hub does not need matplotlib."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from bench.quality.environments import Environments, NotInstalled

_DRAWING = Path(__file__).parent / "drawing.py"


def draw(results: dict[str, Any], png: Path, environments: Environments) -> str | None:
    """Draw the quality results into a PNG file; return the reason if that fails."""
    try:
        python = environments.python("picture")
    except NotInstalled as error:
        return str(error)
    done = subprocess.run(
        [str(python), str(_DRAWING), str(png.absolute())],
        input=json.dumps(results),
        capture_output=True,
        text=True,
        check=False,
    )
    return None if done.returncode == 0 else done.stderr.strip().splitlines()[-1]
