"""The image of a domain under a network: one polytope for each linear region, the hull of its corners' outputs.

On a region the network is an affine map, so the image of the region is the convex hull of the images of its corners. A
map that is not of full rank gives a polytope of lower dimension: a segment, a point. Polytopes of several regions may
overlap, where inputs far from each other have the same outputs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import ArrayLike

from reluscope.analyses.reachability.corner_outputs import outputs_at_corners, thickness
from reluscope.analyses.reachability.stored_sets import IMAGE, described_image, read_image
from reluscope.arguments import NonNegative, read_arguments
from reluscope.budget import Budget, RegionBudget, TimeBudget, why_ended
from reluscope.codes.packed import Codes
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.findings import Claim, Finding
from reluscope.findings.claims import largest_error
from reluscope.findings.derived import Ends
from reluscope.geometry.numbers.rational_equations import reduced
from reluscope.geometry.numbers.resolutions import OUTWARD
from reluscope.geometry.polyhedra.corners import hull_volume
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.geometry.polyhedra.hulls import dimension_of, hull_of
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.unions.union_of_polyhedra import UnionOfPolyhedra, bounded_finding
from reluscope.geometry.unions.union_volume import volume_of_union
from reluscope.interruption import held, step_point
from reluscope.networks.evaluation.choices import read_outputs
from reluscope.networks.fractions.rational import RationalNetwork, multiplications
from reluscope.networks.fractions.rational_maps import rational_maps
from reluscope.networks.graph.left_off import refuse_left_off
from reluscope.networks.network import Network
from reluscope.networks.truncation import up_to_gate
from reluscope.partitions.ask.engine_choice import choose_engine
from reluscope.partitions.ask.region_search import partitioned
from reluscope.partitions.exact.exact_regions import code_tuples
from reluscope.partitions.left_open import left_open
from reluscope.partitions.partition_in_memory import Partition
from reluscope.progress import Progress
from reluscope.stopping import Stop, is_interrupted
from reluscope.time_limits import OutOfTime, driven, is_overdue
from reluscope.tolerance import EPSILON, Tolerance

# Volumes of unions, of the box around all pieces.
HULLS = 1e-12
# Multiplications of fractions for the ranks of maps: about a second.
MOST_MULTIPLICATIONS = 1_000_000
# Of work that was ended, so many regions at least go through the network, and as many as take so many bytes there.
FEWEST, MEMORY = 16, 16 * 2**20


@dataclass(frozen=True, eq=False)
class Image(UnionOfPolyhedra):
    """The outputs of a network on a domain, as polytopes that may overlap; a table with a row per piece.

    Parameters
    ----------
    partition : Partition
        Of the domain; piece i is the image of region i.
    outputs : tuple of int
        The selected outputs; all coordinates refer to them.
    corners : tuple of (_, k) float64
        Outputs at the vertices of each region; the piece is their convex hull.
    dims : (r,) int64
        Dimension of each piece, at most that of the domain.
    errors : (r, k) float64
        Bound on the distance of each output at the vertices of each region from the output at the true vertex: the
        rounding of outputs, and the displacement of the vertex times the steepest slope around it. Where a region may
        be hidden, thinner than the resolution, all that outputs can be around the vertex.

    Notes
    -----
    ``maximum`` is EXACT if the partition leaves nothing open, and errors of vertices and rounding are at most a
    millionth. It is LOWER if the partition leaves something open, because the value is attained at a vertex; otherwise
    an ESTIMATE with an interval. Columns of the table: ``region`` (row of the partition); ``dim`` of the piece;
    ``volume`` in the space of the outputs, 0 for a flat piece; ``num_corners`` of the region; ``input_i``, a point
    inside the region, in coordinates of the domain; ``lower_j`` and ``upper_j``, the ends of output j.
    """

    partition: Partition
    outputs: tuple[int, ...]
    corners: tuple[Float[np.ndarray, "_ k"], ...]
    dims: Int[np.ndarray, " r"]
    errors: Float[np.ndarray, "r k"]

    kind: ClassVar[str] = IMAGE
    coordinates: ClassVar[str] = "outputs"

    def __len__(self) -> int:
        return len(self.corners)

    def __repr__(self) -> str:
        of = self.partition.domain.describe()
        return f"Image({self._number()} in {len(self.outputs)} outputs, {self.claim}, of {of})"

    @property
    def dim(self) -> int:
        """Number of outputs that are looked at."""
        return len(self.outputs)

    @property
    def claim(self) -> Claim:
        """EXACT; LOWER where regions are missing: every point of a piece is an output then.

        ESTIMATE where undecided signs leave the maps of regions open, or where errors of corners and of rounding take
        more than a millionth of the outputs' size.
        """
        return left_open(self.partition).claim if self._is_sharp else Claim.ESTIMATE

    @cached_property
    def pieces(self) -> tuple[Polyhedron, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The pieces as polyhedra, with equations where they are flat; made when first asked for."""
        return tuple(hull_of(corners, self._thin) for corners in self.corners)

    @cached_property
    def ends(self) -> Float[np.ndarray, "2 k"]:
        """The least box around the image, up to rounding: the least and the largest value of each output.

        NaN where there are no pieces.
        """
        if not len(self):
            return np.full((2, len(self.outputs)), np.nan)
        return np.stack([self._points.min(axis=0), self._points.max(axis=0)])

    def hull(self) -> Polyhedron:
        """Return the convex hull of the image, with equations where it is flat.

        Raises
        ------
        InputError
            If there are no pieces, or the hull has more than 9 dimensions.
        """
        self._require_pieces("a hull")
        return hull_of(self._points, self._thin)

    def _maximum(self, weights: Float[np.ndarray, " k"]) -> Finding:
        self._require_pieces("a maximum")
        values = self._points @ weights
        sizes = np.abs(self._points) @ np.abs(weights)
        errors = np.repeat(self.errors @ np.abs(weights), [len(one) for one in self.corners])
        errors = OUTWARD * errors + 4 * len(weights) * EPSILON * sizes
        # Outputs at corners are outputs, whatever the maps of regions are; those beyond may be larger.
        lower, upper = float((values - errors).max()), float((values + errors).max())
        return self._finding(
            float(values.max()),
            (lower, upper if left_open(self.partition).is_nothing else np.inf),
            scale=float(sizes.max()),
            name="maximum of outputs",
            definition="largest value of a linear function of the outputs on the domain",
        )

    @held
    @read_arguments
    def volume(self, *, budget: TimeBudget | None = None) -> Finding:
        """Return the volume of the union of all pieces in the space of the selected outputs.

        Parameters
        ----------
        budget : Budget, optional
            Seconds.

        Returns
        -------
        Finding
            Length, area or volume. EXACT if the partition leaves nothing open and rounding changes little. LOWER, with
            an interval, if regions are missing, the budget ended, or pieces are flat by floating-point arithmetic
            alone. Otherwise an ESTIMATE.

        Notes
        -----
        Two outputs: from all intersections of sides; three: from the facets that no other piece covers. Both take
        seconds for some hundred pieces. More outputs require linear programs: some ten seconds for a hundred pieces.
        """
        solid = np.flatnonzero(self.dims == len(self.outputs))
        bodies = [self.corners[index] for index in solid]
        found = volume_of_union(bodies, self._thin, Budget() if budget is None else budget)
        sides = np.ptp(self._points, axis=0) if len(self) else np.zeros(len(self.outputs))
        error = self._volume_error() + (HULLS * float(sides.prod()) if len(solid) else 0.0)
        lower, upper = left_open(self.partition).ends(max(0.0, found.lower - error), found.upper + error, least=0.0)
        return self._finding(
            found.lower,
            (lower, upper),
            scale=float(sides.prod()),
            name="volume of the image",
            definition="outputs that the network has on the domain, in the space of these outputs",
            stop=found.stop,
        )

    def _volume_error(self) -> float:
        """Return how far the volume of the union may be off: corners that are moved, and pieces that count as flat.

        Pieces whose map has a smaller rank have no volume, whatever is rounded, unless a kink may be hidden there.
        """
        total, ranks = 0.0, _Ranks(self.partition, self.outputs)
        may_hide = np.any(self.errors > thickness(self._points), axis=1)
        # In many dimensions parts of bodies that are thinner are left out, too.
        thin = self._thin if len(self.outputs) > 3 else 0.0
        for index, (corners, moved) in enumerate(zip(self.corners, self.errors, strict=True)):
            if self.dims[index] == len(self.outputs):
                sides = np.ptp(corners, axis=0)
                total += float(np.prod(sides + 2 * (moved + thin)) - np.prod(sides))
            elif may_hide[index] or not ranks.is_flat(index):
                axes = np.linalg.svd(corners - corners.mean(axis=0), full_matrices=True)[2]
                total += float(np.prod(np.ptp(corners @ axes.T, axis=0) + 2 * np.linalg.norm(moved)))
        return total

    @property
    def _resolution(self) -> float:
        return self._thin

    @cached_property
    def _piece_ends(self) -> Float[np.ndarray, "r 2 k"]:
        """The least box around each piece."""
        ends = [np.stack([corners.min(axis=0), corners.max(axis=0)]) for corners in self.corners]
        return np.array(ends).reshape(-1, 2, len(self.outputs))

    def _boxes(self, reach: float) -> Float[np.ndarray, "r 2 k"]:
        margin = 2 * reach + self._thin
        return self._piece_ends + np.array([[-margin], [margin]])

    def _holds(self, index: int, points: Float[np.ndarray, "s k"], reach: float) -> Bool[np.ndarray, " s"]:
        piece = self.pieces[index]  # of rows of length 1
        inside = (points @ piece.A.T <= piece.b + reach).all(axis=1)
        return np.asarray(inside & (np.abs(points @ piece.C.T - piece.d) <= reach).all(axis=1))

    @read_arguments
    def count(self, x: ArrayLike, tolerance: NonNegative | None = None) -> Int[np.ndarray, "..."]:
        """Return in how many pieces outputs (..., k) lie: how many regions reach them; see `contains`."""
        return self._count(x, tolerance)

    def overlaps(self) -> Int[np.ndarray, "p 2"]:
        """Return all pairs of pieces whose interiors meet, the lower one first; flat pieces have none.

        Notes
        -----
        A linear program for each pair whose boxes meet and which no side of either separates.
        """
        solid = np.flatnonzero(self.dims == len(self.outputs))
        low, high = self._piece_ends[solid, 0], self._piece_ends[solid, 1]
        found = []
        for place, one in enumerate(solid):
            apart = np.minimum(high[place], high[place + 1 :]) - np.maximum(low[place], low[place + 1 :]) <= self._thin
            for other in solid[place + 1 :][~apart.any(axis=1)]:
                if self._overlap(int(one), int(other)):
                    found.append((one, other))
        return np.array(found, dtype=np.int64).reshape(-1, 2)

    def _overlap(self, one: int, other: int) -> bool:
        for side, points in ((self.pieces[one], self.corners[other]), (self.pieces[other], self.corners[one])):
            if (points @ side.A.T >= side.b - self._thin).all(axis=0).any():
                return False
        return self.pieces[one].intersect(self.pieces[other]).insphere().radius > self._thin

    def stored_parts(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return what `save` writes, as named arrays and plain types."""
        return described_image(self)

    @classmethod
    def _read(cls, arrays: dict[str, np.ndarray], described: dict[str, Any]) -> Self:
        return cls(**read_image(arrays, described))

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {
            "region": np.arange(len(self)),
            "dim": self.dims,
            "volume": np.array(
                [
                    hull_volume(corners) if dim == len(self.outputs) else 0.0
                    for corners, dim in zip(self.corners, self.dims, strict=True)
                ]
            ),
            "num_corners": np.array([len(corners) for corners in self.corners], dtype=np.int64),
        }
        for axis in range(self.partition.dim):
            columns[f"input_{axis}"] = self.partition.witnesses[:, axis]
        for axis, output in enumerate(self.outputs):
            columns[f"lower_{output}"], columns[f"upper_{output}"] = self._piece_ends[:, :, axis].T
        return columns

    @cached_property
    def _points(self) -> np.ndarray:
        return np.concatenate([np.zeros((0, len(self.outputs))), *self.corners])

    @property
    def _thin(self) -> float:
        return max(thickness(self._points), 2 * float(self.errors.max(initial=0.0)))

    @property
    def _is_sharp(self) -> bool:
        return bool((self.errors <= largest_error(np.abs(self._points).max(initial=0.0))).all())

    def _require_pieces(self, purpose: str) -> None:
        if not len(self):
            raise InputError(f"{purpose} needs a piece, and work stopped before there was one: allow for more")

    def _finding(
        self, value: float, ends: tuple[float, float], *, scale: float, stop: Stop | None = None, **fields: Any
    ) -> Finding:
        part = self.partition
        lower, upper = min(value, ends[0]), max(value, ends[1])
        return bounded_finding(
            Ends(value, lower, upper),
            scale,
            domain=part.domain.describe(),
            method="outputs at the corners of linear regions",
            num_undecided=part.num_undecided,
            work={**part.work, "pieces": len(self)},
            stop=stop or part.stop,
            **fields,
        )


class _Ranks:
    """Decides in fractions whether maps of regions have fewer dimensions than the outputs, while cheap."""

    def __init__(self, part: Partition, outputs: tuple[int, ...]) -> None:
        self._part, self._outputs = part, outputs
        self._left = MOST_MULTIPLICATIONS
        self._exact: RationalNetwork | None = None

    def is_flat(self, row: int) -> bool:
        """Whether the outputs on a region surely lie in a hyperplane."""
        part = self._part
        if part.dim < len(self._outputs):
            return True
        cost = (part.dim + 1) * multiplications(part.network_on_domain) if part.network is not None else np.inf
        if cost > self._left:
            return False
        self._left -= cost
        self._exact = self._exact or RationalNetwork(part.network_on_domain)
        found = rational_maps(self._exact, code_tuples(part.codes[row : row + 1])[0]).outputs
        slopes = [[*found[output][:-1], Fraction(0)] for output in self._outputs]
        return len(reduced(slopes)) < len(self._outputs)


@held
@read_arguments
def image(
    network: Network,
    domain: Domain | Partition,
    *,
    gate: str | int | None = None,
    outputs: Sequence[int] | None = None,
    budget: RegionBudget | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
) -> Image:
    """Return the exact image of a bounded domain under a network, as a union of polytopes.

    Parameters
    ----------
    network : Network
    domain : Domain or Partition
        Bounded, of 1 to about 5 dimensions; or an existing partition by this network up to the gate.
    gate : str or int, optional
        Outputs of this gate instead of the network's outputs.
    outputs : sequence of int, optional
        Outputs onto which the image is projected; by default all.
    budget : Budget, optional
        Regions or seconds after which the partition stops. The image is then LOWER.
    progress : bool or callable
        Show the progress of the partition.
    tolerance : Tolerance, optional
        Of the partition.

    Returns
    -------
    Image
        EXACT, or LOWER if a budget ended. The whole image is an ESTIMATE if signs stayed undecided, or if errors of
        vertices and rounding exceed a millionth of the outputs' size.

    Raises
    ------
    InputError
        If the domain is unbounded or has too many dimensions for the vertices of its regions, or a given partition
        is of another network.

    Notes
    -----
    One partition, and the outputs at its vertices with rounding bounds: three forward passes, and some twenty more
    in arithmetic of a hundred bits where float64 loses too much.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.array([[1.0, 1.0], [1.0, -1.0]]), np.zeros(2))])
    >>> found = rs.image(net, rs.Box(-1, 1, 2))
    >>> found, found.ends.tolist(), sorted(found.dims.tolist())
    (Image(4 pieces in 2 outputs, EXACT, of box [-1, 1]^2), [[0.0, -1.0], [2.0, 1.0]], [0, 1, 1, 2])
    >>> print(found.volume(), found.maximum([1, 2]))
    2 (EXACT) 3 (EXACT)
    """
    features = up_to_gate(network, gate)
    refuse_left_off("an image", features.left_off)
    chosen = read_outputs(outputs, features.num_outputs)
    if not isinstance(domain, Partition):
        check_bounded(domain)
        engine, method = choose_engine(features, domain, "auto", keep="vertices")
        if engine == "tree" and not features.jumps:  # before minutes are spent on regions without corners
            raise _no_corners(method)
    part = partitioned(features, domain, Effort.of(budget, None, progress, tolerance))
    if not isinstance(domain, Partition) and is_interrupted(part.stop):  # nobody is to wait for all images either
        part = _first(part, part.stop)
    return image_of(part, chosen)


def _no_corners(method: str) -> InputError:
    return InputError(
        f"an image needs the corners of regions, and {method} keeps none: give a domain of fewer dimensions, such as a "
        "Plane, and leave method and keep out"
    )


def check_bounded(domain: Domain) -> None:
    """Raise unless a domain is bounded."""
    window = getattr(domain, "window", domain)
    if not window.is_bounded():
        raise InputError(f"an image needs a bounded domain, got {domain.describe()}: give a Box, or cut it by one")


def image_of(part: Partition, outputs: tuple[int, ...]) -> Image:
    """Return the image of a partition that is there already: of its first regions, where there is no time for all."""
    check_bounded(part.domain)
    if not part.has_vertices:
        raise _no_corners(part.method)
    if is_overdue():
        return _of_all(_first(part, part.stop), outputs)
    try:
        with driven():
            return _of_all(part, outputs)
    except (KeyboardInterrupt, OutOfTime) as end:
        return _of_all(_first(part, why_ended(end)), outputs)


def _first(part: Partition, stop: Stop | None) -> Partition:
    """Return the first regions of a partition, as many as pass through the network in a moment."""
    number = max(FEWEST, MEMORY // part.network_on_domain.bytes_per_point)
    if number >= len(part):
        return replace(part, stop=stop)
    kept = part.geometry.take(np.arange(number))
    codes, num_open = Codes(kept.words, part.codes.layout), part.num_open + len(part) - number
    confirmed = None if part.confirmed is None else part.confirmed[:number]
    return replace(part, codes=codes, geometry=kept, num_open=num_open, proof=None, confirmed=confirmed, stop=stop)


def _of_all(part: Partition, outputs: tuple[int, ...]) -> Image:
    """Return the images of all regions that there are."""
    offsets, ids = part.region_vertices
    values, errors = outputs_at_corners(part, outputs)
    corners = tuple(np.split(values[ids], offsets[1:-1])) if len(part) else ()
    of_regions = np.maximum.reduceat(errors[ids], offsets[:-1]) if len(part) else np.zeros((0, len(outputs)))
    thin = max(thickness(values), 2 * float(of_regions.max(initial=0.0)))
    dims = np.zeros(len(corners), dtype=np.int64)
    for row, points in enumerate(corners):
        step_point()
        dims[row] = dimension_of(points, thin)
    return Image(part, outputs, corners, dims, of_regions)
