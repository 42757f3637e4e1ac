"""What the engines cost: microseconds of one core for each region, forecast before the work begins.

Fitted to networks of up to four layers of 4 to 512 units in 3 to 10 dimensions, with ReLUs alone or behind max units of
2 to 6 candidates (`benchmarks/engine_choice.py`). Only the order of engines on one network matters, so processors need
no constants of their own; what is the same for all engines is left out, the number of regions first of all.
"""

from collections.abc import Callable, Sequence
from typing import Literal

from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.fractions.rational import multiplications
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.network import Network

Kept = Literal["codes", "vertices"]
# Cells have about 2^d vertices, and there are more of them where walls between the cones of an unbounded domain cut
# them: cost by dimension, from 1 on.
_SHARED = (1.5, 2.0, 2.8, 6.5, 17.0, 66.0, 270.0)
_ALONE = {"vertices": (1.3, 1.4, 1.6, 2.2, 4.8, 9.0, 25.0, 66.0), "codes": (1.1, 1.2, 1.3, 1.8, 4.0, 6.6, 17.0, 42.0)}
_IN_CONES = {"vertices": (1.4, 1.8, 1.8, 2.7, 7.8, 19.0), "codes": (1.2, 1.6, 1.9, 2.9, 6.6, 15.5)}


def cheapest(engines: Sequence[str], network: Network, domain: Domain, keep: Kept) -> str:
    """Return the engine that is forecast to take the least time per region, the first of equals.

    All ``engines`` must cover the domain.
    """
    return min(engines, key=lambda engine: _COSTS[engine](network, domain, keep))


def _incidence(network: Network, domain: Domain, keep: Kept) -> float:
    """Forecast: vertices are shared by all cells around, one row of the next layer's values for about one region."""
    del keep  # vertices are dropped at the end
    number, share = _candidates(network)
    # Cells are cut where any two candidates tie, and joined again where neither of them is the largest.
    own = _by_dimension(_SHARED, domain.dim) * (number / 2) ** ((domain.dim + 2.5) * share)
    return own + 2.5e-5 * 1.8 ** (domain.dim - 3) * multiplications(network)


def _cellwise(network: Network, domain: Domain, keep: Kept) -> float:
    """Forecast: every cell has its vertices, and d + 1 coefficients of the next layer's units, for itself."""
    own = _by_dimension((_ALONE if domain.is_bounded() else _IN_CONES)[keep], domain.dim)
    return own + 5e-5 * (domain.dim + 1) * multiplications(network)


def _tree(network: Network, domain: Domain, keep: Kept) -> float:
    """Forecast: a program for many units that do not cut a cell; fewer do in few dimensions, and deep down."""
    del keep  # it has none
    depth, (number, share) = len(network.stages), _candidates(network)
    behind = 0.08 * multiplications(network) + 250.0 * max(0, depth - 2) if depth > 1 else 0.0
    return (5.0 + (3000.0 / domain.dim**3 if depth > 1 or share else 0.0)) * number / 2 + behind


def _candidates(network: Network) -> tuple[float, float]:
    """Return how many candidates max units have, two at least, and the share of these units in all bends."""
    number, of_max, of_others = 2.0, 0, 0
    for stage in network.stages:
        if isinstance(stage.gate, Max):
            candidates = (stage.gate.index >= 0).sum(1)
            number = max(number, float(candidates.double().mean()))
            of_max += int((candidates - 1).sum())
        else:
            of_others += stage.gate.num_units * len(stage.gate.breakpoints)
    return number, of_max / max(1, of_max + of_others)


def _by_dimension(costs: Sequence[float], dim: int) -> float:
    last = len(costs)
    return costs[dim - 1] if dim <= last else costs[-1] * (costs[-1] / costs[-2]) ** (dim - last)


_COSTS: dict[str, Callable[[Network, Domain, Kept], float]] = {
    "incidence": _incidence,
    "cellwise": _cellwise,
    "tree": _tree,
}
