"""The preimage of a polyhedron under an affine map ``z -> W z + c``: each row a becomes ``a W``, on a region exactly.

Rows that the map makes constant are checked and dropped: what rounding leaves of them is no direction. Whether a
constant fulfils its row is decided in fractions.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from jaxtyping import Float

from reluscope.arguments import read_arguments
from reluscope.errors import ShapeError
from reluscope.geometry.polyhedra.domains import Domain, Slice
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.networks.file_outputs import Rounding, num_file_outputs, on_scores
from reluscope.networks.fractions.rational import PulledBack, RationalNetwork
from reluscope.networks.fractions.rational_weights import TooManyMultiplicationsError
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.networks.truncation import up_to_gate
from reluscope.regions.regions import region

# Outputs are compared with a target up to this share of their size.
RESOLUTION = 1e-9
CONSTANT = 64 * np.finfo(float).eps
# Multiplications of fractions for the rows of one region: about a second.
MOST_MULTIPLICATIONS = 1_000_000


@read_arguments
def within_region(
    network: Network, x: Points, target: Polyhedron, *, domain: Domain | None = None, gate: str | int | None = None
) -> Polyhedron:
    """Return the points of the region of x with outputs in a polyhedron: ``{z : W z + c in T}``.

    Parameters
    ----------
    network : Network
    x : one point, ``input_shape`` or (n,)
    target : Polyhedron
        In the space of the outputs of the model, or of a gate. Half-spaces and equations.
    domain : Domain, optional
        The region is cut to it. On a slice everything is in slice coordinates.
    gate : str or int, optional
        Use the outputs of this gate, within the region of the gates up to it; by default the outputs of the
        network.

    Returns
    -------
    Polyhedron
        The rows of the region, then the rows of the target. Exact up to the rounding of the rows, and as far as
        `Region.clear`; it may be empty (`Polyhedron.is_empty`).

    Raises
    ------
    ShapeError
        If the target lies in a space of another dimension.

    Notes
    -----
    For networks of any size. Cost: the affine maps of all units at one point.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> found = rs.preimages.within_region(net, [1.0, 1.0], rs.Polyhedron([[1.0]], [3.0]))  # x_0 + x_1 <= 3
    >>> found.vertices().round(9).tolist()
    [[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]]
    """
    features = up_to_gate(network, gate)
    check_target(features, target)
    target = on_scores(features.left_off, target, Rounding.NEAREST)
    if isinstance(domain, Slice):
        features, domain = features.restrict(domain), domain.window
    found = region(features, x, domain=domain)
    weight, bias = (part[0].cpu().numpy() for part in (found.map.weight, found.map.bias))
    rational = RationalNetwork(features)
    pieces = [table[0].tolist() for table in pieces_of(found.code)]

    def exactly(row: np.ndarray) -> PulledBack | None:
        weights = {place: Fraction(entry) for place, entry in enumerate(row.tolist()) if entry}
        try:
            return rational.pull_back(pieces, weights, most=MOST_MULTIPLICATIONS)
        except TooManyMultiplicationsError:
            return None

    return found.polyhedron.intersect(pulled_back(target, weight, bias, exactly) or nowhere(found.polyhedron.dim))


def pulled_back(
    target: Polyhedron,
    weight: Float[np.ndarray, "m n"],
    bias: Float[np.ndarray, " m"],
    exactly: Callable[[np.ndarray], PulledBack | None] | None = None,
) -> Polyhedron | None:
    """Return ``{z : W z + c in target}``, or None if rows that the map makes constant prove it empty.

    ``exactly`` gives a weighted sum of outputs as a function of z in fractions, None where that takes too long; without
    it rows that miss their end by 1e-9 of their size count as fulfilled.
    """
    sides = []
    for rows, values, is_equation in ((target.A, target.b, False), (target.C, target.d, True)):
        normals, offsets = rows @ weight, values - rows @ bias
        terms = np.abs(rows) @ np.abs(weight)
        constant = (np.abs(normals) <= CONSTANT * terms.max(axis=1, keepdims=True, initial=0.0)).all(axis=1)
        slack = RESOLUTION * np.maximum(1.0, np.abs(values) + np.abs(rows) @ np.abs(bias))
        off = np.abs(offsets) if is_equation else -offsets
        if (off > slack)[constant].any():
            return None
        for place in np.flatnonzero(constant & (np.abs(offsets) <= slack)).tolist():
            function = None if exactly is None else exactly(rows[place])
            if function is None:
                continue
            excess = function.constant - Fraction(float(values[place]))
            if function.coefficients:  # as small as rounding, and a direction all the same
                constant[place] = False
                slopes = [function.coefficients.get(axis, Fraction(0)) for axis in range(weight.shape[1])]
                largest = max(map(abs, slopes))
                normals[place] = [float(slope / largest) for slope in slopes]
                offsets[place] = float(-excess / largest)
            elif excess > 0 or (is_equation and excess):
                return None
        sides.append((normals[~constant], offsets[~constant]))
    return Polyhedron(*sides[0], *sides[1])


def nowhere(dim: int) -> Polyhedron:
    """Return the empty set as a polyhedron."""
    return Polyhedron(np.zeros((1, dim)), [-1.0])


def check_target(network: Network, target: Polyhedron) -> None:
    """Raise unless a target lies in the space of the outputs of a network's file."""
    number = num_file_outputs(network)
    if target.dim != number:
        raise ShapeError(f"expected a target in {number} dimensions, as many as outputs, got a {target.describe()}")
