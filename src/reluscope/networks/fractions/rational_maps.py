"""Affine maps of a network in rational arithmetic: every unit held to its piece, weights taken as the numbers they are.

On the region of a code everything the network computes is affine; its coefficients are differences of its values at the
origin and at the unit vectors, without any rounding.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from reluscope.geometry.polyhedra.domains import Slice
from reluscope.networks.fractions.rational import RationalNetwork, RationalVector
from reluscope.networks.passes.network_graph import NetworkGraph

AffineFunction = tuple[Fraction, ...]


@dataclass(frozen=True)
class RationalMaps:
    """Inputs of the gates, and the output, as affine functions of the input on the region of one code.

    Parameters
    ----------
    values : tuple of (n + 1) lists of RationalVector
        Values at the origin, then at the unit vectors: what every gate sees, then the output; of the first gates only,
        what the gate after them sees in its place.
    """

    values: tuple[list[RationalVector], ...]

    def entry(self, stage: int, index: int) -> AffineFunction:
        """Return one entry of what a gate sees as n coefficients and a constant.

        For max gates ``index`` counts the entries that the gate's index refers to.
        """
        constant, *others = (values[stage][index] for values in self.values)
        return (*(other - constant for other in others), constant)

    @property
    def outputs(self) -> tuple[AffineFunction, ...]:
        """The flattened outputs, each as n coefficients and a constant."""
        return tuple(self.entry(-1, index) for index in range(len(self.values[0][-1].numerators)))


def rational_maps(
    network: RationalNetwork | NetworkGraph,
    pieces: Sequence[Sequence[int]],
    frame: Sequence[Sequence[Fraction]] | None = None,
) -> RationalMaps:
    """Return the affine functions that a network computes while every unit uses a given piece.

    Parameters
    ----------
    network : RationalNetwork or NetworkGraph
    pieces : one sequence of u integers per gate
        A code; it need not occur anywhere. The first gates are enough.
    frame : (d + 1) points, optional
        In place of the origin and the unit vectors; of a plane, say, whose coordinates the functions are then of.

    Returns
    -------
    RationalMaps
        Exact: two codes with equal outputs have equal maps, and others have not.

    Notes
    -----
    Costs n + 1 rational evaluations: for networks with few inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from reluscope.networks.models.from_arrays import from_arrays
    >>> net = from_arrays([(np.array([[3.0]]), np.array([0.5])), (np.array([[2.0]]), np.zeros(1))])
    >>> rational_maps(net, [[1]]).outputs, rational_maps(net, [[0]]).outputs
    (((Fraction(6, 1), Fraction(1, 1)),), ((Fraction(0, 1), Fraction(0, 1)),))
    """
    exact = network if isinstance(network, RationalNetwork) else RationalNetwork(network)
    points = unit_frame(exact.network.num_inputs) if frame is None else frame
    return RationalMaps(tuple(exact.held(pieces, point) for point in points))


def unit_frame(dim: int) -> list[list[Fraction]]:
    """Return the origin and the unit vectors."""
    origin = [Fraction(0)] * dim
    return [origin, *([*origin[:axis], Fraction(1), *origin[axis + 1 :]] for axis in range(dim))]


def slice_frame(domain: Slice) -> list[list[Fraction]]:
    """Return the points of input space that a slice lifts the origin and the unit vectors to, without any rounding."""
    origin = [Fraction(float(entry)) for entry in domain.origin]
    rows = [[Fraction(float(entry)) for entry in row] for row in domain.basis]
    return [origin, *([start + way for start, way in zip(origin, row, strict=True)] for row in rows)]
