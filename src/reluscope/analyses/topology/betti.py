"""`betti`: how many pieces, tunnels and hollows a set has."""

import time
from concurrent.futures import Executor
from dataclasses import replace
from typing import Literal

import numpy as np
from jaxtyping import Bool
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from reluscope.analyses.topology.chains import Chains, betti_numbers
from reluscope.analyses.topology.sets import SetName, faces_of, faces_of_part, heights_of, num_unordered, read_function
from reluscope.analyses.topology.surface_chains import chains_of
from reluscope.arguments import describe, read_arguments
from reluscope.budget import TimeBudget
from reluscope.effort import Effort
from reluscope.errors import IncompletePartitionError, InputError
from reluscope.findings import Claim, Column, Findings, Kind, declare
from reluscope.networks.evaluation.decisions import scores_network
from reluscope.networks.file_outputs import level_on_scores
from reluscope.partitions.levels.level_sets import LevelSet
from reluscope.partitions.partition_in_memory import Partition
from reluscope.progress import Progress

BETTI = declare(
    "betti_number", "dimension of the homology in this dimension over the field of two elements", kind=Kind.COUNT
)
EULER = declare(
    "euler_characteristic", "faces of even dimension less those of odd dimension", kind=Kind.COUNT, least=-np.inf
)
NUM_BOUNDED = declare(
    "num_bounded_pieces",
    "connected pieces of the set that reach neither the boundary of the domain nor infinity",
    kind=Kind.COUNT,
)
METHOD = "reduction of the boundaries of all faces over two elements"

Ends = Literal["ordinary", "box", "borel_moore", "one_point"]
_ENDS = {"borel_moore": ", with open ends", "one_point": ", with one point for all ends"}


@read_arguments
def betti(
    part: Partition | LevelSet,
    *,
    of: SetName = "all",
    level: float = 0.0,
    output: int | tuple[int, int] = 0,
    ends: Ends = "ordinary",
    budget: TimeBudget | None = None,
    executor: Executor | None = None,
    progress: Progress = False,
) -> Findings:
    """Return the Betti numbers of a set defined by a network: its pieces, tunnels and hollows.

    Parameters
    ----------
    part : Partition or LevelSet
        A partition with its network, of a domain of at most four dimensions; or a level set, whose pieces then form
        the set.
    of : {"all", "sublevel", "superlevel", "level", "decision", "class"}
        The set: the whole domain, the points where a function f is at most, at least or equal to a level, the points
        where the largest scores of classes tie (`Network.with_decision`; for a single output, where it equals the
        threshold), or the points where no score is larger than that of the class ``output``.
    level : float
    output : int or two of them
        f is this output of the model, or the first output minus the second. With ``of="class"`` the class, 0 or 1 for a
        single output.
    ends : {"ordinary", "box", "borel_moore", "one_point"}
        Treatment of a set that reaches the boundary of the domain, or is unbounded. "ordinary": none, the boundary
        belongs to the set. "box": the same, for bounded domains only. "borel_moore": chains may end there, as
        through the ends of a set without boundary. "one_point": the boundary and everything beyond are one point,
        which is a piece of its own beside a set that does not reach it, and all there is beside an empty set.
    budget : Budget, optional
        Seconds; unfinished results are left out.
    executor : concurrent.futures.Executor, optional
        Runs independent parts.
    progress : bool or callable
        Show progress; a callable receives the finished share, from 0 to 1.

    Returns
    -------
    Findings
        ``betti_number``, one row for every ``dimension`` from 0 to that of the domain: 0 counts connected pieces, 1
        independent tunnels, 2 hollows. EXACT if no sign stayed undecided, otherwise between 0 and infinity. The
        summary has the ``euler_characteristic``, and ``num_bounded_pieces``, which is the same for all ``ends``.

    Raises
    ------
    InputError
        If the partition was loaded without its network, the domain has more dimensions, or is unbounded and the
        network has max gates, or another set of a level set is requested.
    IncompletePartitionError
        If work on the level set stopped early.

    Notes
    -----
    The faces of the partition are recomputed, cut by the functions that define the set, in about twice the runtime
    of the partition. Signs are those of the engine: a level that passes through vertices, along facets or on whole
    regions is treated as such, at the resolution of the partition.

    For an unbounded domain, faces are examined in a box that meets all of them, whatever their number, so that the
    result is that of the whole domain. Distant vertices make the box large, and features small relative to it
    undecided.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> ball = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])  # the l1 ball
    >>> part = rs.partition(ball, rs.Box(-2, 2, 3))
    >>> rs.topology.betti(part, of="level")["betti_number"].value.astype(int)
    array([1, 0, 1, 0])
    >>> print(rs.topology.betti(part, of="superlevel").finding("betti_number", 2))
    1 (EXACT)
    """
    began = time.perf_counter()
    if isinstance(part, LevelSet):
        return _of_level_set(part, of, ends)
    if ends == "box" and not part.window.is_bounded():
        raise InputError(
            f'ends="box" needs a bounded domain, got {part.domain.describe()}: leave it out, or give a Box'
        )
    network = part.network_on_domain
    if of in ("decision", "class"):
        network = scores_network(network)
    num_functions = max(2, network.num_outputs) if of == "class" else network.num_outputs
    outputs, of_file = read_function(output, num_functions), level
    if of == "class" and len(outputs) > 1:
        raise InputError(f'output must be one class with of="class", got {describe(output)}')
    if of in ("sublevel", "superlevel", "level"):
        outputs, level = level_on_scores(network.left_off, outputs, level)
    heights = heights_of(network, of, level, outputs)
    faces = faces_of_part(part, Effort.of(budget, executor, progress), network, heights)
    dimensions, asked = np.arange(faces.dim + 1), part.domain.describe()
    if faces.num_open:
        nothing = Column.estimate(BETTI, np.full(faces.dim + 1, np.nan), method=METHOD)
        seconds = time.perf_counter() - began
        keys = {"dimension": dimensions}
        return Findings.of(nothing, keys=keys, reached=0, domain=asked, seconds=seconds, stop=faces.stop)
    kept = faces_of(faces, of, network.num_outputs)
    num_bounded = _num_bounded(
        Chains(faces.num_faces, faces.offsets, faces.ids).only(kept), faces.is_border[0][kept[0]]
    )
    if ends in ("borel_moore", "one_point"):
        kept = tuple(one & ~border for one, border in zip(kept, faces.is_border, strict=True))
    chains, orders = Chains(faces.num_faces, faces.offsets, faces.ids).swept(faces.vertices[:, 0])
    chains = chains.only([one[order] for one, order in zip(kept, orders, strict=True)])
    given = _described(of, level, outputs, ends)
    if level != of_file and network.left_off is not None:
        given += f", as brought before the last {network.left_off.name} from {of_file:g}"
    num_undecided = faces.num_undecided + num_unordered(faces, of, network.num_outputs)
    found = _numbers(chains, num_bounded, ends == "one_point", num_undecided > 0, given, asked)
    return replace(found, seconds=time.perf_counter() - began)


def _num_bounded(chains: Chains, is_border: Bool[np.ndarray, " v"]) -> int:
    """Return the number of connected pieces of a closed set without a vertex on the boundary."""
    ends = chains.ids[0].reshape(-1, 2)
    shape = (chains.counts[0],) * 2
    graph = coo_array((np.ones(len(ends), dtype=np.int8), (ends[:, 0], ends[:, 1])), shape=shape)
    number, piece = connected_components(graph, directed=False)
    return number - len(np.unique(piece[is_border]))


def _numbers(
    chains: Chains, num_bounded: int, is_one_point: bool, is_doubtful: bool, given: str, domain: str
) -> Findings:
    """Return the Betti numbers of chains as a table."""
    numbers = np.array(betti_numbers(chains), dtype=np.float64)
    euler = float(chains.euler_characteristic)
    if is_one_point:
        numbers[0], euler = numbers[0] + 1, euler + 1
    low, high = (np.where(is_doubtful, end, numbers) for end in (0.0, np.inf))
    column = Column.of(BETTI, numbers, low, high, method=METHOD, given=given)
    summary = [
        Column.estimate(quantity, [number]) if is_doubtful else Column.of(quantity, [number])
        for quantity, number in ((EULER, euler), (NUM_BOUNDED, num_bounded))
    ]
    return Findings.of(
        column,
        keys={"dimension": np.arange(len(numbers))},
        summary=Findings.of(*summary, domain=domain),
        domain=domain,
    )


def _of_level_set(found: LevelSet, of: SetName, ends: Ends) -> Findings:
    """Return the Betti numbers of the pieces of a level set."""
    if of != "all":
        raise InputError(f'of must be "all" for a level set, whose pieces are the set, got {of!r}: give a partition')
    if found.num_open:
        raise IncompletePartitionError(f"expected a whole level set, got one that was stopped: {found.note}")
    chains, is_border = chains_of(found)
    num_bounded = _num_bounded(chains, is_border[0])
    if ends in ("borel_moore", "one_point"):
        chains = chains.only([~border for border in is_border])
    given = "of the level set" + _ENDS.get(ends, "")
    is_doubtful = found.claim is not Claim.EXACT
    return _numbers(chains, num_bounded, ends == "one_point", is_doubtful, given, found.domain.describe())


def _described(of: SetName, level: float, outputs: tuple[int, ...], ends: Ends) -> str:
    """Return in words which set it is, and what its ends are."""
    function = " less ".join(f"output {output}" for output in outputs)
    relation = {"sublevel": "at most", "superlevel": "at least", "level": "equal to"}
    names = {"all": "of the domain", "decision": "of the decision boundary", "class": f"of class {outputs[0]}"}
    found = names.get(of) or f"where {function} is {relation[of]} {level:g}"
    return found + _ENDS.get(ends, "")
