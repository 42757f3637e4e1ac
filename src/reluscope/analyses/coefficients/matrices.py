"""The coefficient matrices of a network on samples: the rows are its affine maps there.

On the region of sample i output j is ``v_j(z) = g_ij . z + c_ij``. The matrix ``C_j`` has the rows ``(g_ij, c_ij)``,
samples by inputs + 1, see [sattelberg2026]_, section 7.1. Together they are seldom small (10 outputs of 10,000 images
of CIFAR-10: 2.5 GB), so they come in blocks of samples, in order, and are kept on disk if they are to be seen twice.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Int

from reluscope.analyses.coefficients.kept_blocks import KeptBlocks, block_name, key_of
from reluscope.arguments import read_arguments, read_position, read_positions
from reluscope.budget import Budget, MemoryBudget
from reluscope.errors import BudgetExceededError, InputError
from reluscope.networks.evaluation.choices import read_outputs
from reluscope.networks.graph.affine_maps import AffineMaps
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.progress import LongCall, Progress, share_done

MEMORY = 2**30
# A block of coefficients, its copy in the caller's hands and what the pass through the network needs.
BLOCKS_IN_MEMORY = 8


@dataclass(frozen=True, eq=False)
class CoefficientMatrices:
    """Coefficient matrices C_j of a network on samples, computed block by block on demand.

    Parameters
    ----------
    network : Network
    inputs : (s, *input_shape) float64 tensor
        The samples.
    outputs : tuple of int
        Indices of the flattened outputs.
    memory : int
        Bytes for a block and the work on it, or for one whole matrix.
    cache : KeptBlocks or None
        Storage of finished blocks.
    progress : bool or callable
        Show the progress of a pass.
    """

    network: Network
    inputs: Float[torch.Tensor, "s ..."]
    outputs: tuple[int, ...]
    memory: int = MEMORY
    cache: KeptBlocks | None = field(default=None, repr=False)
    progress: Progress = False

    def __len__(self) -> int:
        return len(self.inputs)

    def __repr__(self) -> str:
        return f"CoefficientMatrices({self.num_outputs} of {len(self):,} samples x {self.num_inputs + 1:,})"

    @property
    def num_inputs(self) -> int:
        """Inputs of the network; matrices have one more column, for the constant."""
        return self.network.num_inputs

    @property
    def num_outputs(self) -> int:
        """How many matrices there are."""
        return len(self.outputs)

    @property
    def points(self) -> Float[torch.Tensor, "s n"]:
        """The samples, flattened."""
        return self.inputs.reshape(len(self), -1)

    @property
    def samples_in_block(self) -> int:
        """How many samples a block holds, the last one fewer."""
        return _samples_in_block(self.network, len(self.outputs), self.memory)

    def blocks(self) -> Iterator[tuple[slice, Float[torch.Tensor, "m rows c"]]]:
        """Yield the matrices by blocks of samples.

        ``values[j]`` has the rows of C_j, with the constants in the last column.

        Yields
        ------
        rows : slice
            Of the samples.
        values : (m, rows, n + 1) float64 tensor

        Raises
        ------
        InputError
            If coefficients are not finite.

        Notes
        -----
        Each block costs one `Network.linearize` of its distinct codes. With a cache, finished blocks are read from it.
        """
        size = self.samples_in_block
        with share_done("coefficients", self.progress) as report_progress:
            for start in range(0, len(self), size):
                rows = slice(start, min(start + size, len(self)))
                values = None if self.cache is None else self.cache.get(block_name(rows))
                if values is None:
                    values = self._block(rows)
                    if self.cache is not None:
                        self.cache[block_name(rows)] = values
                report_progress(rows.stop / len(self))
                yield rows, values.to(self.network.device)

    @read_arguments
    def output(self, j: int) -> Float[np.ndarray, "s c"]:
        """Return one matrix whole: the j-th of the chosen outputs, samples x (inputs + 1).

        Raises
        ------
        InputError
            If there is no such output.
        BudgetExceededError
            If it does not fit the memory.
        """
        j = read_position(j, "j", self.num_outputs, "outputs")
        needed = 8 * len(self) * (self.num_inputs + 1)
        if needed > self.memory:
            raise BudgetExceededError(
                f"expected at most {self.memory / 2**20:,.0f} MB, but the matrix of {len(self):,} samples and "
                f"{self.num_inputs + 1:,} coefficients takes {needed / 2**20:,.0f} MB: go through blocks(), give fewer "
                "samples, or more memory"
            )
        found = np.empty((len(self), self.num_inputs + 1))
        # A pass over this output alone costs less than one over all, unless all are on disk.
        alone = self if self.cache is not None else self._of((self.outputs[j],))
        place = j if self.cache is not None else 0
        for rows, values in alone.blocks():
            found[rows] = values[place].cpu().numpy()
        return found

    @read_arguments
    def maps(self, rows: slice | Sequence[int] | Int[np.ndarray, " r"]) -> AffineMaps:
        """Return the affine maps of some samples: weight (r, m, n), which images may be drawn of, and bias (r, m)."""
        chosen = self.inputs[torch.from_numpy(read_positions(rows, "rows", len(self), "samples"))]
        return self.network.linearize(chosen, outputs=self.outputs)

    def regions(self) -> tuple[Int[np.ndarray, " s"], Int[np.ndarray, " r"], Int[np.ndarray, " r"]]:
        """Return which samples lie in one region: equal codes mean equal rows in every matrix.

        Returns
        -------
        labels : (s,) int64
            Code of each sample, numbered in order of first appearance.
        first : (r,) int64
            First sample of every distinct code.
        counts : (r,) int64
            Number of samples of every distinct code.
        """
        first, labels, counts = self._groups
        return labels, first, counts

    @cached_property
    def _groups(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        _, first, labels, counts = self.network.codes(self.inputs).unique(
            return_index=True, return_inverse=True, return_counts=True
        )
        return first, labels, counts

    def _of(self, outputs: tuple[int, ...]) -> "CoefficientMatrices":
        return CoefficientMatrices(self.network, self.inputs, outputs, self.memory, None, self.progress)

    def _block(self, rows: slice) -> torch.Tensor:
        """Return one block; samples of one region share a row that is computed once."""
        inputs = self.inputs[rows]
        _, first, labels = self.network.codes(inputs).unique(return_index=True, return_inverse=True)
        budget = Budget(memory=max(1, self.memory // BLOCKS_IN_MEMORY))
        maps = self.network.linearize(inputs[torch.from_numpy(first)], outputs=self.outputs, budget=budget)
        values = maps.weight.new_empty(self.num_outputs, len(first), self.num_inputs + 1)
        values[:, :, :-1] = maps.weight.movedim(1, 0)
        values[:, :, -1] = maps.bias.mT
        if not bool(torch.isfinite(values.sum())) and not bool(torch.isfinite(values).all()):
            bad = int(first[int((~torch.isfinite(values).all(2).all(0)).nonzero()[0])])
            raise InputError(
                f"expected finite coefficients, but those of sample {rows.start + bad} overflow float64: scale the "
                "network's weights"
            )
        return values if len(first) == len(inputs) else values[:, torch.from_numpy(labels)]


@read_arguments
def matrix(
    network: Network,
    x: Points,
    *,
    outputs: Sequence[int] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    budget: MemoryBudget | None = None,
    progress: Progress = False,
) -> CoefficientMatrices:
    """Return the coefficient matrices C_j of a network on samples, computed during iteration.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
        Samples.
    outputs : sequence of int, optional
        Indices of the flattened outputs; all by default.
    checkpoint : path, optional
        Folder for finished blocks: a second pass reads them, and an interrupted pass continues from them.
    budget : Budget, optional
        Bytes for blocks and the work on them, 1 GiB by default.
    progress : bool or callable
        Show progress of a pass on standard error; a function receives the share done.

    Returns
    -------
    CoefficientMatrices
        Rows are those of the float64 codes of the samples, with the rounding of `Network.linearize`.

    Raises
    ------
    InputError
        If the points do not fit, one sample exceeds the memory, or the folder holds something else.

    Notes
    -----
    A pass costs one `Network.linearize` of the distinct codes of every block. On disk a sample takes ``8 m (n +
    1)`` bytes.

    References
    ----------
    .. [sattelberg2026] Section 7.1, equations 7.1 to 7.3.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[1.0, 2.0]]), np.ones(1))])
    >>> matrices = rs.coefficients.matrix(net, [[-1.0], [-2.0], [3.0]])  # max(z, 0) + 2 max(-z, 0) + 1
    >>> matrices, matrices.output(0)
    (CoefficientMatrices(1 of 3 samples x 2), array([[-2.,  1.],
           [-2.,  1.],
           [ 1.,  1.]]))
    >>> labels, first, counts = matrices.regions()
    >>> labels, counts
    (array([0, 0, 1]), array([2, 1]))
    """
    points = network.points(x)
    chosen = read_outputs(outputs, network.num_outputs)
    memory = (budget or Budget()).memory_or(MEMORY)
    block = _samples_in_block(network, len(chosen), memory)
    kept = (
        None
        if checkpoint is None
        else KeptBlocks(
            checkpoint, key_of(network, points, chosen, block), num_outputs=len(chosen), num_inputs=network.num_inputs
        )
    )
    # Passes come later, each by a call of its own: what tells of this one is not for them.
    of_passes = False if isinstance(progress, LongCall) else progress
    return CoefficientMatrices(network, points, chosen, memory, kept, of_passes)


def _samples_in_block(network: Network, num_outputs: int, memory: int) -> int:
    """Return how many samples a block may hold."""
    each = 8 * num_outputs * (network.num_inputs + 1)
    size = memory // (BLOCKS_IN_MEMORY * each)
    if size < 1:
        raise InputError(
            f"expected memory for at least one sample, {BLOCKS_IN_MEMORY * each:,} bytes, got {memory:,}: give more "
            "memory, or fewer outputs"
        )
    return size
