"""`app`, for server processes: `uvicorn plastic_memories.api:app`."""

from __future__ import annotations

import sys

from plastic_memories.errors import InvalidSetting
from plastic_memories.settings import load_settings
from plastic_memories.wiring import build_app

try:
    app = build_app(load_settings(), alone=True)
except InvalidSetting as error:
    # One clear line, where a traceback would bury it.
    sys.exit(f"plastic-memories: {error.message}")
