"""One module per theme of the hub: builds its use cases from a context and lower themes."""
