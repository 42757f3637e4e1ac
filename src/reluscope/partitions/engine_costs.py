"""What the engines cost: microseconds of one core for each region, forecast before the work begins.

Fitted to networks of up to four layers of 4 to 512 units in 3 to 10 dimensions (`benchmarks/engine_choice.py`). Only
the order of engines on one network matters, so processors need no constants of their own; what is the same for all
engines is left out, the number of regions first of all.
"""

from collections.abc import Callable, Sequence

from reluscope.geometry.domains import Domain
from reluscope.networks.network import Network
from reluscope.networks.rational import multiplications

# Cells have about 2^d vertices, and as many again in each orthant of an unbounded domain: cost by dimension, from 1 on.
_SHARED = (2.0, 3.0, 7.5, 15.0, 45.0, 150.0)
_ALONE = (2.0, 2.5, 3.0, 5.0, 9.0, 20.0, 58.0, 190.0, 500.0, 2500.0)
_ALONE_IN_ORTHANTS = (2.0, 2.5, 3.5, 9.0, 28.0, 200.0, 1700.0, 8000.0)


def cheapest(engines: Sequence[str], network: Network, domain: Domain) -> str:
    """Return the engine that is forecast to take the least time for each region, the first of equals.

    Parameters
    ----------
    engines : sequence of str
        Those that cover the domain.
    network : Network
    domain : Domain

    Examples
    --------
    >>> import reluscope as rs
    >>> from reluscope.testing import default_network
    >>> narrow, wide = rs.load(default_network([3, 16, 1])), rs.load(default_network([3, 512, 512, 1]))
    >>> [cheapest(["incidence", "cellwise"], net, rs.Box(0, 1, 3)) for net in (narrow, wide)]
    ['cellwise', 'incidence']
    """
    return min(engines, key=lambda engine: _COSTS[engine](network, domain))


def _incidence(network: Network, domain: Domain) -> float:
    """Forecast: vertices are shared by all cells around, one row of the next layer's values for about one region."""
    return _by_dimension(_SHARED, domain.dim) + 4e-5 * 2.0 ** (domain.dim - 3) * multiplications(network)


def _cellwise(network: Network, domain: Domain) -> float:
    """Forecast: every cell has its vertices, and d + 1 coefficients of the next layer's units, for itself."""
    own = _by_dimension(_ALONE if domain.is_bounded() else _ALONE_IN_ORTHANTS, domain.dim)
    return own + 1.2e-4 * (domain.dim + 1) * multiplications(network)


def _tree(network: Network, domain: Domain) -> float:
    """Forecast: a program for many units that do not cut a cell; fewer do in few dimensions, and deep down."""
    depth, dim = len(network.stages), domain.dim
    return 6.0 + (3000.0 / dim**3 if depth > 1 else 0.0) + 1000.0 / dim * max(0, depth - 2)


def _by_dimension(costs: Sequence[float], dim: int) -> float:
    last = len(costs)
    return costs[dim - 1] if dim <= last else costs[-1] * (costs[-1] / costs[-2]) ** (dim - last)


_COSTS: dict[str, Callable[[Network, Domain], float]] = {
    "incidence": _incidence,
    "cellwise": _cellwise,
    "tree": _tree,
}
