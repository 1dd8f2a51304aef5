"""Generators of SDK source: `make docs` runs them, a test fails when a file is stale."""
