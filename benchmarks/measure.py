"""Paired timing, and the rows that it gives."""

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Measurement:
    """One row of the results.

    Parameters
    ----------
    case : str
        What was measured.
    ratio : float, optional
        Median of time over reference time, pair by pair.
    seconds : float
        Median time.
    reference : float, optional
        Median reference time in seconds.
    memory : float, optional
        Peak memory of the process in gigabytes.
    detail : str
        Counts and what else a reader needs.
    """

    case: str
    seconds: float
    ratio: float | None = None
    reference: float | None = None
    memory: float | None = None
    detail: str = ""


def paired(work: Callable[[], Any], reference: Callable[[], Any], repeats: int) -> tuple[float, float, float]:
    """Return the median ratio and the median times of two callables that take turns, after one warm-up each."""
    work()
    reference()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        middle = time.perf_counter()
        reference()
        times.append((middle - began, time.perf_counter() - middle))
    ratio = statistics.median(mine / other for mine, other in times)
    mine, other = (statistics.median(column) for column in zip(*times, strict=True))
    return ratio, mine, other


def peak_gigabytes() -> float:
    """Return the peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def in_fresh_process(module: str, function: str, *arguments: Any, timeout: float | None = None) -> Any:
    """Return the JSON result of a function run in a process of its own, so that its peak memory is its own.

    After ``timeout`` seconds subprocess.TimeoutExpired is raised.
    """
    code = (
        f"import json; from {module} import {function}; "
        f"print(json.dumps({function}(*json.loads({json.dumps(json.dumps(arguments))!s}))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=timeout)
    return json.loads(done.stdout.splitlines()[-1])
