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
    """Gate inputs and the output as affine functions of the input on the region of one code.

    Values are taken at the origin, then at the unit vectors: what every gate sees, then the output. For the first gates
    only, the last entry is what the gate after them sees.
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

    Exact: codes have equal maps just if their outputs are equal. The code need not occur, the first gates are enough,
    and ``frame`` replaces the origin and the unit vectors. Costs n + 1 rational evaluations.
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
