"""Each room of the hub assembles its own use cases, from a context and the rooms below it."""
