"""All inputs that violate a property, as polyhedra, with their volume."""

from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

import numpy as np

from reluscope.analyses.preimages.input_pieces import EXAMINED, InputPieces
from reluscope.analyses.verification.on_scores import property_on_scores
from reluscope.analyses.verification.property import Property
from reluscope.analyses.verification.verdict import asked_network
from reluscope.analyses.verification.violation_search import ViolationSearch
from reluscope.arguments import read_arguments
from reluscope.budget import RegionBudget
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.interruption import deferred
from reluscope.networks.network import Network
from reluscope.progress import Progress, share_done

Pieces = TypeVar("Pieces", bound=InputPieces)


@dataclass(frozen=True, eq=False, repr=False)
class Violations(InputPieces):
    """The inputs that violate a property, as polyhedra whose interiors do not meet; a table with a row for each.

    Its ``cases`` and ``unsafe`` say of each piece which case of the property is violated, and which of its polyhedra of
    unsafe outputs the outputs are in; everything else is as of `reluscope.preimages.InputPieces`.
    """

    named: ClassVar[str] = "violations"
    where: ClassVar[str] = "the property is violated"
    short: ClassVar[str] = "violated"
    kind: ClassVar[str] = "violations"


@read_arguments
def violations(
    network: Network, safe: Property, *, budget: RegionBudget | None = None, progress: Progress = False
) -> Violations:
    """Return all inputs that violate a property, as polyhedra, with their exact volume or an interval.

    Parameters
    ----------
    network : Network
    safe : Property
        Property of the model's outputs, from a file by `reluscope.verification.read_property`, or made of cases.
    budget : Budget, optional
        Number of boxes and linear regions to examine (``regions``), 200,000 by default, or time.
    progress : bool or callable
        Show the decided share of the inputs, or the spent share of the budget; a callable receives it, from 0 to 1.

    Returns
    -------
    Violations
        If work ended early, or on Ctrl-C, with the undecided boxes.

    Raises
    ------
    ShapeError
        If the property has other numbers of inputs or outputs than the network.
    InputError
        If no input varies in the property, or none of its boxes has a volume in all inputs that vary.

    Notes
    -----
    For up to about six inputs that vary; with more, only boxes are found all of whose inputs violate the property.
    The cost is one enclosure per box, and a partition of each box on which few units change their piece. Violations
    without an interior, where unsafe outputs are only touched, are left out. Sets thinner than 1e-12 of a side of
    the box are no pieces; their volume is bounded and widens the interval. Outputs that are constant on a region,
    and within rounding of the end of a row, are compared in fractions. Boxes whose regions have undecided signs are
    partitioned in fractions if the network is small, otherwise halved, and stay undecided below 1/256 of all
    inputs.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])  # relu(x_0) + relu(x_1)
    >>> unsafe = rs.Polyhedron([[-1.0]], [-1.0])  # at least 1
    >>> safe = rs.verification.Property([rs.verification.Case([-1.0, -1.0], [1.0, 1.0], [unsafe])])
    >>> found = rs.violations(net, safe)
    >>> found, found.contains([[0.9, 0.9], [0.1, 0.1]]).tolist()
    (Violations(1 piece, volume 0.5 (EXACT)), [True, False])
    """
    found = found_by(Violations, asked_network(network, safe), safe, Effort(budget or EXAMINED, progress=progress))
    return replace(found, fingerprint=network.fingerprint)


def found_by(kind: type[Pieces], network: Network, asked: Property, effort: Effort) -> Pieces:
    """Return what a search finds, as pieces of the given kind.

    A property that lets no input vary, or none of whose boxes has a volume in all inputs that vary, raises InputError.
    """
    with share_done("violations", effort.progress) as tell, deferred():
        search = ViolationSearch(network, property_on_scores(network, asked).certain)
        if not search.free.any():
            raise InputError(
                "expected a property that lets some input vary, got single points: ask rs.verify about them"
            )
        if not 0 < search.total < np.inf:
            raise InputError(
                "expected inputs with a volume, in all that vary in some case, that float64 holds, got "
                f"{search.total:g}: ask about each case alone, or measure inputs in other units"
            )
        stopped = search.run(effort.budget, tell)
    pieces, open_boxes, num_inputs = search.pieces, search.open_boxes, network.num_inputs
    ends = [np.stack([box.lower, box.upper]) for box in open_boxes]
    return kind(
        tuple(piece.polyhedron for piece in pieces),
        np.array([piece.volume for piece in pieces]),
        np.array([piece.error for piece in pieces]),
        np.array([piece.witness for piece in pieces]).reshape(-1, num_inputs),
        np.array([piece.ends for piece in pieces]).reshape(-1, 2, num_inputs),
        np.array([piece.unsafe.case for piece in pieces], dtype=np.int64),
        np.array([piece.unsafe.place for piece in pieces], dtype=np.int64),
        np.array([piece.is_box for piece in pieces], dtype=bool),
        np.array(ends).reshape(-1, 2, num_inputs),
        np.unique([[case.lower, case.upper] for case in asked.cases], axis=0),
        search.total,
        search.undecided,
        network.fingerprint,
        stopped,
        {"boxes": search.num_branches - search.num_regions, "regions": search.num_regions},
    )
