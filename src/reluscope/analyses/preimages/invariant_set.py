"""All inputs that some features do not tell from a given one, as a polyhedron around it.

After one layer these are the solutions of the mixed system of its output. Deeper down the set taken is the part within
the linear region of the input: all units up to the gate keep their pieces, and the affine map to the gate its value.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from reluscope.analyses.boxes.rounded_ends import finding_within
from reluscope.analyses.preimages.mixed_system import system
from reluscope.analyses.preimages.reading_layers import read_layer
from reluscope.arguments import Count, Seed, read_arguments, read_point
from reluscope.errors import InputError, ShapeError
from reluscope.findings import Finding
from reluscope.geometry.numbers.resolutions import CONSTANT_ROWS, FACETS, RELATIVE_GAP, SUMS
from reluscope.geometry.numbers.row_scales import unit_rows
from reluscope.geometry.polyhedra.domains import Box
from reluscope.geometry.polyhedra.interior import row_space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.polyhedra.relative_interior import RelativeInterior, relative_interior
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramSolution, ProgramStatus
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.networks.truncation import up_to_gate
from reluscope.regions.regions import region
from reluscope.shown import Shown

# Relative to the length of a direction or a row: what is shorter beside the equations lies in what they span.
DEPENDENT = 1e-9
# Relative to the distance: a search goes on while it grows by more.
GROWN = 1e-9
# Rounds of the search for a farthest point from one start.
NUM_ROUNDS = 30


@dataclass(frozen=True, eq=False, repr=False)
class InvariantSet(Shown):
    """The set ``{z : P z = P x, Z z <= d, lower <= z <= upper}`` of inputs with the features of x.

    Parameters
    ----------
    features : Network
        From inputs to the features.
    point : (n,) float64
        The input x.
    equations : (p, n) float64
        Orthonormal rows with the span of the rows of all features that vary.
    inequalities, bounds : (q, n) and (q,) float64
        Rows of length 1.
    lower, upper : (n,) float64
        The box, infinite where there is none.
    within : str
        "layer" or "region".
    clear : float
        `Region.clear` of the region of x.
    """

    features: Network
    point: Float[np.ndarray, " n"]
    equations: Float[np.ndarray, "p n"]
    inequalities: Float[np.ndarray, "q n"]
    bounds: Float[np.ndarray, " q"]
    lower: Float[np.ndarray, " n"]
    upper: Float[np.ndarray, " n"]
    within: str
    clear: float = np.inf

    @property
    def polyhedron(self) -> Polyhedron:
        """The set as a polyhedron: inequalities, then upper and lower sides of the box."""
        identity = np.eye(len(self.point))
        above, below = np.isfinite(self.upper), np.isfinite(self.lower)
        return Polyhedron(
            np.concatenate([self.inequalities, identity[above], -identity[below]]),
            np.concatenate([self.bounds, self.upper[above], -self.lower[below]]),
            self.equations,
            self.equations @ self.point,
        )

    @cached_property
    def interior(self) -> RelativeInterior:
        """A point in the relative interior, and the dimension of the set."""
        scale = max(1.0, float(np.abs(self.point).max()))
        found = relative_interior(self.polyhedron, tolerance=FACETS * scale, cap=scale)
        if found is None:  # by less than the tolerance: x itself is all that is sure
            return RelativeInterior(self.point, 0, 0.0, self.polyhedron)
        return found

    @property
    def dimension(self) -> int:
        """Dimension of the set at a resolution of 1e-9: directions in which some of its points can be moved."""
        return self.interior.dim

    @read_arguments
    def maximize(self, direction: ArrayLike) -> ProgramSolution:
        """Maximise a linear function over the set; value inf if it is unbounded that way."""
        return self._program.maximize(self._read(direction))

    @read_arguments
    def width(self, direction: ArrayLike) -> float:
        """Return the extent of the set along a direction of any length, in units of input space.

        Notes
        -----
        Two linear programs; the program is kept.
        """
        way = self._read(direction)
        length = float(np.linalg.norm(way))
        if not length > 0:
            raise InputError("expected a direction, got the zero vector")
        return self.maximize(way / length).value + self.maximize(-way / length).value

    @read_arguments
    def reach(self, direction: ArrayLike) -> tuple[float, float]:
        """Return how far one can go from x against a direction and along it with the same features.

        The direction is projected onto the solutions of the equations first; zero if nothing of it is left.
        """
        way = self._read(direction)
        free = way - self.equations.T @ (self.equations @ way)
        length = float(np.linalg.norm(free))
        if length <= DEPENDENT * float(np.linalg.norm(way)):
            return 0.0, 0.0
        free = free / length
        slack = np.maximum(self.bounds - self.inequalities @ self.point, 0.0)
        rates = self.inequalities @ free
        rates = np.concatenate([rates, free, -free])
        room = np.concatenate([slack, np.maximum(self.upper - self.point, 0), np.maximum(self.point - self.lower, 0)])
        moving = np.abs(rates) > CONSTANT_ROWS
        rates, room = rates[moving], room[moving]
        ahead = np.min(room[rates > 0] / rates[rates > 0], initial=np.inf)
        behind = np.min(room[rates < 0] / -rates[rates < 0], initial=np.inf)
        return float(behind), float(ahead)

    def nearest_end(self) -> tuple[Finding, Float[np.ndarray, " n"]]:
        """Return the least distance within the equations from x to an end of the set, and its direction.

        Returns
        -------
        Finding, (n,) float64
            EXACT up to rounding, UPPER where `clear` is nearer. 0 if x already lies on an inequality or is alone;
            infinite if the set has no end. Equalities hidden in the inequalities count as ends.

        Notes
        -----
        Closed form: the slack of each row over its length within the solutions of the equations.
        """
        identity = np.eye(len(self.point))
        rows = np.concatenate([self.inequalities, identity, -identity])
        room = np.concatenate(
            [self.bounds - self.inequalities @ self.point, self.upper - self.point, self.point - self.lower]
        )
        inner = rows - (rows @ self.equations.T) @ self.equations
        lengths = np.linalg.norm(inner, axis=1)
        moving = (lengths > DEPENDENT) & np.isfinite(room)
        distances = np.full(len(room), np.inf)
        distances[moving] = np.maximum(room[moving], 0.0) / lengths[moving]
        if len(self.equations) == len(self.point):  # nowhere to go
            distances[:] = 0.0
            lengths[:] = np.inf
        first = int(np.argmin(distances))
        value = float(distances[first])
        way = inner[first] / lengths[first] if np.isfinite(value) else np.zeros(len(self.point))
        scale = max(float(np.abs(self.point).max()), value if np.isfinite(value) else 0.0)
        finding = finding_within(
            value,
            min(value, self.clear / np.sqrt(len(self.point))),
            value,
            rounding=SUMS * scale,
            scale=scale,
            name="least change to an end of the invariant set",
            definition="l2 distance from the input to the nearest inequality, within the solutions of the equations",
            method="closed form",
        )
        return finding, way

    @read_arguments
    def farthest(self, *, num_starts: Count = 16, seed: Seed = 0) -> tuple[Finding, Float[np.ndarray, " n"]]:
        """Return a point of the set far from x, in l2, and its distance.

        Parameters
        ----------
        num_starts : int
            Number of random starting directions.
        seed : int

        Returns
        -------
        Finding, (n,) float64
            LOWER: the largest distance is a convex maximum, of which a local one is found. The interval ends at the
            farthest corner of the box.

        Raises
        ------
        InputError
            If the set is unbounded: give a box.

        Notes
        -----
        Linear programs from every start, until the point no longer changes.
        """
        generator = np.random.default_rng(seed)
        starts = generator.normal(size=(num_starts, len(self.point)))
        best, value = self.point, 0.0
        for start in starts:
            way, last = start, -1.0
            for _ in range(NUM_ROUNDS):
                found = self.maximize(way)
                if found.status is not ProgramStatus.OPTIMAL:
                    raise InputError("expected a bounded invariant set, got an unbounded one: give a domain")
                distance = float(np.linalg.norm(found.point - self.point))
                if distance > value:
                    best, value = found.point, distance
                if distance <= last * (1 + GROWN) or distance == 0:
                    break
                way, last = found.point - self.point, distance
        if value > 0 and self.clear < np.inf:  # inequalities are lacking: as far on the way as they leave to the set
            share = min(1.0, self.clear / float(np.abs(best - self.point).sum()))
            best, value = self.point + share * (best - self.point), share * value
        corner = np.maximum(np.abs(self.upper - self.point), np.abs(self.point - self.lower))
        finding = Finding.of(
            value,
            upper=max(value, float(np.linalg.norm(corner))),
            name="largest change with the same features",
            definition="largest l2 distance from the input to a point of the invariant set",
            method="linear programs in the direction of the last point",
        )
        return finding, best

    def least_width(self) -> tuple[Finding, Float[np.ndarray, " n"]]:
        """Return the minimal width of the set within its affine hull, and the direction in which it is so thin.

        Returns
        -------
        Finding, (n,) float64
            EXACT in up to five dimensions with few vertices; else UPPER with an interval, from linear programs. NaN as
            direction where the set is a point or endless.
        """
        if self.dimension == 0:
            lower = upper = 0.0
            way = np.full(len(self.point), np.nan)
        else:
            lower, upper, way = self.interior.polyhedron.width()
            lower = lower if self.clear == np.inf else 0.0
        scale = max(float(np.abs(self.point).max()), lower if np.isfinite(lower) else 0.0)
        finding = finding_within(
            upper,
            lower,
            upper,
            rounding=RELATIVE_GAP * scale,
            scale=scale,
            name="least width of the invariant set",
            definition="least distance of two parallel hyperplanes with the set between them, in its affine hull",
            method="widths of polyhedra",
        )
        return finding, way

    @cached_property
    def _program(self) -> LinearProgram:
        program = LinearProgram(len(self.point))
        program.set_all_bounds(self.lower, self.upper)
        program.add_rows(self.inequalities, self.bounds)
        values = self.equations @ self.point
        program.add_rows(self.equations, values, values)
        return program

    def _read(self, direction: ArrayLike) -> np.ndarray:
        way = read_point(direction, "direction")
        if len(way) != len(self.point):
            raise ShapeError(f"expected a direction of {len(self.point)} entries, got {len(way)}")
        return way


@read_arguments
def invariant_set(
    network: Network, x: Points, *, domain: Box | None = None, gate: str | int | None = None, within: str = "layer"
) -> InvariantSet:
    """Return the polyhedron of inputs with the same features as x.

    Parameters
    ----------
    network : Network
    x : one point, ``input_shape`` or (n,)
    domain : Box, optional
        Prior bounds on inputs (remark 3 of the paper).
    gate : str or int, optional
        Gate whose outputs are kept. By default the first gate for "layer", and the outputs of the network for
        "region".
    within : {"layer", "region"}
        "layer": the whole preimage of the output of the gate, for gates that read the input of the network.
        "region": the part of the preimage within the linear region of x up to the gate; units before keep their
        pieces.

    Returns
    -------
    InvariantSet

    Raises
    ------
    InputError
        If x lies outside the domain, or a gate for "layer" reads other gates.
    ShapeError
        If x is not one point, or the domain has another dimension.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> found = rs.preimages.invariant_set(net, [1.0, -0.5], domain=rs.Box(-1, 2, 2))
    >>> found.dimension, found.width([0.0, 1.0]), found.reach([0.0, 1.0])
    (1, 1.0, (0.5, 0.5))
    """
    points = network.points(x)
    if len(points) != 1:
        raise ShapeError(f"expected one point, got {len(points)}: take them one by one")
    point = points.reshape(-1).cpu().numpy().copy()
    lower, upper = np.full(len(point), -np.inf), np.full(len(point), np.inf)
    if domain is not None:
        if domain.dim != len(point):
            raise ShapeError(
                f"expected a domain in {len(point)} dimensions, as many as inputs, got {domain.describe()}"
            )
        if not domain.contains(point):
            raise InputError(f"expected a point in the domain, got one outside {domain.describe()}: enlarge the domain")
        lower, upper = domain.lo, domain.hi
    if within == "layer":
        gate = 0 if gate is None else gate
        layer = read_layer(network, gate)
        features = up_to_gate(network, gate)
        if features.stages[-1].reads != (0,):
            raise InputError(
                f"expected a gate that reads the input of the network, and {layer.name!r} reads "
                f'{", ".join(layer.reads)}: its preimage is a union of polyhedra; take within="region"'
            )
        # Values of the pass that pieces are read from: other sums may round to the other side of a kink.
        found = system(layer, features(points).reshape(-1).cpu().numpy()).polyhedron
        rows, offsets, _ = unit_rows(found.A, found.b)
        equations, clear = found.C, np.inf
    elif within == "region":
        features = up_to_gate(network, gate)
        here = region(features, point)
        clear = here.clear
        rows, offsets, _ = unit_rows(here.polyhedron.A, here.polyhedron.b)
        equations = here.map.weight[0].cpu().numpy()
    else:
        raise InputError(f"within must be 'layer' or 'region', got {within!r}")
    equations = equations[equations.any(axis=1)]
    basis = row_space(equations) if len(equations) else np.zeros((0, len(point)))
    return InvariantSet(features, point, basis, rows, offsets, lower, upper, within, clear)
