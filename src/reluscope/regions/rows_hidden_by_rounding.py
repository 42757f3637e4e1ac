"""Rows of a region that rounding hides at its point: found in fractions, and put in their place."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import repeat

import numpy as np
from jaxtyping import Int64

from reluscope.codes.packed import Codes
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.polyhedra.true_rows import Side
from reluscope.geometry.programs.proved_programs import nearest
from reluscope.interruption import step_point
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.networks.evaluation.unit_half_spaces import TOGETHER, Rows, largest_entries
from reluscope.networks.fractions.rational import RationalNetwork, multiplications
from reluscope.networks.fractions.rational_weights import TooManyMultiplicationsError
from reluscope.networks.graph.points import steps
from reluscope.regions.exact_half_spaces import ExactHalfSpaces, pulled_side

# What may be spent on the exact pieces of one point, whatever other points there are: about a second.
MULTIPLICATIONS = 1_000_000


def with_hidden_rows(
    exact: RationalNetwork, code: Codes, tables: list[Rows], point: np.ndarray
) -> tuple[list[Rows], float]:
    """Return the rows of one point with those whose normals are below their rounding made of fractions.

    Steps shorter than the number returned, in l1, cross none of the rows for which fractions would take too long.
    """
    hidden = []
    for rows in tables[:-1]:
        step_point()
        is_below = largest_entries(rows.normals, 1) <= rows.constant_below
        hidden.append(np.flatnonzero(rows.exists & (rows.constant_below > 0) & is_below))
    if not any(map(len, hidden)):
        return tables, np.inf
    sources = np.concatenate([rows.sources[which] for rows, which in zip(tables, hidden, strict=False)])
    sides = _exact_sides(exact, code, sources.astype(np.int64))
    place = [Fraction(entry) for entry in point.tolist()]
    made, clear = [], np.inf
    for rows, which in zip(tables, hidden, strict=False):
        rows = (
            rows._replace(
                **{
                    name: getattr(rows, name).copy()
                    for name in ("normals", "offsets", "slack", "noise", "constant_below")
                }
            )
            if len(which)
            else rows
        )
        for row, side in zip(which.tolist(), sides, strict=False):
            if side is None:
                room = max(0.0, float(rows.slack[row] - rows.noise[row]))
                clear = min(clear, room / (2 * float(rows.constant_below[row])))
                continue
            *slopes, constant = side
            scale = max(map(abs, slopes))
            if not scale:
                continue
            rows.normals[row] = [-nearest(slope / scale) for slope in slopes]
            rows.offsets[row] = nearest(constant / scale)
            slack = constant + sum(slope * x for slope, x in zip(slopes, place, strict=True))
            rows.slack[row], rows.noise[row] = nearest(slack / scale), 0.0
            rows.constant_below[row] = np.finfo(float).eps
        made.append(rows)
    return [*made, tables[-1]], clear


def _exact_sides(exact: RationalNetwork, code: Codes, sources: Int64[np.ndarray, "h 3"]) -> Iterator[Side | None]:
    """Yield rows of a region in fractions, None where they would take too long: from its map, or one by one."""
    dim, cost, left = exact.network.num_inputs, multiplications(exact.network), MULTIPLICATIONS
    if (dim + 1) * cost <= MULTIPLICATIONS:
        none = np.zeros((0, dim)), np.zeros(0)
        found = ExactHalfSpaces(exact.network, code, sources, *none).sides()
        if found is not None:
            yield from found
            return
    pieces = [table[0].tolist() for table in pieces_of(code)]
    for source in sources.tolist() if cost <= MULTIPLICATIONS else ():
        try:
            slopes, constant, used = pulled_side(exact, pieces, source, most=left)
        except TooManyMultiplicationsError:
            break
        left -= used
        yield (*(slopes.get(axis, Fraction(0)) for axis in range(dim)), constant)
    yield from repeat(None)


def errors_at(polyhedron: Polyhedron, point: np.ndarray, slack: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return bounds on the errors of the slack of rows at a point where it is known up to some noise."""
    terms = np.abs(polyhedron.b)
    with np.errstate(over="ignore", invalid="ignore"):  # sums beyond the largest float64 are bounded by infinity
        for rows in steps(len(terms), 8 * polyhedron.dim, TOGETHER):
            terms[rows] += np.abs(polyhedron.A[rows]) @ np.abs(point)
        own = polyhedron.b - polyhedron.A @ point
        errors = np.abs(own - slack) + noise + (polyhedron.dim + 4) * np.finfo(float).eps * terms
    return np.nan_to_num(errors, nan=np.inf, posinf=np.inf)
