"""`python -m plastic_memories.cli`"""

from __future__ import annotations

from plastic_memories.cli.main import main

main(prog_name="plastic-memories")
