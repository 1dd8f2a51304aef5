"""Compatible APIs for programs built for another system: MCP, mem0, OpenAI."""

from __future__ import annotations
