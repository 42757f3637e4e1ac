"""Blocks of coefficient matrices kept in a folder, so that they are computed once and work that was stopped goes on.

A folder belongs to one network, one set of points, one choice of outputs and one way of cutting samples into blocks.
"""

import hashlib
import os

import numpy as np
import torch

from reluscope.files.kept_results import KeptResults, Record
from reluscope.networks.network import Network


class KeptBlocks:
    """Finished blocks in a folder.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    key : mapping of str
        What the blocks depend on.

    Raises
    ------
    InputError
        If the folder holds something else, or coefficients of another network, other points or outputs; for a block
        that is damaged when it is asked for.
    """

    def __init__(self, folder: str | os.PathLike[str], key: dict[str, str]) -> None:
        self._results = KeptResults(folder, key, advice="name another folder, or remove it")

    def __getitem__(self, rows: slice) -> torch.Tensor | None:
        """Return a block (m, rows, n + 1), None if it is not there."""
        name = _name(rows)
        return torch.from_numpy(self._results[name].arrays["values"]) if name in self._results else None

    def __setitem__(self, rows: slice, values: torch.Tensor) -> None:
        self._results[_name(rows)] = Record({}, {"values": values.cpu().numpy()})


def key_of(network: Network, points: torch.Tensor, outputs: tuple[int, ...], block: int) -> dict[str, str]:
    """Return everything that kept blocks depend on, in words and digests."""
    digest = hashlib.sha256(np.ascontiguousarray(points.cpu().numpy()).tobytes()).hexdigest()
    return {
        "network": network.fingerprint,
        "set of points": f"{tuple(points.shape)} {digest}",
        "choice of outputs": str(outputs),
        "memory (samples in a block)": str(block),
    }


def _name(rows: slice) -> str:
    return f"samples-{rows.start:09d}-{rows.stop:09d}"
