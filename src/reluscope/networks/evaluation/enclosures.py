"""Enclosures of all values of a network around a point, with units held to some of their pieces."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float, Integer

from reluscope.geometry.polyhedra.cut_balls import CutBall
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.forms import AffineForms, Forms, OpenUnit, PossiblePieces
from reluscope.networks.passes.network_graph import NetworkGraph


@dataclass(frozen=True, eq=False)
class Enclosure:
    """Enclosures of pre-activations and outputs, over steps away from a point.

    Gates after one with an open unit of infinite range are left out, and so are limits that the ball implies.
    """

    is_empty: bool  # no step lets all units have the pieces held to
    limits: list[Forms]  # at most 0 where units have the pieces held to
    open: list[OpenUnit]  # one per noise symbol
    outputs: Forms | None  # None where an open unit has an infinite range
    pieces: list[PossiblePieces] = field(default_factory=list)  # of each gate that is not left out


@torch.no_grad()
def enclose(
    network: NetworkGraph,
    point: Float[np.ndarray, " n"],
    steps: CutBall,
    first: Sequence[Integer[np.ndarray, " _"]],
    last: Sequence[Integer[np.ndarray, " _"]],
    *,
    rounding: float,
) -> Enclosure:
    """Return enclosures of all values over steps away from a point.

    ``first`` and ``last`` are the pieces that each unit may have; a max unit is held to one candidate or to none. About
    a forward pass per input and open unit.
    """
    carrier = AffineForms(network, point, steps, rounding)
    walk = carry(network, carrier, carrier.start)
    for stage, low, high in zip(network.stages, first, last, strict=True):
        through = carrier.max if isinstance(stage.gate, Max) else carrier.pointwise
        if not through(stage, next(walk), low.astype(np.int64), high.astype(np.int64)):
            return Enclosure(carrier.is_empty, carrier.limits, carrier.open, None, carrier.pieces)
    return Enclosure(carrier.is_empty, carrier.limits, carrier.open, carrier.form(next(walk)), carrier.pieces)
