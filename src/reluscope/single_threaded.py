"""One thread for small tensor operations: a second brings nothing, and beside other work both wait for each other."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread() -> Iterator[None]:
    """Let PyTorch use one thread within a block, and as many as before after it."""
    import torch

    number = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(number)
