"""The number of threads of linear algebra, set before the libraries are imported and read it."""

import os
import sys

# Processes that help with one work; on more cores each has several threads.
MAX_HELPERS = 3
VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def limit_threads(number: int | None) -> None:
    """Let torch and NumPy's linear algebra use so many threads, which sleep while they wait.

    With None their own defaults stay. Threads that spin instead slow small programs up to fifty times as soon as
    another process has one of the cores.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if number is None:
        return
    for name in VARIABLES:
        os.environ[name] = str(number)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(number)


def count_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def count_helpers(threads: int | None) -> int:
    """Return how many processes may help this one, with so many threads in all, by default one per core."""
    return min(count_cores(), threads or MAX_HELPERS + 1, MAX_HELPERS + 1) - 1


def share_threads(threads: int | None) -> None:
    """Limit this process's threads to its share, before others come to help it.

    Threads of two processes on the same cores wait for each other: small programs of linear algebra then take many
    times as long.
    """
    limit_threads(max(1, (threads or count_cores()) // (1 + count_helpers(threads))))
