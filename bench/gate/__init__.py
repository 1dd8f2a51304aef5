"""Train and evaluate the gate of `plastic_memories.language.gate`."""
