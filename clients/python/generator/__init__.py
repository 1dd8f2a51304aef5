"""Source generators of the SDK: `make docs` runs them, a test fails when a file is stale."""
