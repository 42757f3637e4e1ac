"""The inverse of a network on one linear region: ``y -> x + W^+ (y - f(x))``, where it holds, and how stable it is.

On the region of x the features are ``W z + c``. The pseudo-inverse finds the input nearest to x among those with given
features; it speaks for features of the range of W whose input found lies in the region.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from reluscope.analyses.boxes.rounded_ends import finding_within
from reluscope.arguments import NonNegative, read_arguments, read_array
from reluscope.errors import InputError, ShapeError
from reluscope.findings import Finding
from reluscope.geometry.numbers.resolutions import CONSTANT_ROWS
from reluscope.geometry.numbers.row_scales import unit_rows
from reluscope.geometry.polyhedra.domains import Domain, Slice
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.programs.checked_bounds import upper_bound
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus
from reluscope.networks.graph.left_off import refuse_left_off
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.networks.truncation import up_to_gate
from reluscope.regions.regions import region
from reluscope.shown import Shown
from reluscope.tolerance import EPSILON

# Relative to the lengths of rows and of the way: rates below which a way does not clearly leave a row.
LEAVING = 1e-9
# Directions along which the way out of a region is sought.
NUM_DIRECTIONS = 24
# Relative to the distance: the gap of maxima along directions.
RELATIVE_GAP = 1e-7
# Inputs that multipliers speak for, in units of what is given.
MAX_LENGTH = 1e6


@dataclass(frozen=True, eq=False, repr=False)
class LocalInverse(Shown):
    """An affine map from features back to inputs, and the polyhedron of features on which it inverts.

    Parameters
    ----------
    point : (n,) float64
        The input x.
    features : (u,) float64
        ``f(x)``.
    weight : (n, u) float64
        ``W^+``: rows of singular values that count as zero are left out.
    forward : (u, n) float64
        The map W of the region.
    region : Polyhedron
        The region of x, in the space of inputs.
    singular_values : (k,) float64
        The singular values of W that do not count as zero, largest first.
    clear : float
        `Region.clear` of the region.
    """

    point: Float[np.ndarray, " n"]
    features: Float[np.ndarray, " u"]
    weight: Float[np.ndarray, "n u"]
    forward: Float[np.ndarray, "u n"]
    region: Polyhedron
    singular_values: Float[np.ndarray, " k"]
    clear: float = np.inf

    @read_arguments
    def __call__(self, features: ArrayLike) -> Float[np.ndarray, "... n"]:
        """Return the inputs nearest to x whose features, by the region's map, are nearest to those given."""
        values = read_array(features, "features")
        if values.ndim == 0 or values.shape[-1] != len(self.features):
            raise ShapeError(f"expected {len(self.features)} features, got an array of shape {values.shape}")
        return self.point + (values - self.features) @ self.weight.T

    @property
    def rank(self) -> int:
        """Dimension of the features of the region."""
        return len(self.singular_values)

    @property
    def is_injective(self) -> bool:
        """Whether no two inputs of the region have the same features."""
        return self.rank == len(self.point)

    @property
    def condition(self) -> float:
        """Largest over least singular value that is not zero; NaN for a constant map."""
        return float(self.singular_values[0] / self.singular_values[-1]) if self.rank else float("nan")

    @property
    def norm(self) -> float:
        """How much longer a change of the input can be than the change of features that it answers: 1 / least value."""
        return float(1.0 / self.singular_values[-1]) if self.rank else 0.0

    @cached_property
    def validity(self) -> Polyhedron:
        """The features on which this is an inverse: ``f`` of what it gives are these features again.

        Half-spaces in feature space, those of the region, and as equations that features are in the range of W. Without
        injectivity there may be more features that come from the region, by other inputs than those nearest to x.
        """
        rows = self.region.A @ self.weight
        values = self.region.b - self.region.A @ self.point + rows @ self.features
        left, _, _ = np.linalg.svd(self.forward)
        across = left[:, self.rank :].T
        return Polyhedron(rows, values, across, across @ self.features)

    @cached_property
    def margin(self) -> Finding:
        """Return the least change of features that leads out of the image of the interior of the region.

        Changes are measured in l2 and lie in the range of W.

        Returns
        -------
        Finding
            EXACT for an injective map: the slack of each row a of the region over ``|a W^+|``. Otherwise LOWER: the
            largest ball of features over which the inputs closest to some input with the features of x stay in the
            region; the interval ends at the shortest exit found. Infinite if every such change stays in the image.
            Features outside the range of W (``rank < u``) leave the region at once and are excluded. Both ends are
            checked: the lower one by a point, the upper one by multipliers, for inputs up to a million times the size
            of x and of the offsets of the rows.

        Notes
        -----
        One linear program, and one for each of up to 24 directions, unless the map is injective.
        """
        rows, offsets, _ = unit_rows(self.region.A, self.region.b)
        pulled = rows @ self.weight
        lengths = np.linalg.norm(pulled, axis=1)
        slack = np.maximum(offsets - rows @ self.point, 0.0)
        moving = lengths > CONSTANT_ROWS * max(1.0, self.norm)
        direct = float(np.min(slack[moving] / lengths[moving], initial=np.inf))
        if self.is_injective:
            return self._finding(direct, direct, "closed form")
        kernel = self._row_space()
        values = kernel @ self.point
        inner = LinearProgram(len(self.point) + 1)
        inner.set_bounds(len(self.point), 0.0, np.inf)
        inner.add_rows(np.column_stack([rows, lengths]), np.maximum(offsets, rows @ self.point))
        inner.add_rows(np.pad(kernel, ((0, 0), (0, 1))), values, values)
        found = inner.maximize(np.append(np.zeros(len(self.point)), 1.0))
        lower = direct
        if found.status is ProgramStatus.UNBOUNDED:
            inner.set_bounds(len(self.point), 0.0, MAX_LENGTH * max(1.0, float(np.abs(offsets).max(initial=0.0))))
            found = inner.maximize(np.append(np.zeros(len(self.point)), 1.0))
        if found.status is ProgramStatus.OPTIMAL:
            lower = max(lower, self._room(found.point[:-1], rows, offsets, lengths, kernel))
            away = found.point[:-1] - self.point
            if self._falls(away - kernel.T @ (kernel @ away), rows, moving):
                return self._finding(np.inf, np.inf, "linear program")
        order = np.flatnonzero(moving)[np.argsort(slack[moving] / lengths[moving])][:NUM_DIRECTIONS]
        if not len(order):
            return self._finding(np.inf, np.inf, "linear programs")
        upper = min(self._way_out(pulled[row] / lengths[row], rows, offsets, kernel) for row in order)
        return self._finding(lower, max(lower, upper), "linear programs")

    def _room(
        self, near: np.ndarray, rows: np.ndarray, offsets: np.ndarray, lengths: np.ndarray, kernel: np.ndarray
    ) -> float:
        """Return the ball of features about x over which an input near another one stays in the region; 0 if none."""
        way = near - self.point
        point = self.point + way - kernel.T @ (kernel @ way)
        slack = offsets - rows @ point
        doubt = 8 * (len(point) + 2) * EPSILON * (np.abs(offsets) + np.abs(rows) @ (np.abs(point) + np.abs(self.point)))
        still = lengths <= CONSTANT_ROWS * max(1.0, self.norm)
        # Rows that x itself is on up to rounding may stay as they are.
        inside = np.minimum(offsets - rows @ self.point, 0.0)
        if (slack[still] < inside[still] - doubt[still]).any():
            return 0.0
        return max(0.0, float(np.min((slack[~still] - doubt[~still]) / lengths[~still], initial=np.inf)))

    def _falls(self, way: np.ndarray, rows: np.ndarray, moving: np.ndarray) -> bool:
        """Return whether no row rises on a way that features do not see, and those that matter fall."""
        length = float(np.linalg.norm(way))
        if not length > 0:
            return False
        rates = rows @ (way / length)
        return bool((rates[moving] < -LEAVING).all() and (rates[~moving] <= 8 * (len(way) + 2) * EPSILON).all())

    def _way_out(self, way: np.ndarray, rows: np.ndarray, offsets: np.ndarray, kernel: np.ndarray) -> float:
        """Return how far features can at most be moved along a direction of the range and be those of the region."""
        size = len(self.point)
        values, ends = kernel @ self.point, np.maximum(offsets, rows @ self.point)
        table = np.concatenate(
            [np.pad(rows, ((0, 0), (0, 1))), np.column_stack([kernel, -kernel @ (self.weight @ way)])]
        )
        far = MAX_LENGTH * max(1.0, float(np.abs(np.concatenate([offsets, self.point])).max(initial=0.0)))
        lower, upper = np.append(np.full(size, -far), 0.0), np.full(size + 1, far)
        low, high = np.append(np.full(len(rows), -np.inf), values), np.append(ends, values)
        gain = np.append(np.zeros(size), 1.0)
        program = LinearProgram(size + 1)
        program.set_bounds(size, 0.0, np.inf)
        program.add_rows(table, high, low)
        found = program.maximize(gain)
        if found.status is not ProgramStatus.OPTIMAL:
            return np.inf
        most = upper_bound(gain, table, low, high, lower, upper, found.duals)
        return most if most < far else np.inf

    def _row_space(self) -> np.ndarray:
        """Return orthonormal rows that span those of W."""
        return np.linalg.svd(self.forward, full_matrices=False)[2][: self.rank]

    def _finding(self, lower: float, upper: float, method: str) -> Finding:
        if self.clear < np.inf:  # the region lacks a row; inputs nearest to x are no farther than norm times the change
            lower = min(lower, self.clear / (self.norm * np.sqrt(len(self.point)))) if self.rank else 0.0
        return finding_within(
            lower,
            lower,
            upper,
            rounding=RELATIVE_GAP * lower if np.isfinite(lower) else 0.0,
            scale=float(np.abs(self.features).max()),
            name="least change of features that leaves the region",
            definition="l2, within the range of the region's affine map",
            method=method,
        )


@read_arguments
def local_inverse(
    network: Network,
    x: Points,
    *,
    domain: Domain | None = None,
    gate: str | int | None = None,
    rank_tolerance: NonNegative = 1e-9,
) -> LocalInverse:
    """Return the inverse of a network, or of its part up to a gate, on the linear region of x.

    Parameters
    ----------
    network : Network
    x : one point, ``input_shape`` or (n,); for a slice as domain in slice coordinates
    domain : Domain, optional
        The region is cut to it.
    gate : str or int, optional
        Gate that gives the features; by default the outputs of the network.
    rank_tolerance : float
        Singular values up to this share of the largest count as zero.

    Returns
    -------
    LocalInverse
        With its validity, its condition and the least change of features that leaves the region.

    Raises
    ------
    ShapeError
        If x is not one point.
    DegenerateGeometryError
        If the code of x has no region with an interior.

    Notes
    -----
    Cost: the affine maps of all units at x, and one singular value decomposition.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[2.0, 0.0], [0.0, 1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> inverse = rs.preimages.local_inverse(net, [1.0, 3.0], gate=0)
    >>> inverse([4.0, 3.0]).tolist(), inverse.condition, str(inverse.margin)
    ([2.0, 3.0], 2.0, '2 (EXACT)')
    >>> bool(inverse.validity.contains([4.0, 3.0])), bool(inverse.validity.contains([-1.0, 3.0]))
    (True, False)
    """
    if not 0 <= rank_tolerance < 1:
        raise InputError(f"expected a share from 0 to 1 as rank_tolerance, got {rank_tolerance}")
    features = up_to_gate(network, gate)
    refuse_left_off("local_inverse", features.left_off)
    if isinstance(domain, Slice):
        features, domain = features.restrict(domain), domain.window
    found = region(features, x, domain=domain)
    point = features.points(x).reshape(-1).cpu().numpy().copy()
    weight, bias = (part[0].cpu().numpy() for part in (found.map.weight, found.map.bias))
    left, values, right = np.linalg.svd(weight, full_matrices=False)
    rank = int((values > rank_tolerance * values[0]).sum()) if len(values) and values[0] > 0 else 0
    inverse = right[:rank].T @ (left[:, :rank] / values[:rank]).T
    return LocalInverse(point, weight @ point + bias, inverse, weight, found.polyhedron, values[:rank], found.clear)
