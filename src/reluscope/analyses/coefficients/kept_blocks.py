"""Blocks of coefficient matrices kept in a folder, so that they are computed once and work that was stopped goes on.

A folder belongs to one network, one set of points, one choice of outputs and one way of cutting samples into blocks.
"""

import os

import numpy as np
import torch

from reluscope.analyses.samples import kept_rows
from reluscope.files import stored
from reluscope.files.kept_results import KeptResults, Record
from reluscope.networks.network import Network

PREFIX = "samples-"


class KeptBlocks(KeptResults):
    """Finished blocks in a folder, which is made if it is not there.

    ``key`` is what the blocks depend on. InputError if the folder holds something else or other coefficients, or when a
    damaged block is asked for.
    """

    def __init__(
        self, folder: str | os.PathLike[str], key: dict[str, str], *, num_outputs: int, num_inputs: int
    ) -> None:
        self._num_outputs, self._num_inputs = num_outputs, num_inputs
        super().__init__(folder, key, advice="name another folder, or remove it")

    def to_record(self, value: torch.Tensor) -> Record:
        """Return a block (m, rows, n + 1) as an array."""
        return Record({}, {"values": value.cpu().numpy()})

    def from_record(self, name: str, record: Record) -> torch.Tensor:
        """Return the block of the rows that are named."""
        first, last = map(int, name.removeprefix(PREFIX).split("-"))
        shape = (self._num_outputs, last - first, self._num_inputs + 1)
        return torch.from_numpy(stored.array(record.arrays, "values", np.float64, shape))


def key_of(network: Network, points: torch.Tensor, outputs: tuple[int, ...], block: int) -> dict[str, str]:
    """Return everything that kept blocks depend on, in words and digests."""
    of_points = kept_rows.key_of(network, points, choice_of_outputs=outputs)
    return {**of_points, "memory (samples in a block)": str(block)}


def block_name(rows: slice) -> str:
    """Return the name under which a block of samples is kept."""
    return f"{PREFIX}{rows.start:09d}-{rows.stop:09d}"
