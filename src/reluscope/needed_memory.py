"""Memory that something indivisible needs, asked for first: the system ends processes that take too much."""

from math import inf
from pathlib import Path

from reluscope.errors import ReluscopeError

# What takes less is not asked about.
LEAST = 2**30
# More is not taken at once for what can be asked for in parts.
AT_ONCE = 6e9
_MEMORY = Path("/proc/meminfo")


class TooLargeError(ReluscopeError, MemoryError):
    """Something that cannot be done in parts takes more memory than there is."""


def need(num_bytes: float, what: str, instead: str) -> None:
    """Raise TooLargeError where something takes more memory than is left; ``instead`` says what to do."""
    if num_bytes >= LEAST and num_bytes > (free := free_bytes()):
        raise TooLargeError(
            f"{what} take about {num_bytes / 1e9:,.0f} GB of memory, and {free / 1e9:,.0f} GB are free: {instead}"
        )


def need_at_once(num_bytes: float, what: str, instead: str) -> None:
    """Raise TooLargeError where what can be asked for in parts takes more than `AT_ONCE`, or than is left."""
    need(num_bytes, what, instead)
    if num_bytes > AT_ONCE:
        raise TooLargeError(f"{what} take about {num_bytes / 1e9:,.0f} GB of memory at once: {instead}")


def free_bytes() -> float:
    """Return how much memory a process may still take, infinity where the system does not say."""
    try:
        lines = _MEMORY.read_text(encoding="ascii").splitlines()
    except OSError:
        return inf
    found = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    return float(found[0]) if found else inf
