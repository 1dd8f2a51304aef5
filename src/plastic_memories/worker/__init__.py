"""Does jobs, one after another, inside a server or in a process of its own."""
