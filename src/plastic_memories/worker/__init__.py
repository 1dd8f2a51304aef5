"""Does jobs inside a server or in a process of its own."""
