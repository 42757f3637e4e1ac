"""The linear regions at given points, batched: half-spaces, affine map, interior point.

A point strictly inside its region is its own witness. A point on a kink belongs to the region of its code by the tie
rule; the witness is then the centre of a largest ball inside, and if there is none the code has no region to speak of.
"""

from fractions import Fraction
from typing import Literal, overload

import numpy as np
import torch

from reluscope.arguments import holds_across_jumps, read_arguments
from reluscope.budget import BlockBudget, Budget, TimeBudget
from reluscope.codes.packed import Codes
from reluscope.errors import DegenerateGeometryError, InputError, ShapeError
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.interruption import step_point
from reluscope.networks.evaluation.choices import coordinates_on
from reluscope.networks.evaluation.unit_half_spaces import Rows, largest_entries
from reluscope.networks.fractions.rational import RationalNetwork, multiplications
from reluscope.networks.graph.choosing_gates import TopK
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.networks.number_range import too_large
from reluscope.networks.point_evaluation import Evaluation, held_to
from reluscope.regions.exact_half_spaces import ExactHalfSpaces
from reluscope.regions.region import Region
from reluscope.regions.row_tables import put_together
from reluscope.regions.rows_hidden_by_rounding import MULTIPLICATIONS, errors_at, with_hidden_rows
from reluscope.tolerance import Tolerance

BUDGET = 256 * 2**20


@read_arguments
@holds_across_jumps
def region(
    network: Network,
    x: Points,
    *,
    domain: Domain | None = None,
    budget: TimeBudget | None = None,
    tolerance: Tolerance | None = None,
) -> Region:
    """Return the linear region at one point; see `regions`.

    BudgetExceededError after the budget's seconds.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> quadrant = rs.region(net, [2.0, -1.0])
    >>> quadrant.polyhedron.A
    array([[-1., -0.],
           [ 0.,  1.]])
    >>> quadrant.sources
    array([[0, 0, 0],
           [0, 1, 1]])
    """
    del budget  # its seconds are kept by the reader of arguments
    found = regions(network, x, domain=domain, tolerance=tolerance)
    if len(found) != 1:
        raise ShapeError(f"region takes one point, got {len(found)}: use regions for a batch")
    return found[0]


@overload
def regions(
    network: Network,
    x: Points,
    *,
    domain: Domain | None = ...,
    missing: Literal["raise"] = ...,
    budget: BlockBudget | None = ...,
    tolerance: Tolerance | None = ...,
) -> tuple[Region, ...]: ...


@overload
def regions(
    network: Network,
    x: Points,
    *,
    domain: Domain | None = ...,
    missing: Literal["return"],
    budget: BlockBudget | None = ...,
    tolerance: Tolerance | None = ...,
) -> tuple[Region | DegenerateGeometryError, ...]: ...


@read_arguments
@holds_across_jumps
def regions(
    network: Network,
    x: Points,
    *,
    domain: Domain | None = None,
    missing: Literal["raise", "return"] = "raise",
    budget: BlockBudget | None = None,
    tolerance: Tolerance | None = None,
) -> tuple[Region | DegenerateGeometryError, ...]:
    """Return the linear region at every point.

    Parameters
    ----------
    network : Network
        The network.
    x : (s, *input_shape) or (s, n)
        Points; if the domain is a slice, points of the input space on it, or ``(s, d)`` in its coordinates.
    domain : Box, Polyhedron, Slice or Space, optional
        Restricts the regions; by default all of input space. On a slice all results are in slice coordinates.
    missing : {"raise", "return"}
        What is done with the error at a point whose code has no region with an interior: raise the first, or return
        each in the place of the region.
    budget : Budget, optional
        Memory for the half-spaces of one chunk of points; the result holds those of all points. BudgetExceededError
        after its seconds.
    tolerance : Tolerance, optional
        Its ``rounding`` determines which pre-activations count as zero.

    Returns
    -------
    tuple of Region
        One per point, in order; points in one region give equal regions. With ``missing="return"`` a
        `DegenerateGeometryError` where there is no region.

    Raises
    ------
    DegenerateGeometryError
        If a point lies on a kink and the region of its code has no interior; names the units. Not raised with
        ``missing="return"``.
    InputError
        If a point lies outside the domain.

    Notes
    -----
    One forward pass and the affine maps of all units: memory is ``s * units * n`` numbers. Points on kinks, or on
    the boundary of the domain, cost one linear program each. Rows that are constant over the region (units whose
    inputs are all dead, candidates of a max gate that are the same affine function there) are checked and omitted.
    If rounding hides their sign, the point's code is computed in rational arithmetic, unless the network is too
    large.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> inside, on_a_kink = rs.regions(net, [[1.0], [0.0]], missing="return")
    >>> inside.map.weight.item(), str(on_a_kink)[:25]
    (1.0, 'point 1 lies on a kink of')
    """
    if isinstance(domain, Slice):
        network, domain, x = network.restrict(domain), domain.window, coordinates_on(domain, x)
    found = find_regions(network.at(x, tolerance=tolerance), domain=domain, budget=budget)
    if missing == "raise" and (error := next((one for one in found if not isinstance(one, Region)), None)):
        raise error
    return tuple(found)


def find_regions(
    at: Evaluation, *, domain: Box | Polyhedron | Space | None = None, budget: Budget | None = None
) -> list[Region | DegenerateGeometryError]:
    """Return the linear regions at evaluated points; where there is none, the error that says why."""
    network = at.network
    window, exact = _window(domain, network.num_inputs), RationalNetwork(network)
    unit, memory = at.tolerance.unit, (budget or Budget()).memory_or(BUDGET)
    gates = [stage.gate for stage in network.stages]
    units = sum(g.num_rows if isinstance(g, TopK) else g.num_units * max(1, g.num_pieces - 1) for g in gates)
    rows_per_point = units + len(window.b)
    found = list[Region | DegenerateGeometryError]()
    for block, part in at.blocks(4 * 8 * max(1, rows_per_point) * network.num_inputs, memory):
        flat = part.points.reshape(len(part), -1).cpu().numpy()
        part = _with_exact_pieces(part)
        tables = [*part.half_spaces, _domain_rows(window, flat, unit)]
        bounds = (bound[rows.exists] for rows in tables for bound in (rows.noise, rows.constant_below))
        if not all(np.isfinite(bound).all() for bound in bounds):
            raise too_large("values or maps of points")
        codes = part.codes
        part.forget_half_spaces()
        for local, position in enumerate(range(block.start, block.stop)):
            rows = [Rows(*(column[local] for column in table)) for table in tables]
            if position + 1 == block.stop:
                tables.clear()  # so that rows are all that is left of them
            try:
                rows, clear = with_hidden_rows(exact, codes[local], rows, flat[local])
                polyhedron, sources, slack, noise, entries = _polyhedron(network, codes[local], rows, window, position)
                witness = flat[local].copy()
                errors = np.column_stack([errors_at(polyhedron, witness, slack, noise), entries])
                if not (slack > noise).all():
                    witness = _interior_point(at, codes[local], polyhedron, sources, slack, noise, position)
            except DegenerateGeometryError as error:
                found.append(error.with_traceback(None))  # whose frames hold the rows of a block
                continue
            for array in (witness, sources, errors):
                array.setflags(write=False)
            clear = max(0.0, clear - float(np.abs(witness - flat[local]).sum()))
            maps = part.maps[local : local + 1]
            found.append(Region(codes[local], polyhedron, maps, witness, sources, errors, clear))
    return found


def _window(domain: Domain | None, dim: int) -> Polyhedron:
    if domain is None:
        return Space(dim).polyhedron
    if isinstance(domain, Slice):
        raise InputError("a slice of a slice is not a domain")
    if domain.dim != dim:
        raise ShapeError(f"expected a domain in {dim} dimensions, as many as inputs, got {domain.describe()}")
    return domain.polyhedron if isinstance(domain, Box | Space) else domain


def _with_exact_pieces(part: Evaluation) -> Evaluation:
    """Return points with pieces from rational arithmetic where rounding hides the sign of a unit constant around them.

    Elsewhere a unit within rounding of a breakpoint is read by the tie rule on a set without interior; such a unit, on
    the whole region. Floats are the answer where a network is so large that exact ones take too long.
    """
    if part.network.jumps:  # the region is asked for of one code, on which nothing jumps
        part = held_to(part, part.pieces)
    if multiplications(part.network) > MULTIPLICATIONS:
        return part
    is_open = np.zeros(len(part), dtype=bool)
    for rows in part.half_spaces:
        is_hidden = rows.exists & (rows.noise > 0) & (np.abs(rows.offsets) <= rows.noise)
        is_open |= (is_hidden & (largest_entries(rows.normals, -1) <= rows.constant_below)).any(axis=1)
    asked = np.flatnonzero(is_open).tolist()
    if not asked:
        return part
    exact = RationalNetwork(part.network)
    pieces = [table.clone() for table in part.pieces]
    for row in asked:
        point = [Fraction(entry) for entry in part.points[row].reshape(-1).tolist()]
        for table, found in zip(pieces, exact.pieces(point), strict=True):
            table[row] = torch.as_tensor(found, dtype=table.dtype)
    return part if all(map(torch.equal, pieces, part.pieces)) else held_to(part, pieces)


def _domain_rows(window: Polyhedron, flat: np.ndarray, unit: float) -> Rows:
    number, height = len(flat), len(window.b)
    source = np.stack([np.full(height, -1), np.arange(height), np.full(height, -1)], axis=-1)
    return Rows(
        normals=np.broadcast_to(window.A, (number, *window.A.shape)),
        offsets=np.broadcast_to(window.b, (number, height)),
        sources=np.broadcast_to(source, (number, height, 3)),
        exists=np.ones((number, height), dtype=bool),
        slack=window.b - flat @ window.A.T,
        noise=unit * (np.abs(flat) @ np.abs(window.A).T + np.abs(window.b)),
        constant_below=np.zeros((number, height)),
    )


def _polyhedron(
    network: Network, code: Codes, tables: list[Rows], window: Polyhedron, position: int
) -> tuple[Polyhedron, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the polyhedron of one point without constant rows; sources, slack, noise of rows and of their entries.

    Lets go of the tables on the way.
    """
    of_domain = tables[-1]
    if (of_domain.slack < -of_domain.noise).any():
        raise InputError(f"point {position} lies outside the domain: move it inside, or ask on a larger domain")
    kept = []
    for rows in tables:
        step_point()
        constant = largest_entries(rows.normals, 1) <= rows.constant_below
        wrong = rows.exists & constant & (rows.sources[:, 0] >= 0) & (rows.offsets < -rows.noise)
        if wrong.any():
            raise DegenerateGeometryError(
                f"the code at point {position} has no region: {_names(network, rows.sources[wrong])} is constant there "
                "and of the other sign; move the point"
            )
        kept.append(rows.exists & ~constant)
    offsets, sources, slack, noise, entries = (
        np.concatenate([getattr(rows, name)[which] for rows, which in zip(tables, kept, strict=True)])
        for name in ("offsets", "sources", "slack", "noise", "constant_below")
    )
    normals = put_together(tables, kept)
    normals.setflags(write=False)
    sources = sources.astype(np.int64)
    true_rows = ExactHalfSpaces(network, code, sources, window.A, window.b)
    return Polyhedron._rounded(normals, offsets, true_rows, window.C, window.d), sources, slack, noise, entries


def _interior_point(
    at: Evaluation,
    code: Codes,
    polyhedron: Polyhedron,
    sources: np.ndarray,
    slack: np.ndarray,
    noise: np.ndarray,
    position: int,
) -> np.ndarray:
    """Return an interior point of a region whose point lies on its boundary."""
    shrunk = Polyhedron(polyhedron.A, polyhedron.b - noise, polyhedron.C, polyhedron.d)
    ball = shrunk.insphere()
    if ball.radius > 0:
        center = at.network.at(ball.center, tolerance=at.tolerance)
        # Floats first: exact pieces ask for the maps of all units.
        if np.array_equal(center.codes.words, code.words) or np.array_equal(
            _with_exact_pieces(center).codes.words, code.words
        ):
            return ball.center.copy()
    touched = sources[slack <= noise]
    units = touched[touched[:, 0] >= 0]
    if not len(units):
        raise DegenerateGeometryError(
            f"the domain has no interior around point {position}: ask on a domain of full dimension"
        )
    raise DegenerateGeometryError(
        f"point {position} lies on a kink of {_names(at.network, units)} and the region of its code has no interior: "
        "move the point off the kink"
    )


def _names(network: Network, sources: np.ndarray) -> str:
    gates = network.gates
    units = list(dict.fromkeys((int(gate), int(unit)) for gate, unit, _ in sources))
    names = [f"{gates[gate].name}[{unit}]" for gate, unit in units[:5]]
    more = f" and {len(units) - 5} more" if len(units) > 5 else ""
    return ", ".join(names) + more
