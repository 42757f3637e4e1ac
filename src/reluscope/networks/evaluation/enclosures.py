"""Enclosures of all values of a network around a point, with units held to some of their pieces."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float, Integer

from reluscope.geometry.polyhedra.cut_balls import CutBall
from reluscope.networks.graph.nodes import Max
from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.forms import AffineForms, Forms, OpenUnit, PossiblePieces
from reluscope.networks.passes.network_graph import NetworkGraph


@dataclass(frozen=True, eq=False)
class Enclosure:
    """Enclosures of what gates see and of the outputs, over steps away from a point.

    Parameters
    ----------
    is_empty : bool
        Whether no step lets all units have the pieces they are held to.
    limits : list of Forms
        Forms that are at most 0 where units have the pieces they are held to; what the ball implies is left out.
    open : list of OpenUnit
        One per noise symbol.
    outputs : Forms, optional
        None where an open unit has an infinite range: later gates are then left out, too.
    pieces : list of PossiblePieces
        Of each gate that is not left out.
    """

    is_empty: bool
    limits: list[Forms]
    open: list[OpenUnit]
    outputs: Forms | None
    pieces: list[PossiblePieces] = field(default_factory=list)


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
    """Enclose all values over steps away from a point.

    Parameters
    ----------
    network : NetworkGraph
    point : (n,) array
    steps : CutBall
        The steps u.
    first, last : sequences of (u,) integer arrays
        The pieces that each unit may have, one array per gate. A max unit is held to one candidate, or to none.
    rounding : float
        Of a sum, relative to the magnitudes of its terms.

    Returns
    -------
    Enclosure

    Notes
    -----
    About a forward pass per input and open unit.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [2.0]]), np.array([0.5, 9.0])), (np.ones((1, 2)), np.zeros(1))])
    >>> steps = CutBall(1.0, "l2", -np.ones(1), np.ones(1))
    >>> found = enclose(net, np.zeros(1), steps, [np.zeros(2, int)], [np.ones(2, int)], rounding=1e-15)
    >>> found.open, found.outputs.centers + found.outputs.noise.sum(1)  # u + 0.5 may change its sign
    ([OpenUnit(gate=0, unit=0, parts=((0, 0), (1, 1)))], array([9.75]))
    """
    carrier = AffineForms(network, point, steps, rounding)
    walk = carry(network, carrier, carrier.start)
    for stage, low, high in zip(network.stages, first, last, strict=True):
        through = carrier.max if isinstance(stage.gate, Max) else carrier.pointwise
        if not through(stage, next(walk), low.astype(np.int64), high.astype(np.int64)):
            return Enclosure(carrier.is_empty, carrier.limits, carrier.open, None, carrier.pieces)
    return Enclosure(carrier.is_empty, carrier.limits, carrier.open, carrier.form(next(walk)), carrier.pieces)
