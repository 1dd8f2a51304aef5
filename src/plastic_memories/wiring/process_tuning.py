"""Settings of the interpreter and of numpy, for a process that does nothing else."""

from __future__ import annotations

import gc
import logging
import sys
from functools import cache

from threadpoolctl import threadpool_limits

# How long one thread may keep the interpreter while another waits. Ours let go by themselves at
# every statement and every system call; being made to as well, 200 times a second, cost a third
# of the throughput of writes.
_SWITCH_INTERVAL_S = 0.1
# What was imported lives as long as the process: the collector need not walk it again and again.
_GC_THRESHOLDS = (20_000, 50, 100)


@cache  # once in a process: what is frozen a second time was never meant to last
def tune_process() -> None:
    """Tune the interpreter for a server."""
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    # No line of our log shows them; to look them up is a third of a log record's cost.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)


def limit_matrix_threads(threads: int) -> None:
    """Limit the threads of numpy's matrix library.

    Left alone, it starts one for each core, and they wait for each other in turns: small products
    get seven times slower, embedding seventeen times.
    """
    threadpool_limits(threads, user_api="blas")
