"""One code of a network after another, on a bounded domain, each by a mixed-integer program.

The programs of Serra, Tjandraatmadja and Ramalingam (``serra2018``) maximise the margin f of a code, and stop when none
has f > 0. Here every code found must have f of at least `MIN_MARGIN`, so that any solution will do and the last
program has none; that was three to six times as fast.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from reluscope.analyses.counting.code_points import CodePoints
from reluscope.errors import DegenerateGeometryError, InputError, SolverError
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.programs.mixed_integer_program import Ending
from reluscope.networks.bounds.mixed_integer import CodeProgram, encode
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.network import Network

# Relative to the sum of the magnitudes of what a unit sums; far above the solver's tolerance of 1e-9.
MIN_MARGIN = 1e-6


class FoundCode(NamedTuple):
    """A code that the solver takes for one, and whether a point has it in rational arithmetic."""

    pieces: list[np.ndarray]
    is_certain: bool


class CodeSearch:
    """Finds codes of a network on a bounded domain with an interior."""

    def __init__(self, network: Network, domain: Domain) -> None:
        network, window = _bounded(network, domain)
        self.model: CodeProgram = encode(network, window, least_margin=MIN_MARGIN)
        self.is_closed = False
        self._points = CodePoints(network, window, *self.model.corners)
        self._found: dict[bytes, bool] = {}
        self._excluded: set[bytes] = set()

    @property
    def num_certain(self) -> int:
        """Number of different codes found so far that a point has."""
        return sum(self._found.values())

    def next_code(self, seconds: float = np.inf) -> FoundCode | None:
        """Return a code that this did not return before; None if there is none (then `is_closed`) or time ran out."""
        outcome = self.model.program.maximize([], [], seconds=seconds)
        self.is_closed = outcome.ending is Ending.INFEASIBLE
        if outcome.point is None:
            return None
        pieces = self.model.pieces(outcome.point)
        key = _key(pieces)
        if key in self._excluded:
            raise SolverError(
                "the solver should have found a code that was not excluded and found an excluded one; look for weights "
                "of very different size"
            )
        self._excluded.add(key)
        self.model.forbid(outcome.point)
        return FoundCode(pieces, self._has_point(key, pieces))

    def any_code(self, seconds: float = np.inf) -> Float[np.ndarray, " k"] | None:
        """Return a solution whose code a point has, of those that were not excluded; None if none was found."""
        refused: set[bytes] = set()
        while (outcome := self.model.program.maximize([], [], seconds=seconds)).point is not None:
            pieces = self.model.pieces(outcome.point)
            key = _key(pieces)
            if self._has_point(key, pieces):
                return outcome.point
            if key in refused:  # the solver took the cut for kept
                return None
            refused.add(key)
            self.model.forbid(outcome.point)
        return None

    def _has_point(self, key: bytes, pieces: list[np.ndarray]) -> bool:
        if key not in self._found:
            self._found[key] = self._points.point(pieces) is not None
        return self._found[key]


def _key(pieces: list[np.ndarray]) -> bytes:
    return b"".join(part.tobytes() for part in pieces)


def _bounded(network: Network, domain: Domain) -> tuple[Network, Box | Polyhedron]:
    """Return the network as a function on a bounded window, and the window."""
    domain = read_domain(domain, network.num_inputs)
    if isinstance(domain, Slice):
        network, domain = network.restrict(domain), domain.window
    if isinstance(domain, Space) or not domain.is_bounded():
        raise InputError(
            f"a mixed-integer program needs a bounded domain, got {domain.describe()}: give a Box or a bounded "
            'Polyhedron, or take method="tree"'
        )
    if isinstance(domain, Polyhedron) and (len(domain.C) or not domain.insphere().radius > 0):
        raise DegenerateGeometryError(
            f"the domain must have an interior, but {domain.describe()} is empty or flat: give another"
        )
    return network, domain
