"""How many threads a kernel shares its work out to: those that PyTorch may use, and one beside other workers."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_is_beside_others = ContextVar("_is_beside_others", default=False)


def kernel_threads(work: float, threaded_work: float) -> int:
    """Return the number of threads for some work.

    As many as ``torch.get_num_threads()`` says, or one if ``work`` is less than ``threaded_work``, from which threads
    pay.
    """
    import torch

    return 1 if work < threaded_work or _is_beside_others.get() else torch.get_num_threads()


@contextmanager
def beside_others() -> Iterator[None]:
    """Let kernels that are called here use one thread: other workers have the other cores."""
    token = _is_beside_others.set(True)
    try:
        yield
    finally:
        _is_beside_others.reset(token)
