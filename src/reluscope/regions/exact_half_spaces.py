"""The half-spaces of a region as rows of fractions: of the network, and not of rows that floats have rounded.

Rows of later gates are parallel, or lie in a subspace, where the network's map has a small rank on the region. Rounded
rows do neither, and end at 1e15 what has no end.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from jaxtyping import Float, Int

from reluscope.codes.packed import Codes
from reluscope.geometry.polyhedra.true_rows import KnownRows, Side, TrueRows
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.networks.fractions.rational import PulledBack, RationalNetwork, multiplications
from reluscope.networks.fractions.rational_maps import rational_maps
from reluscope.networks.graph.piece_conditions import piece_condition
from reluscope.networks.passes.network_graph import NetworkGraph

# Multiplications that the rows of one region may take, and a program with them: about a second.
MULTIPLICATIONS = 4_000_000
# A simplex method takes about so many pivots per dimension, of a product for each number.
PIVOTS = 2


class ExactHalfSpaces(TrueRows):
    """The rows of one region, found when they are first asked for; pickled as the rows themselves.

    ``code`` is a batch of one; ``sources`` are as `Region.sources` has them; ``A`` and ``b`` are the rows of the
    domain.
    """

    def __init__(
        self,
        network: NetworkGraph,
        code: Codes,
        sources: Int[np.ndarray, "h 3"],
        A: Float[np.ndarray, "k n"],
        b: Float[np.ndarray, " k"],
    ) -> None:
        self._parts = network, code, sources, A, b
        self._found: tuple[Side, ...] | None = None

    def sides(self) -> tuple[Side, ...] | None:
        """Return the rows ``(a, c)`` of ``a . x + c >= 0`` in order, None where fractions would take too long."""
        network, code, sources, A, b = self._parts
        dim = network.num_inputs
        cost = (dim + 1) * multiplications(network) + PIVOTS * len(sources) * dim * dim
        if self._found is None and cost <= MULTIPLICATIONS:
            pieces = [table[0].tolist() for table in pieces_of(code)]
            maps = rational_maps(RationalNetwork(network), pieces) if (sources[:, 0] >= 0).any() else None
            found: list[Side] = []
            for stage, unit, beyond in sources.tolist():
                if stage < 0 or maps is None:
                    found.append((*(-Fraction(entry) for entry in A[unit].tolist()), Fraction(float(b[unit]))))
                    continue
                gate = network.stages[stage].gate
                first, second, side, level = piece_condition(gate, unit, pieces[stage][unit], beyond)
                function = maps.entry(stage, first)
                other: Sequence[Fraction] = maps.entry(stage, second) if second >= 0 else [Fraction(0)] * len(function)
                *slopes, constant = (side * (one - two) for one, two in zip(function, other, strict=True))
                found.append((*slopes, constant - side * Fraction(level)))
            self._found = tuple(found)
        return self._found

    def __reduce__(self) -> tuple[type[KnownRows], tuple[tuple[Side, ...] | None]]:
        return KnownRows, (self.sides(),)


def pulled_side(
    exact: RationalNetwork, code: Sequence[Sequence[int]], source: Sequence[int], *, most: float
) -> PulledBack:
    """Return one row ``a . x + c >= 0`` of a region by one backward pass, for one of `Region.sources`.

    Raises TooManyMultiplicationsError if ``most`` does not suffice.
    """
    stage, unit, beyond = source
    gate = exact.network.stages[stage].gate
    first, second, side, level = piece_condition(gate, unit, code[stage][unit], beyond)
    weights = {first: Fraction(side)}
    if second >= 0:
        weights[second] = weights.get(second, Fraction(0)) - side
    found = exact.pull_back(code, weights, stage=stage, most=most)
    return found._replace(constant=found.constant - side * Fraction(level))
