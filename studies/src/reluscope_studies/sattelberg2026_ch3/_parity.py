"""Parity, and networks with ReLU that learn it, for the studies of pruning."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from scipy.stats import binomtest
from torch import Tensor

import reluscope as rs
from reluscope_studies import stacked
from reluscope_studies.sattelberg2026_ch3._networks import ADAM, EPOCHS, RATE, signed_inputs

# The dissertation does not say of how many networks its rates are: as elsewhere in the chapter, of a hundred.
SAID_OF = 100
HOW: dict[str, Any] = {"loss": "bce", "optimizer": ADAM}
PROTOCOL = (
    f"ReLU networks, binary cross-entropy with logits, Adam at rate {RATE:g}, up to {EPOCHS:,} epochs of all inputs, "
    "He's normal weights, inputs -1 and 1. A network stops once all inputs are right. Biases begin as PyTorch has "
    "them; the dissertation does not say. With these, networks of width 6 learn four digits as often as it says; "
    "with inputs 0 and 1 and biases of zero, a third as often."
)


def parity(num_inputs: int) -> tuple[Float[Tensor, "s n"], Float[Tensor, " s"]]:
    """Return all inputs, -1 and 1, and whether the number of ones is odd.

    Examples
    --------
    >>> parity(2)[1]
    tensor([0., 1., 1., 0.])
    """
    inputs = torch.tensor(signed_inputs(num_inputs), dtype=torch.float32)
    return inputs, (inputs > 0).sum(dim=1).float() % 2


def learned(stack: stacked.Stack, num_inputs: int, progress: bool | Callable[[float], None] = False) -> stacked.Trained:
    """Return networks trained on parity."""
    x, y = parity(num_inputs)
    return stacked.train(stack, x, y, epochs=EPOCHS, goal=stacked.signs_agree, progress=progress, **HOW)


def share_of(successes: int, number: int, name: str) -> rs.Finding:
    """Return the rate of an event from trials, with the interval of Clopper and Pearson at 95 %."""
    between = binomtest(successes, number).proportion_ci()
    return rs.Finding.estimate(
        successes / number,
        name=name,
        interval=(float(between.low), float(between.high)),
        definition=f"{successes:,} of {number:,} trials; the interval is that of Clopper and Pearson at 95 %",
        source="sattelberg2026",
    )


def per_cent(share: rs.Finding | None) -> str:
    """Return a share and its interval for a table."""
    if share is None or share.interval is None:
        return "-"
    low, high = (100 * end for end in share.interval)
    return f"{100 * float(share):.1f} % ({low:.1f} to {high:.1f})"
