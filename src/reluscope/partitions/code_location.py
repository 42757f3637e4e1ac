"""Point location by codes: the network itself says in which region a point lies, and where it is on a boundary.

Off all boundaries the code of a point is that of its region. On a boundary the units that are at a breakpoint there are
left open: regions that agree on all others are asked whether the point satisfies their half-spaces.
"""

import numpy as np
from jaxtyping import Float, Int

from reluscope.codes.packed import Codes
from reluscope.networks.graph import Max, Pointwise
from reluscope.networks.network import Network
from reluscope.regions.regions import regions

# A unit this close to a breakpoint, relative to the largest of its gate at the point, is taken to be at it.
NEAR = 1e-9


def locate_by_code(
    points: Float[np.ndarray, "s d"], network: Network, codes: Codes, witnesses: Float[np.ndarray, "r d"]
) -> Int[np.ndarray, " s"]:
    """Return the lowest region whose closure contains each point, -1 if none does.

    Parameters
    ----------
    points : (s, d) float64
        In the domain.
    network : Network
        As a function of the domain's coordinates.
    codes : Codes
        Of the regions, all different.
    witnesses : (r, d) float64
        Their interior points.

    Returns
    -------
    (s,) int64

    Notes
    -----
    One forward pass; for a point on a boundary also the half-spaces of the regions around it, of which there are few.
    """
    found = np.full(len(points), -1, dtype=np.int64)
    if not len(points) or not len(codes):
        return found
    place = {row.tobytes(): index for index, row in enumerate(np.ascontiguousarray(codes.words))}
    seen = network.codes(points)
    words = np.ascontiguousarray(seen.words)
    open_units = _near_breakpoints(network, points)
    on_boundary = open_units.any(axis=1)
    for row in np.flatnonzero(~on_boundary):
        found[row] = place.get(words[row].tobytes(), -1)
    boundary = np.flatnonzero(on_boundary)
    if not len(boundary):
        return found
    pieces, every = seen[boundary].to_array(), codes.to_array()
    for index, row in enumerate(boundary):
        clear = ~open_units[row]
        around = np.flatnonzero((every[:, clear] == pieces[index, clear]).all(axis=1))
        polyhedra = regions(network, witnesses[around]) if len(around) else []
        held = (one for one, region in zip(around, polyhedra, strict=True) if _holds(region, points[row]))
        found[row] = next(held, -1)
    return found


def _holds(region, point: np.ndarray) -> bool:
    rows, offsets = region.polyhedron.A, region.polyhedron.b
    scale = np.abs(rows) @ np.abs(point) + np.abs(offsets)
    return bool((rows @ point - offsets <= NEAR * scale).all())


def _near_breakpoints(network: Network, points: np.ndarray) -> np.ndarray:
    """Return (s, units) whether a unit is at a breakpoint, or ties."""
    columns = []
    for stage, values in zip(network.stages, network.preactivations(points), strict=True):
        pre = values.cpu().numpy()
        finite = np.where(np.isfinite(pre), np.abs(pre), 0.0)
        scale = NEAR * finite.reshape(len(pre), -1).max(axis=1)[:, None]
        if isinstance(stage.gate, Max):
            best = pre.max(axis=2)
            columns.append((best[:, :, None] - pre <= scale[:, :, None]).sum(axis=2) > 1)
        else:
            assert isinstance(stage.gate, Pointwise)
            levels = stage.gate.breakpoints.cpu().numpy()
            columns.append((np.abs(pre[:, None, :] - levels) <= scale[:, None, :]).any(axis=1))
    return np.concatenate(columns, axis=1) if columns else np.zeros((len(points), 0), dtype=bool)
