"""The decision region {f <= 0} of a network of one hidden layer, by the vertices and facets of its boundary.

Between the hyperplanes of the units f is affine. A vertex of {f = 0} lies on n - 1 independent ones, so on a line on
which f is a function of one variable that bends where the other hyperplanes cross: all vertices are zeros of f on these
lines. A facet is what the vertices in one cell span. The region is bounded if f grows along every end of every line, as
each cell is spanned by corners and by such ends; a bounded one is convex if no vertex lies beyond a facet.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse.csgraph import connected_components

from reluscope import Claim, Polyhedron
from reluscope.arguments import read_arguments
from reluscope.errors import InputError
from reluscope.extending.analyses import Shown
from reluscope_studies.annulus.arrangement import RESOLUTION, BoundaryPiece, UnitLines, rank_of
from reluscope_studies.annulus.rational_lines import RationalLines, pivot_axes, rational_rank
from reluscope_studies.annulus.shallow import ShallowLike, ShallowNetwork, read_shallow


@dataclass(frozen=True, eq=False, repr=False)
class DecisionRegion(Shown):
    """The decision region {f <= 0} of a network of one hidden layer.

    Parameters
    ----------
    network : ShallowNetwork
    vertices : (v, n) float64
        Vertices of the boundary. A convex region has each of its vertices once, and no others.
    normals : (f, n) float64; offsets : (f,) float64
        The facets' half-spaces ``normal x <= offset``, unit normals pointing out. None of an unbounded region.
    incidence : (f, v) bool
        Which vertices lie on which facet.
    signs : (f, u) int8
        On which side of each unit a facet lies; 0 where it lies on the unit's hyperplane. Of facets in several cells,
        those of one cell.
    is_bounded, is_convex : bool
        An unbounded region is never called convex.
    num_undecided : int
        Signs that are not known: float64 did not settle them, and what the region was built on is not what fractions
        found, or there were too many to ask. If there are any, numbers of vertices and facets are estimates.
    error : float
        Bound, to first order, on the rounding of vertices.

    Examples
    --------
    >>> from reluscope_studies import annulus
    >>> region = annulus.decision_region(annulus.cross_polytope_layers(3))
    >>> len(region.vertices), region.num_facets, region.is_convex, region.claim
    (6, 8, True, <Claim.EXACT: 'EXACT'>)
    """

    network: ShallowNetwork
    vertices: Float[np.ndarray, "v n"]
    normals: Float[np.ndarray, "f n"]
    offsets: Float[np.ndarray, " f"]
    incidence: Bool[np.ndarray, "f v"]
    signs: Int[np.ndarray, "f u"]
    is_bounded: bool
    is_convex: bool
    num_undecided: int
    error: float

    @property
    def dim(self) -> int:
        """Number of inputs n."""
        return self.vertices.shape[1]

    @property
    def num_facets(self) -> int:
        """Number of facets; if the region is not convex, of pieces of its boundary."""
        return len(self.offsets)

    @property
    def is_empty(self) -> bool:
        """Whether f is positive everywhere."""
        return self.is_bounded and not len(self.vertices)

    @property
    def has_origin(self) -> bool:
        """Whether the origin is inside, not on the boundary."""
        return bool(self.network(np.zeros((1, self.dim)))[0] < 0)

    @property
    def claim(self) -> Claim:
        """Claim of the numbers of vertices and facets."""
        contradicts = self.is_empty and self.has_origin
        return Claim.ESTIMATE if self.num_undecided or contradicts else Claim.EXACT

    @property
    def polyhedron(self) -> Polyhedron:
        """The region as a polyhedron.

        Raises
        ------
        InputError
            If it is not bounded and convex.
        """
        if not self.is_convex:
            raise InputError(
                "expected a bounded convex decision region, got another: take its pieces "
                "(reluscope.annulus.decision_pieces)"
            )
        return Polyhedron(self.normals, self.offsets)


@read_arguments
def decision_region(source: ShallowLike, *, leak: float = 0.0) -> DecisionRegion:
    """Return the decision region {f <= 0} of a network of one hidden layer.

    Parameters
    ----------
    source : Network, or [(W, b), (a, c)]
        One hidden layer of units with two pieces, one output f.
    leak : float
        Of layers given as arrays.

    Returns
    -------
    DecisionRegion
        Numbers of vertices and facets are EXACT unless signs were undecided.

    Raises
    ------
    InputError
        If the network has another form or fewer than 2 inputs, or there are too many lines, or units on them, to look
        at.

    Notes
    -----
    Looks at all ``C(u, n - 1)`` lines, and on each at u units in u places; with n + 1 units these are ``n (n + 1) / 2``
    lines, and the facets at most ``2^(n + 1) - 2``. A network of 9 units and 8 inputs takes about 0.1 s. Signs within
    rounding, of weights as they are in float64, are decided in fractions.

    Examples
    --------
    >>> import reluscope as rs
    >>> from reluscope_studies import annulus
    >>> net = rs.load(annulus.expanded_simplex_layers(2))
    >>> region = decision_region(net)
    >>> region.num_facets, np.linalg.norm(region.vertices, axis=1).round(12).tolist()
    (6, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    """
    network = read_shallow(source, leak=leak)
    if network.num_inputs < 2:
        raise InputError(
            f"expected a network of at least 2 inputs, got {network.num_inputs}: on a line, reluscope.partition "
            "has the intervals"
        )
    bends = (network.low != network.high) & network.weight.any(axis=1)
    if rank_of(network.weight[bends]) < network.num_inputs:
        return _endless(network, bends)
    arrangement = UnitLines(network, bends)
    signs, points, error = arrangement.vertices()
    if not arrangement.is_region_bounded():
        return _region(arrangement, points, [], False, False, error)
    facets = arrangement.facets(signs, points)
    return _convex_or_not(arrangement, points, facets, error)


@read_arguments
def part_around_origin(region: DecisionRegion) -> DecisionRegion | None:
    """Return the connected part of a decision region that holds the origin, if it is a polytope.

    A leaky unit with a negative output weight tilts f where it is inactive, and makes it fall again where it is active:
    an unbounded region then has a part of its own around the data.

    Parameters
    ----------
    region : DecisionRegion
        Unbounded, or not convex.

    Returns
    -------
    DecisionRegion or None
        The part, bounded and convex; None if the origin is not inside, or the part around it is unbounded, not convex,
        or has a facet in several cells.

    Notes
    -----
    Its facets are convex hulls of zeros of f and close up to a polytope, f grows outwards through each, is negative at
    the origin, and has no zero between.

    Examples
    --------
    >>> import reluscope as rs
    >>> layers = [([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.0, 0.0, -3.0]), ([[2.0, 2.0, -10.0]], [-4.0])]
    >>> region = decision_region(layers, leak=0.1)
    >>> region.is_bounded, part_around_origin(region).num_facets
    (False, 4)
    """
    network = region.network
    bends = (network.low != network.high) & network.weight.any(axis=1)
    if not region.has_origin or rank_of(network.weight[bends]) < region.dim:
        return None
    arrangement = UnitLines(network, bends)
    signs, points, error = arrangement.vertices()
    facets = arrangement.facets(signs, points)
    incidence = np.zeros((len(facets), len(points)), dtype=bool)
    for row, facet in zip(incidence, facets, strict=True):
        row[facet.vertices] = True
    _, groups = connected_components(incidence.astype(int) @ incidence.T.astype(int), directed=False)
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        normals, offsets = (
            np.stack([facets[row].normal for row in rows]),
            np.array([facets[row].offset for row in rows]),
        )
        touched = incidence[rows].any(axis=0)
        slack = RESOLUTION * (np.abs(points).max() + np.abs(offsets).max())
        beyond = points @ normals.T - offsets
        if not (offsets > slack).all() or (beyond[touched] > slack).any() or (beyond < -slack).all(axis=1).any():
            continue
        polyhedron = Polyhedron(normals, offsets)
        touching = np.abs(beyond[touched].T) <= slack
        if not np.array_equal(touching, incidence[rows][:, touched]) or not polyhedron.is_bounded():
            continue
        if len(polyhedron.vertices()) == touched.sum():
            kept = [replace(facets[row], vertices=np.flatnonzero(incidence[row, touched])) for row in rows]
            return _region(arrangement, points[touched], kept, True, True, error)
    return None


def _endless(network: ShallowNetwork, bends: np.ndarray) -> DecisionRegion:
    """Return the region of a network that is affine along a line: unbounded, or empty."""
    size, rational = network.num_inputs, RationalLines(network)
    # Where the units that bend are not active, or act as where they are not.
    slope = rational.affine(np.where(bends, 0.0, network.low))[:-1]
    rows = network.weight[bends].tolist()
    is_empty, num_undecided = False, 0
    axes = pivot_axes(rows)
    if rational_rank([*rows, slope]) == len(axes):
        # Constant along the other directions: a section has all values, where inputs other than the pivots are zero.
        if not axes:
            is_empty = rational.value([Fraction(0)] * size) > 0
        else:
            section = replace(network, weight=network.weight[:, axes])
            arrangement = UnitLines(section, bends)
            is_empty = not len(arrangement.zeros()[0]) and arrangement.is_region_bounded()
            num_undecided = arrangement.num_undecided
    none = np.zeros((0, size))
    return DecisionRegion(
        network, none, none, np.zeros(0), np.zeros((0, 0), bool), np.zeros((0, network.num_units), np.int8), is_empty,
        False, num_undecided, 0.0,
    )  # fmt: skip


def _convex_or_not(
    arrangement: UnitLines, points: np.ndarray, facets: list[BoundaryPiece], error: float
) -> DecisionRegion:
    if not facets:
        return _region(arrangement, points, facets, True, False, error)
    normals, offsets = np.stack([one.normal for one in facets]), np.array([one.offset for one in facets])
    beyond = points @ normals.T - offsets
    slack = RESOLUTION * (np.abs(points).max() + np.abs(offsets).max())
    if (beyond > slack).any():
        return _region(arrangement, points, facets, True, False, error)
    # Pieces of one facet in several cells touch the same vertices.
    touches = np.abs(beyond.T) <= slack
    _, first, labels = np.unique(touches, axis=0, return_index=True, return_inverse=True)
    for label, index in enumerate(first):
        pieces = [facets[row] for row in np.flatnonzero(labels.reshape(-1) == label)]
        known = {vertex for one in pieces for vertex in one.vertices.tolist()}
        same = all(arrangement.is_same_hyperplane(pieces[0], one) for one in pieces[1:])
        arrangement.num_undecided += int(not same or len(known) < touches[index].sum())
    facets = [facets[index] for index in np.sort(first)]
    normals, touches = normals[np.sort(first)], touches[np.sort(first)]
    corners = np.array([np.linalg.matrix_rank(normals[column], tol=1e-7) == points.shape[1] for column in touches.T])
    for column in touches.T[~corners]:
        around = [facets[row] for row in np.flatnonzero(column)]
        arrangement.num_undecided += not arrangement.is_deficient(around)
    touches, points = touches[:, corners], points[corners]
    merged = [replace(one, vertices=np.flatnonzero(row)) for row, one in zip(touches, facets, strict=True)]
    return _region(arrangement, points, merged, True, True, error)


def _region(
    arrangement: UnitLines,
    points: np.ndarray,
    facets: list[BoundaryPiece],
    is_bounded: bool,
    is_convex: bool,
    error: float,
) -> DecisionRegion:
    network = arrangement.network
    incidence = np.zeros((len(facets), len(points)), dtype=bool)
    for row, facet in zip(incidence, facets, strict=True):
        row[facet.vertices] = True
    return DecisionRegion(
        network,
        points,
        np.array([one.normal for one in facets]).reshape(-1, network.num_inputs),
        np.array([one.offset for one in facets]),
        incidence,
        np.array([one.signs for one in facets], dtype=np.int8).reshape(-1, network.num_units),
        is_bounded,
        is_convex,
        arrangement.num_undecided,
        error,
    )
