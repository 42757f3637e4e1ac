"""The regions on the other sides of a region's facets: their codes, and points in the facet and beyond it.

Across a facet all units flip that sit on a breakpoint on the whole of it, and no other: a pre-activation that is zero
at an inner point of a facet of its own region is zero all over it. So there is one region beyond each facet, and its
code follows from the derivatives along the outward normal (`pieces_across`); how far it reaches along the normal, from
one evaluation with the units held to that code.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int

from reluscope.arguments import read_arguments
from reluscope.budget import TimeBudget
from reluscope.codes.packed import Codes
from reluscope.errors import InputError
from reluscope.geometry.polyhedra.domains import Domain, Slice
from reluscope.networks.evaluation.choices import coordinates_on
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.networks.evaluation.pieces_across import pieces_across
from reluscope.networks.evaluation.unit_half_spaces import gate_rows
from reluscope.networks.graph.points import Points, chunks
from reluscope.networks.network import Network
from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.maps import RoundedMaps, along_directions, slopes_of_units
from reluscope.networks.passes.rounded import HeldRoundedNumbers, Rounded
from reluscope.regions.region import Region
from reluscope.regions.region_of_code import region_of_code
from reluscope.regions.regions import region
from reluscope.shown import Shown
from reluscope.tolerance import Tolerance

BUDGET = 128 * 2**20


@dataclass(frozen=True, eq=False, repr=False)
class Neighbors(Shown):
    """The regions that share a facet with a region.

    Parameters
    ----------
    region : Region
        The central region.
    rows : tuple of (c,) int64 arrays
        For each facet, the rows of the region's polyhedron on its hyperplane.
    flips : tuple of (c, 2) int64 arrays
        For each facet, gate and unit of all units that have another piece beyond it.
    codes : Codes
        The codes beyond the facets.
    on_facets : (f, n) float64
        A point inside each facet.
    points : (f, n) float64
        A point inside each neighbour, along the facet's normal from ``on_facets``.
    ends : tuple of (c,) int64 arrays
        Rows of the polyhedron, facet by facet, where the domain ends: they have no neighbour.
    """

    region: Region
    rows: tuple[np.ndarray, ...]
    flips: tuple[np.ndarray, ...]
    codes: Codes
    on_facets: Float[np.ndarray, "f n"]
    points: Float[np.ndarray, "f n"]
    ends: tuple[np.ndarray, ...]

    def __len__(self) -> int:
        return len(self.rows)


@read_arguments
def neighbors(
    network: Network,
    x: Points,
    *,
    domain: Domain | None = None,
    budget: TimeBudget | None = None,
    tolerance: Tolerance | None = None,
) -> Neighbors:
    """Return the regions on the other sides of the facets of the region at a point.

    Parameters
    ----------
    network : Network
    x : (*input_shape) or (n,)
        One point; if the domain is a slice, on it, or in its coordinates.
    domain : Box, Polyhedron, Slice or Space, optional
        Restricts the region; there are no neighbours beyond its boundary.
    budget : Budget, optional
        Seconds; BudgetExceededError after them, since facets are known together.
    tolerance : Tolerance, optional
        Its ``rounding`` determines which pre-activations and derivatives count as zero.

    Returns
    -------
    Neighbors
        All neighbours at the resolution of `Polyhedron.facets`, in order of the facets' first rows. A region with a
        finite `Region.clear` lacks facets.

    Raises
    ------
    DegenerateGeometryError
        If the code of the point has no region with an interior.
    InputError
        If the point lies outside the domain.

    Notes
    -----
    The facets dominate the cost (see `Polyhedron.facets`). Codes and points take three forward passes with one
    point per facet.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]]), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
    >>> around = rs.neighbors(net, [3.0, 1.0])  # two units flip together where the first input is 0
    >>> [flips.tolist() for flips in around.flips]
    [[[0, 0], [0, 1]], [[0, 2]]]
    >>> around.codes.to_array()
    array([[0, 0, 1],
           [1, 1, 0]], dtype=uint8)
    """
    del budget  # its seconds are kept by the reader of arguments
    tolerance = tolerance or Tolerance()
    if isinstance(domain, Slice):
        network, domain, x = network.restrict(domain), domain.window, coordinates_on(domain, x)
    here = region(network, x, domain=domain, tolerance=tolerance)
    if len(here.polyhedron.C):
        raise InputError("neighbours need a domain without equations: give its solutions as a Slice")
    groups, points = here.polyhedron.facets(), here.polyhedron.facet_points()
    is_end = np.array([bool((here.sources[rows, 0] < 0).any()) for rows in groups], dtype=bool)
    crossed = [rows for rows, outside in zip(groups, is_end, strict=True) if not outside]
    on_facets = points[~is_end]
    first = np.array([rows[0] for rows in crossed], dtype=np.int64)
    normals = here.polyhedron.A[first]
    normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    pieces = tuple(piece[0] for piece in pieces_of(here.code))
    still = region_of_code(network, here.witness, pieces, tolerance=tolerance).still
    ends = tuple(rows for rows, outside in zip(groups, is_end, strict=True) if outside)
    if not crossed:
        return Neighbors(here, (), (), here.code[:0], on_facets, on_facets, ends)
    loose = [np.concatenate([here.sources[rows], still]) for rows in crossed]
    rounding = tolerance.rounding * np.finfo(float).eps
    beyond = pieces_across(network, pieces, loose, normals, rounding=rounding)
    reach = _reach(network, beyond, on_facets, normals, rounding)
    of_domain = here.sources[:, 0] < 0
    A, b = here.polyhedron.A[of_domain], here.polyhedron.b[of_domain]
    closing = normals @ A.T
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(closing > 0, (b - on_facets @ A.T) / closing, np.inf).min(axis=1, initial=np.inf)
    reach = np.minimum(reach, room)
    steps = np.where(np.isfinite(reach), reach / 2, 1.0)
    return Neighbors(
        here,
        tuple(crossed),
        tuple(_flips(pieces, [table[facet] for table in beyond]) for facet in range(len(crossed))),
        Codes.from_pieces(beyond, network.layout),
        on_facets,
        on_facets + steps[:, None] * normals,
        ends,
    )


def _flips(pieces: tuple[np.ndarray, ...], beyond: list[np.ndarray]) -> Int[np.ndarray, "c 2"]:
    """Return gate and unit wherever two codes differ."""
    found = [np.zeros((0, 2), dtype=np.int64)]
    for gate, (own, other) in enumerate(zip(pieces, beyond, strict=True)):
        units = np.flatnonzero(own != other)
        found.append(np.column_stack([np.full(len(units), gate), units]))
    return np.concatenate(found)


@torch.no_grad()
def _reach(
    network: Network, pieces: list[np.ndarray], points: np.ndarray, directions: np.ndarray, rounding: float
) -> Float[np.ndarray, " f"]:
    """Return how far the regions of some codes reach from points on their boundary along directions."""
    reach = np.full(len(points), np.inf)
    if not len(points):
        return reach
    for part in chunks(len(points), 4 * network.bytes_per_point, BUDGET):
        held = [torch.as_tensor(table[part].astype(np.int64), device=network.device) for table in pieces]
        start = Rounded.exactly(network.points(points[part]))
        values, maps = HeldRoundedNumbers(rounding, held), RoundedMaps(rounding, has_constant=False)
        both = zip(
            carry(network, values, start),
            carry(network, maps, along_directions(network, directions[part])),
            strict=True,
        )
        number = part.stop - part.start
        for stage, piece, (seen, along) in zip(network.stages, held, both, strict=False):
            pre, noise = (table.cpu().numpy() for table in seen)
            slopes, noise_of_slopes = slopes_of_units(stage.gate, along)
            maps.hold(piece)
            rows = gate_rows(
                stage.gate,
                stage.index,
                pieces=piece.cpu().numpy(),
                pre=pre,
                maps=(slopes[..., None], np.zeros(pre.shape)),  # where rows are is not asked
                noise=noise,
                map_noise=noise_of_slopes,
            )
            leaving = rows.exists.astype(bool) & (rows.normals[..., 0] > rows.constant_below)
            # Units on a breakpoint here move away from it, or rounding says they do not move.
            leaving &= rows.slack > rows.noise
            with np.errstate(divide="ignore", invalid="ignore"):
                times = np.where(leaving, rows.slack / rows.normals[..., 0], np.inf)
            reach[part] = np.minimum(reach[part], times.reshape(number, -1).min(axis=1, initial=np.inf))
    return reach
