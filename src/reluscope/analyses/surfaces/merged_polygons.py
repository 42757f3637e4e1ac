"""`merge_coplanar`: neighbouring polygons of one plane as one larger polygon.

Two polygons lie in one plane if f has the same affine map beside both but for a positive factor; whether it has is
decided in fractions, for neighbours whose normals agree in floats.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from jaxtyping import Int
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from reluscope.analyses.surfaces.edges import SurfaceEdges
from reluscope.analyses.surfaces.read_surfaces import read_in_space
from reluscope.arguments import read_arguments
from reluscope.errors import InputError
from reluscope.geometry.polyhedra.domains import Slice
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.networks.fractions.rational_maps import rational_maps, slice_frame
from reluscope.networks.network import Network
from reluscope.partitions.levels.level_polygons import following
from reluscope.partitions.levels.level_sets import LevelSet

# Normals that differ by more are different.
ALIKE = 1e-6


@dataclass(frozen=True, eq=False)
class MergedPolygons:
    """Larger polygons, each in one plane; they may be nonconvex and have holes.

    Parameters
    ----------
    labels : (p,) int64
        The larger polygon that contains each polygon of the level set, from 0.
    offsets : (l + 1,) int64; ids : (offsets[-1],) int64
        Loop i has the vertices ``ids[offsets[i] : offsets[i + 1]]`` of the level set. Outer loops run
        counter-clockwise seen from where f is larger, loops of holes clockwise.
    owners : (l,) int64
        The larger polygon of each boundary loop.
    """

    labels: Int[np.ndarray, " p"]
    offsets: Int[np.ndarray, " _"]
    ids: Int[np.ndarray, " _"]
    owners: Int[np.ndarray, " l"]

    def __len__(self) -> int:
        return int(self.labels.max(initial=-1)) + 1

    def __repr__(self) -> str:
        return f"MergedPolygons({len(self):,} of {len(self.labels):,} polygons, {len(self.owners):,} loops)"


@read_arguments
def merge_coplanar(surface: LevelSet, network: Network) -> MergedPolygons:
    """Merge neighbouring polygons of a level set that lie in one plane.

    Parameters
    ----------
    surface : LevelSet
        In space.
    network : Network
        The network of the level set.

    Returns
    -------
    MergedPolygons
        Loops over the same vertices, with the area and volume of the level set.

    Raises
    ------
    InputError
        If the level set lies in the plane, or the network is another.

    Notes
    -----
    Polygons stay separate where f is constant beside them on the side of their codes, and across edges of more than
    two polygons. All vertices remain, also those inside a straight side, so that neighbours still fit together.
    Costs d + 1 rational evaluations for each region beside which normals agree.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> kinked = rs.load([(np.array([[1.0, 0, 0], [0, 0, 1], [0, 0, -1]]), np.zeros(3)), ([[0, 1, -1]], [0])])  # z
    >>> surface = rs.level_set(kinked, rs.Box(-1, 1, 3))
    >>> len(surface), rs.surfaces.merge_coplanar(surface, kinked)
    (2, MergedPolygons(1 of 2 polygons, 1 loops))
    """
    read_in_space(surface)
    if network.fingerprint != surface.fingerprint:
        raise InputError("network must be the one the level set was made with, got another: give that one")
    edges, number = SurfaceEdges.of(surface), len(surface)
    pairs = edges.polygons[edges.counts == 2]
    pairs = pairs[np.linalg.norm(np.diff(surface.normals[pairs], axis=1)[:, 0], axis=1) <= ALIKE]
    planes = _planes(surface, network, np.unique(pairs))
    is_same = np.array([planes[one] is not None and planes[one] == planes[two] for one, two in pairs], dtype=bool)
    links = coo_array((np.ones(int(is_same.sum())), pairs[is_same].T.reshape(2, -1)), shape=(number, number))
    labels = connected_components(links, directed=False)[1].astype(np.int64) if number else np.zeros(0, dtype=np.int64)
    loops, owners = _loops(surface, labels)
    return MergedPolygons(
        labels,
        np.concatenate([[0], np.cumsum([len(loop) for loop in loops])]).astype(np.int64),
        np.array([vertex for loop in loops for vertex in loop], dtype=np.int64),
        np.array(owners, dtype=np.int64),
    )


def _planes(surface: LevelSet, network: Network, rows: Int[np.ndarray, " k"]) -> dict[int, tuple[Fraction, ...] | None]:
    """Return the planes of some polygons, as coefficients of which the first is 1 or -1; None if f is constant."""
    if not len(rows):
        return {}
    exact = RationalNetwork(network)
    frame = slice_frame(surface.domain) if isinstance(surface.domain, Slice) else None
    codes = surface.codes[rows]
    _, first, kind = np.unique(codes.words, axis=0, return_index=True, return_inverse=True)
    tables = pieces_of(codes[first])
    found = []
    for row in range(len(first)):
        outputs = rational_maps(exact, [table[row].tolist() for table in tables], frame).outputs
        output, *others = surface.outputs
        height = list(outputs[output])
        for other in others:
            height = [one - two for one, two in zip(height, outputs[other], strict=True)]
        height[-1] -= Fraction(surface.level)
        size = next((abs(entry) for entry in height[:-1] if entry), None)
        found.append(None if size is None else tuple(entry / size for entry in height))
    return {int(row): found[which] for row, which in zip(rows, kind.reshape(-1), strict=True)}


def _loops(surface: LevelSet, labels: np.ndarray) -> tuple[list[list[int]], list[int]]:
    """Return the boundaries of groups of polygons as cyclic lists of vertices, and whose each is."""
    owner = np.repeat(labels, np.diff(surface.offsets)).tolist()
    sides = list(zip(owner, surface.ids.tolist(), following(surface.offsets, surface.ids).tolist(), strict=True))
    there = set(sides)
    after: dict[tuple[int, int], list[int]] = {}
    for group, tail, head in sides:
        if (group, head, tail) not in there:
            after.setdefault((group, tail), []).append(head)
    loops, owners = [], []
    for group, start in list(after):
        while after[group, start]:
            loop, here = [start], after[group, start].pop()
            while here != start:
                loop.append(here)
                here = after[group, here].pop()
            loops.append(loop)
            owners.append(group)
    return loops, owners
