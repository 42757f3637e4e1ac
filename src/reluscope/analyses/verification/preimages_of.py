"""Preimages of classes, features and polytopes of outputs: by a partition, by halved boxes, or approximately."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from reluscope.analyses.boxes.pullback import check_target
from reluscope.analyses.preimages.approximations import NUM_BOXES, Approximation, approximate
from reluscope.analyses.preimages.input_pieces import EXAMINED, InputPieces
from reluscope.analyses.preimages.piece_search import partitioned_preimage
from reluscope.analyses.preimages.preimage_pieces import PreimagePieces
from reluscope.analyses.preimages.target_sets import class_target, vector_target
from reluscope.arguments import Also, Seed, read_arguments, read_point
from reluscope.budget import Budget, RegionBudget
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.interruption import held
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.file_outputs import Rounding, num_file_outputs, on_scores
from reluscope.networks.graph.left_off import refuse_left_off
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.networks.truncation import up_to_gate
from reluscope.partitions.ask.region_search import partitioned
from reluscope.partitions.partition_in_memory import Partition
from reluscope.progress import Progress
from reluscope.stopping import is_interrupted
from reluscope.tolerance import Tolerance


def _read_what(value: Any, name: str) -> "int | Polyhedron | tuple[Polyhedron, ...] | np.ndarray":
    """Return a class, a polyhedron, several of them, or a vector of outputs."""
    if isinstance(value, Polyhedron):
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, list | tuple) and any(isinstance(one, Polyhedron) for one in value):
        if not all(isinstance(one, Polyhedron) for one in value):
            raise InputError(f"{name} must hold nothing but polyhedra if it holds one: give them alone")
        return tuple(value)
    if value is None or isinstance(value, str):
        raise InputError(f"{name} must be a class, a Polyhedron of outputs, several, or a vector of outputs")
    return read_point(value, name)


if TYPE_CHECKING:
    What = int | Polyhedron | Sequence[Polyhedron] | ArrayLike
else:
    What = Annotated[Any, Also(_read_what)]


class _Options(TypedDict, total=False):
    gate: str | int | None
    margin: float
    points: Points | None
    budget: RegionBudget | None
    progress: Progress
    tolerance: Tolerance | None
    seed: Seed


@overload
def of(
    network: Network,
    what: What,
    *,
    domain: Domain | Partition,
    method: Literal["partition"] = ...,
    **options: Unpack[_Options],
) -> PreimagePieces: ...
@overload
def of(
    network: Network, what: What, *, domain: Box | Slice, method: Literal["boxes"], **options: Unpack[_Options]
) -> InputPieces: ...
@overload
def of(
    network: Network, what: What, *, domain: Box, method: Literal["approximate"], **options: Unpack[_Options]
) -> Approximation: ...


@held
@read_arguments
def of(
    network: Network,
    what: What,
    *,
    domain: Domain | Partition,
    method: Literal["partition", "boxes", "approximate"] = "partition",
    gate: str | int | None = None,
    margin: float = 0.0,
    points: Points | None = None,
    budget: RegionBudget | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
    seed: Seed = 0,
) -> PreimagePieces | InputPieces | Approximation:
    """Return the points of a domain whose outputs are of a class, have given values, or lie in a polyhedron.

    Parameters
    ----------
    network : Network
    what : int, Polyhedron, sequence of Polyhedron, or (m,) array
        - A whole number is a class, as in the `decision` of the network; with a single output f the classes are 0
          (f <= 0) and 1 (f > 0). The closure of the class is meant: a piece along which two outputs tie belongs to
          both classes.
        - A polyhedron lies in the space of the outputs of the model, and is closed; half-spaces and equations. Points
          with outputs in several polyhedra are counted once ("boxes" alone takes several).
        - An array is one vector of outputs: mostly flat pieces.
    domain : Domain or Partition
        For "partition" of few dimensions, 1 to about 4, or an existing partition of this network up to the gate. For
        "boxes" a box of up to about six dimensions, or a slice with a box as its window, in whose coordinates pieces
        are. For "approximate" a box.
    method : {"partition", "boxes", "approximate"}
        - ``"partition"``: exact pieces of any dimension, one in each linear region.
        - ``"boxes"``: exact pieces with an interior. Boxes are halved until all their outputs are inside, all are
          outside, or few linear regions are left. It costs much less if few inputs have such outputs.
        - ``"approximate"``: an inner and an outer approximation, for networks of any size.
    gate : str or int, optional
        Use the outputs of this gate; by default the outputs of the network. There are no classes of gates.
    margin : float
        Of a class, in the outputs of the model: ``f_label - f_j >= margin`` for all other j.
    points : (s, n) or (s, *input_shape), optional
        Points that may be in the preimage, such as data or adversarial examples ("approximate"). Their regions are
        examined in addition to those of 512 random points.
    budget : Budget, optional
        Time, or a number (``regions``): of regions of the partition; of boxes and linear regions to examine, 200,000
        by default ("boxes"); of boxes, 1,000 by default ("approximate").
    progress : bool or callable
        Show the progress; a callable receives the finished share, from 0 to 1.
    tolerance : Tolerance, optional
        Of the partition.
    seed : int
        Of the random points ("approximate").

    Returns
    -------
    PreimagePieces, InputPieces or Approximation
        A union of polyhedra with a claim: ``volume()``, ``contains(x)``, ``maximum(direction)``, ``to_table()``,
        ``save(path)``. "partition": EXACT, or LOWER where a budget ended; ``dims`` distinguishes points, segments and
        so on. "boxes": EXACT, or LOWER with the undecided boxes. "approximate": findings are LOWER, with intervals
        that end at the proved outer approximation.

    Raises
    ------
    ShapeError
        If the polyhedron lies in a space of another dimension, or the domain has another dimension.
    InputError
        If the given partition is of another network, or an option, the domain or equations do not go with the method.

    Notes
    -----
    "partition": one partition. Outputs at its vertices decide most regions; every other region costs a linear program.
    Parts thinner than 1e-9 of the domain count as flat; parts that miss a polyhedron by less count as touching it.

    "boxes": the search of `reluscope.violations`.

    "approximate": each box costs an enclosure. Halving boxes terminates in few dimensions. In many dimensions it
    leaves affine bounds on few boxes, and volumes mean little.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])  # relu(x_0) + relu(x_1)
    >>> target, square = rs.Polyhedron([[1.0]], [1.0]), rs.Box(-1, 2, 2)
    >>> found = rs.preimages.of(net, target, domain=square)
    >>> len(found), str(found.volume()), found.contains([[0.4, 0.4], [0.6, 0.6]]).tolist()
    (4, '3.5 (EXACT)', [True, False])
    >>> print(rs.preimages.of(net, target, domain=square, method="boxes").volume())
    3.5 (EXACT)
    >>> bounds = rs.preimages.of(net, target, domain=square, method="approximate", budget=rs.Budget(regions=200))
    >>> low, high = bounds.volume().interval
    >>> low <= 3.5 <= high, round(bounds.maximum([1.0, 0.0]).value, 6)
    (True, 1.0)
    >>> edge = rs.preimages.of(net, [1.0, 0.0], domain=square, gate=0)  # x_0 = 1, x_1 <= 0
    >>> edge.dims.tolist(), round(edge.size(1), 9)
    ([1], 1.0)
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> [str(rs.preimages.of(net, 1, domain=rs.Box(0, 1, 2), margin=m).volume()) for m in (0.0, 0.5)]
    ['0.5 (EXACT)', '0.125 (EXACT)']
    """
    features = up_to_gate(network, gate)
    is_class = isinstance(what, int)
    if wrong := next(
        (
            name
            for name, is_given, goes in (
                ("margin", margin != 0, is_class),
                ("points", points is not None, method == "approximate"),
                ("tolerance", tolerance is not None, method == "partition"),
            )
            if is_given and not goes
        ),
        "",
    ):
        of_what = f'method="{method}"' if is_class or wrong != "margin" else "what is no class"
        raise InputError(f"{of_what} takes no {wrong}: leave it out")
    targets = _targets(features, what, margin, is_gate=gate is not None)
    if method == "boxes":
        return _by_boxes(
            features.logits if is_class else features, targets, domain, Effort(budget or EXAMINED, progress=progress)
        )
    target, *others = targets
    if others:
        raise InputError(f'method="{method}" takes one polyhedron, got {len(targets)}: take method="boxes"')
    if method == "partition":
        cut_by = target if is_class else on_scores(features.left_off, target, Rounding.NEAREST)
        began, seconds = time.time(), np.inf
        part = partitioned(features, domain, Effort.of(budget, None, progress, tolerance))
        if not isinstance(domain, Partition):
            left = (Budget() if budget is None else budget).seconds_allowed - (time.time() - began)
            seconds = 0.0 if is_interrupted(part.stop) else max(0.0, left)
        return partitioned_preimage(part, target, cut_by, seconds)
    if not isinstance(domain, Box):
        raise InputError(f'domain must be a box for method="approximate", got {_described(domain)}')
    asked = features.logits if is_class else features
    effort = Effort(budget or Budget(regions=NUM_BOXES), progress=progress)
    return approximate(asked, target, domain, points, effort, seed)


def _targets(features: Network, what: Any, margin: float, *, is_gate: bool) -> "tuple[Polyhedron, ...]":
    """Return what is asked for as polyhedra of outputs."""
    if isinstance(what, int):
        if is_gate:
            raise InputError("a class is one of the outputs of the network, not of a gate: leave the gate out")
        if margin and features.left_off is not None and features.left_off.name != "log_softmax":
            refuse_left_off("a margin", features.left_off)
        return (class_target(features.num_outputs, what, margin=margin, decision=features.decision),)
    if isinstance(what, np.ndarray):
        return (vector_target(num_file_outputs(features), what),)
    targets = (what,) if isinstance(what, Polyhedron) else what
    for target in targets:
        check_target(features, target)
    return targets


def _by_boxes(
    network: Network,
    targets: "tuple[Polyhedron, ...]",
    domain: Domain | Partition,
    effort: Effort,
) -> InputPieces:
    """Return all inputs of a box with outputs in some polyhedra, by the search for violations."""
    # They need modules of `preimages`, whose public face imports this one.
    from reluscope.analyses.verification.property import Case, Property
    from reluscope.analyses.verification.violation_pieces import found_by

    for target in targets:
        if len(target.C):
            raise InputError(
                f'method="boxes" takes half-spaces alone, got a {target.describe()}: take method="partition"'
            )
    window = domain.window if isinstance(domain, Slice) else domain
    if not isinstance(window, Box) or isinstance(domain, Partition):
        raise InputError(
            f'domain must be a box, or a slice by one, for method="boxes", got {_described(domain)}: take '
            'method="partition"'
        )
    read_domain(domain, network.num_inputs)
    function = network.restrict(domain) if isinstance(domain, Slice) else network
    asked = Property([Case(np.array(window.lo), np.array(window.hi), list(targets))])
    return found_by(InputPieces, function, asked, effort)


def _described(domain: Domain | Partition) -> str:
    return "a partition" if isinstance(domain, Partition) else domain.describe()
