"""Which samples are learnt, which are held out, and in which order they come."""

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

# Of the samples, where there are enough, so many are held out: the loss there shows what was learnt by heart.
HELD_OUT, FEWEST = 0.25, 20


class Batches:
    """An endless stream of rows: one random order after the other, cut into batches of equal size."""

    def __init__(self, num_samples: int, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        order = self._rng.permutation(num_samples)
        held_out = int(HELD_OUT * num_samples) if num_samples >= FEWEST else 0
        self.unseen, self.seen = order[:held_out], order[held_out:]
        self._waiting: Int[np.ndarray, " k"] = self.seen[:0]

    def next(self, size: int) -> Tensor:
        """Return the next rows; all that are learnt if there are fewer."""
        size = min(size, len(self.seen))
        if len(self._waiting) < size:
            self._waiting = np.concatenate([self._waiting, self._rng.permutation(self.seen)])
        rows, self._waiting = self._waiting[:size], self._waiting[size:]
        return torch.from_numpy(rows)
