"""Pruning of deep networks unit by unit, each drawn by the loss of the network without it.

After Sattelberg 2026, section 3.4.4 and Table 3.5: every unit is taken away on its own, what is left is fine-tuned, and
of the units without which all samples are right one is drawn with probability proportional to 1 / loss.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.optim import Optimizer

from reluscope import Findings
from reluscope.arguments import Natural, Seed, read_arguments
from reluscope.errors import ShapeError
from reluscope.extending.analyses import Column, Kind, Progress, declare, share_done
from reluscope_studies.pruning.proof_of_signs import has_all_right
from reluscope_studies.stacked.concatenation import concatenate
from reluscope_studies.stacked.loss_functions import loss_function, read_targets, signs_agree
from reluscope_studies.stacked.stack import Stack
from reluscope_studies.stacked.training import train

FEWEST_UNITS = declare(
    "fewest_units",
    "fewest units of the hidden layers with which a network of this kind has all samples right",
    kind=Kind.COUNT,
    source="sattelberg2026",
)


@dataclass(frozen=True, eq=False)
class StochasticPruning:
    """What is left of networks, and how it got there: the networks, and how many units they have.

    Parameters
    ----------
    stacks : tuple of Stack
        What is left of each network, one network each; the one given if that has not all samples right.
    widths : tuple
        For each network the units of its hidden layers, before and after every removal.
    findings : Findings
        A row for each network, with the key ``network``: ``fewest_units``, of all hidden layers at the end. UPPER, as
        other draws may end lower; an ESTIMATE if the network does not provably have all samples right.
    """

    stacks: tuple[Stack, ...]
    widths: tuple[tuple[tuple[int, ...], ...], ...]
    findings: Findings

    def __len__(self) -> int:
        return len(self.stacks)

    def __repr__(self) -> str:
        return f"StochasticPruning({len(self)} networks, {self.findings[FEWEST_UNITS].value.min():g} units or more)"


@read_arguments
def prune_stochastically(
    stack: Stack,
    x: ArrayLike | Tensor,
    y: ArrayLike | Tensor,
    *,
    loss: str,
    optimizer: Callable[[list[Tensor]], Optimizer],
    epochs: Natural,
    seeds: Sequence[Seed],
    progress: Progress = False,
) -> StochasticPruning:
    """Take unit after unit away from networks, as long as what is left can be trained to have every sample right.

    Parameters
    ----------
    stack : Stack
        Each network is pruned once: ``stack.take([0] * 10)`` prunes the first ten times. It stays as it is.
    x : (s, n)
    y : (s,) or (s, m)
        Zeros and ones: an output is right if it is above 0 where the target is 1, and nowhere else.
    loss : {"mse", "bce"}
    optimizer : callable
        As for `reluscope.stacked.train`.
    epochs : int
        Of fine-tuning after a removal, at most; a network stops once it has all samples right, and its loss is that.
    seeds : sequence of int
        One per network, of its draws.
    progress : bool or callable
        Show which share of the units is gone, or a function that is told it, from 0 to 1.

    Returns
    -------
    StochasticPruning

    Raises
    ------
    InputError, ShapeError
        If there is not one seed per network, or samples do not fit.

    Notes
    -----
    All candidates of all networks are trained as one batch per depth: for a network of u units up to u^2 / 2 trainings.
    Where a layer has one unit left, taking it away takes its gate away: the next layer reads what it read, with the
    product of both weights, and the network is one layer shallower. One hidden layer stays.

    References
    ----------
    .. [sattelberg2026] Section 3.4.4.

    Examples
    --------
    >>> from functools import partial
    >>> from reluscope_studies import stacked
    >>> x, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0.0, 1.0, 1.0, 0.0]
    >>> how = {"loss": "bce", "optimizer": partial(torch.optim.Adam, lr=0.025), "epochs": 500}
    >>> many = stacked.initialize((6, 6), num_inputs=2, seeds=range(4))
    >>> done = stacked.train(many, x, y, goal=stacked.signs_agree, **how)
    >>> pruned = prune_stochastically(done.stack, x, y, seeds=range(4), **how)
    >>> print(min((pruned.findings.finding("fewest_units", row) for row in range(4)), key=int))
    2 (UPPER, in [0, 2])
    """
    loss_function(loss)  # raises before anything is trained
    if len(seeds) != len(stack):
        raise ShapeError(f"expected one seed per network, got {len(seeds)} for {len(stack)} networks")
    points = stack.read_points(x)
    solved = signs_agree(stack(points), read_targets(stack, y, len(points))).tolist()
    courses = [_Course(stack.take([index]).compact(), int(seed)) for index, seed in enumerate(seeds)]
    open_ = [course for course, is_solved in zip(courses, solved, strict=True) if is_solved]
    at_first = max(1, sum(sum(course.widths[0]) for course in courses))
    with share_done("pruning", progress) as report_progress:
        while open_:
            candidates = [(course, part) for course in open_ for part in _without_one(course.stack)]
            found: dict[_Course, list[tuple[float, Stack]]] = {course: [] for course in open_}
            for depth in sorted({len(part.kept) for _, part in candidates}):
                group = [(course, part) for course, part in candidates if len(part.kept) == depth]
                together = concatenate([part for _, part in group])
                done = train(together, x, y, loss=loss, optimizer=optimizer, epochs=epochs, goal=signs_agree)
                owners = [course for course, part in group for _ in range(len(part))]
                for row in done.reached.nonzero()[:, 0].tolist():
                    found[owners[row]].append((float(done.losses[row]), done.stack.take([row])))
            for course in open_:
                course.draw(found[course])
            open_ = [course for course in open_ if found[course]]
            report_progress(1 - sum(sum(course.widths[-1]) for course in open_) / at_first)
    units = np.array([sum(course.widths[-1]) for course in courses], dtype=np.float64)
    # Of a network that may not have all samples right not even an upper end is certain.
    is_proved = np.array([has_all_right(course.stack, x, y) for course in courses])
    fewest = Column.of(
        FEWEST_UNITS,
        units,
        np.where(is_proved, 0.0, -np.inf),
        np.where(is_proved, units, np.inf),
        method=f"units drawn by 1 / loss, fine-tuned up to {epochs:,} epochs after each",
    )
    findings = Findings.of(fewest, keys={"network": np.arange(len(courses))}, domain="the samples")
    return StochasticPruning(
        tuple(course.stack for course in courses), tuple(tuple(course.widths) for course in courses), findings
    )


class _Course:
    """A network that loses its units."""

    def __init__(self, stack: Stack, seed: int) -> None:
        self.stack, self.widths = stack, [_widths(stack)]
        self.generator = np.random.default_rng(seed)

    def draw(self, found: list[tuple[float, Stack]]) -> None:
        """Go on with one of the networks, more likely with those of small loss."""
        if not found:
            return
        # A loss of 0 stands for one below the precision of float32.
        scores = 1 / np.maximum([one for one, _ in found], 1e-12)
        chosen = int(self.generator.choice(len(found), p=scores / scores.sum()))
        self.stack = found[chosen][1].compact()
        self.widths.append(_widths(self.stack))


def _widths(stack: Stack) -> tuple[int, ...]:
    return tuple(int(units.sum()) for units in stack.kept)


def _without_one(stack: Stack) -> list[Stack]:
    """Return the networks that lack one unit of the one given, layer by layer."""
    found = []
    for layer, units in enumerate(stack.kept):
        number = units.shape[1]
        if number > 1:
            stay = ~torch.eye(number, dtype=torch.bool, device=stack.device)
            found.append(stack.take([0] * number).keep(layer, stay))
        elif len(stack.kept) > 1:
            found.append(_without_gate(stack, layer))
    return found


def _without_gate(stack: Stack, layer: int) -> Stack:
    """Return the network whose hidden layer is multiplied into the next."""
    weights, biases, kept = (list(part) for part in (stack.weights, stack.biases, stack.kept))
    biases[layer + 1] = biases[layer + 1] + (weights[layer + 1] @ biases[layer][:, :, None])[:, :, 0]
    weights[layer + 1] = weights[layer + 1] @ weights[layer]
    for part in (weights, biases, kept):
        del part[layer]
    return replace(stack, weights=tuple(weights), biases=tuple(biases), kept=tuple(kept))
