"""How many threads a kernel shares its work out to: those that PyTorch may use, and one beside other workers."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_is_beside_others = ContextVar("_is_beside_others", default=False)


def kernel_threads(work: float, threaded_work: float) -> int:
    """Return the number of threads for some work.

    Parameters
    ----------
    work, threaded_work : float
        How much there is to do, and how much it takes for threads to pay, in the same unit.

    Returns
    -------
    int
        As many as ``torch.get_num_threads()`` says (``OMP_NUM_THREADS``, ``torch.set_num_threads``), or one.

    Examples
    --------
    >>> kernel_threads(10, 1000)
    1
    """
    import torch

    return 1 if work < threaded_work or _is_beside_others.get() else torch.get_num_threads()


@contextmanager
def beside_others() -> Iterator[None]:
    """Let kernels that are called here use one thread: other workers have the other cores.

    Examples
    --------
    >>> with beside_others():
    ...     kernel_threads(10, 1)
    1
    """
    token = _is_beside_others.set(True)
    try:
        yield
    finally:
        _is_beside_others.reset(token)
