"""The smallest subnetworks that can be trained to the task: all subnetworks of one size at once, from one unit on.

After Sattelberg 2026, section 3.4.4 and Table 3.4.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import comb, inf
from typing import Any

from jaxtyping import Bool
from numpy.typing import ArrayLike
from torch import Tensor
from torch.optim import Optimizer

from reluscope import Finding
from reluscope.arguments import Natural, read_arguments
from reluscope.errors import InputError
from reluscope.extending.analyses import Progress, share_done
from reluscope_studies.pruning.proof_of_signs import has_all_right
from reluscope_studies.stacked.loss_functions import signs_agree
from reluscope_studies.stacked.stack import Stack
from reluscope_studies.stacked.subnetworks import MAX_UNITS, subnetworks
from reluscope_studies.stacked.training import Trained, train

# Weights of all subnetworks, compacted and in training, with what the optimiser keeps.
COPIES_OF_WEIGHTS, MAX_BYTES = 6, 8 * 2**30


@dataclass(frozen=True, eq=False)
class SmallestSubnetworks:
    """All subnetworks of the smallest size at which some learned the task, or of the whole layer if none did.

    These are networks, not measurements: a stack of them, and how many units they have.

    Parameters
    ----------
    kept : (k, u) bool tensor
        Which units of the layer each of them has, of those that the network has.
    trained : Trained
        The same after fine-tuning; ``reached`` says which have all samples right.
    num_units : Finding, optional
        Fewest units: UPPER, as longer training or other weights may do with fewer; an ESTIMATE if rounding could change
        a sign. None if no subnetwork learned the task.
    """

    kept: Bool[Tensor, "k u"]
    trained: Trained
    num_units: Finding | None

    def __repr__(self) -> str:
        size = "no size" if self.num_units is None else f"{self.num_units} units"
        return f"SmallestSubnetworks({size}, {self.num_successes:,} of {len(self.kept):,})"

    @property
    def num_successes(self) -> int:
        """How many subnetworks of this size learned the task, as the precision of the stack has it."""
        return int(self.trained.reached.sum())

    @property
    def successes(self) -> Stack:
        """The subnetworks that learned the task, least loss first."""
        rows = self.trained.reached.nonzero()[:, 0]
        return self.trained.stack.take(rows[self.trained.losses[rows].argsort()])


@read_arguments
def prune_exhaustively(
    stack: Stack,
    x: ArrayLike | Tensor,
    y: ArrayLike | Tensor,
    *,
    loss: str,
    optimizer: Callable[[list[Tensor]], Optimizer],
    epochs: Natural,
    layer: int = 0,
    progress: Progress = False,
) -> SmallestSubnetworks:
    """Find the fewest units of a hidden layer that, trained on from where they are, have every sample right.

    Parameters
    ----------
    stack : Stack
        Of one network, usually one that has learned the task; it stays as it is.
    x : (s, n)
    y : (s,) or (s, m)
        Zeros and ones: an output is right if it is above 0 where the target is 1, and nowhere else.
    loss : {"mse", "bce"}
    optimizer : callable
        As for `reluscope.stacked.train`.
    epochs : int
        Of fine-tuning, at most; a subnetwork stops once it has all samples right.
    layer : int
        Number of the hidden layer, from 0; the others stay whole.
    progress : bool or callable
        Show the share of the subnetworks that is done, or a function that is told it, from 0 to 1.

    Returns
    -------
    SmallestSubnetworks

    Raises
    ------
    InputError, ShapeError
        If the stack has several networks, there is no such layer, it has more than 20 units, or samples do not fit.

    Notes
    -----
    All subnetworks of a size are trained as one batch, sizes 1, 2, ... up to the first with a success: up to 2^u
    networks. Their losses before any training are ``stacked.losses(stacked.subnetworks(stack), x, y, loss=...)``.

    References
    ----------
    .. [sattelberg2026] Section 3.4.4.

    Examples
    --------
    >>> from functools import partial
    >>> import torch
    >>> from reluscope_studies import stacked
    >>> x, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0.0, 1.0, 1.0, 0.0]
    >>> how = {"loss": "bce", "optimizer": partial(torch.optim.Adam, lr=0.025), "epochs": 1000}
    >>> many = stacked.initialize((6,), num_inputs=2, seeds=range(8))
    >>> done = stacked.train(many, x, y, goal=stacked.signs_agree, **how)
    >>> solved = done.stack.take([int(done.reached.nonzero()[0])])
    >>> print(prune_exhaustively(solved, x, y, **how).num_units)
    2 (UPPER, in [0, 2])
    """
    compact = stack.compact()
    units = compact.sizes[layer + 1] if 0 <= layer < len(compact.sizes) - 2 else 0
    needed = (
        COPIES_OF_WEIGHTS
        * 2 ** min(units, MAX_UNITS)
        * sum(one.numel() * one.element_size() for one in compact.weights)
    )
    if needed > MAX_BYTES:
        raise InputError(
            f"expected subnetworks that fit {MAX_BYTES / 2**30:g} GB, but those of {units} units take "
            f"{needed / 2**30:,.0f} GB: prune_stochastically takes one unit away at a time"
        )
    every = subnetworks(compact, layer=layer)
    numbers, width = every.kept[layer].sum(dim=1), every.sizes[layer + 1]
    size = 0
    with share_done("pruning", progress) as report_progress:
        while True:
            start = sum(comb(width, smaller) for smaller in range(1, size + 1)) / 2**width
            size += 1
            chosen = every.take((numbers == size).nonzero()[:, 0])
            trained = train(
                chosen.compact(),
                x,
                y,
                loss=loss,
                optimizer=optimizer,
                epochs=epochs,
                goal=signs_agree,
                progress=partial(_report_part, report_progress, start, len(chosen) / 2**width),
            )
            if trained.reached.any() or size == width:
                method = f"subnetworks of {width} units, fine-tuned up to {epochs:,} epochs"
                return SmallestSubnetworks(chosen.kept[layer], trained, _fewest(trained, x, y, size, method))


def _fewest(trained: Trained, x: ArrayLike | Tensor, y: ArrayLike | Tensor, size: int, method: str) -> Finding | None:
    if not trained.reached.any():
        return None
    best = trained.losses.masked_fill(~trained.reached, inf).argmin()
    is_proved = has_all_right(trained.stack.take(best[None]), x, y)
    fields: dict[str, Any] = {
        "name": "fewest units",
        "definition": "units of one hidden layer with which a network has all samples right",
        "domain": "the samples",
        "method": method,
        "source": "sattelberg2026",
    }
    return Finding.of(size, 0, size, **fields) if is_proved else Finding.estimate(size, **fields)


def _report_part(report_progress: Callable[[float], None], start: float, part: float, share: float) -> None:
    report_progress(start + part * share)
