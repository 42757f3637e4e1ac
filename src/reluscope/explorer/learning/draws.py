"""What a training draws from PyTorch's generator, which all trainings of a process share."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

_GENERATOR = threading.Lock()


class Draws:
    """A sequence of draws of its own, whatever else draws in between."""

    def __init__(self, seed: int) -> None:
        self._state = torch.Generator().manual_seed(seed).get_state()

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Let PyTorch draw from this sequence within a block, and put its own back."""
        with _GENERATOR, torch.random.fork_rng(devices=[]):
            torch.set_rng_state(self._state)
            try:
                yield
            finally:
                self._state = torch.get_rng_state()
