"""`betti`: how many pieces, tunnels and hollows a set has."""

import time
from concurrent.futures import Executor
from dataclasses import replace
from typing import Literal

import numpy as np

from reluscope.analyses.topology.chains import Chains, betti_numbers
from reluscope.analyses.topology.sets import SetName, faces_of, faces_of_part, heights_of, read_function
from reluscope.analyses.topology.surface_chains import chains_of
from reluscope.arguments import read_arguments
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
    of : {"all", "sublevel", "superlevel", "level", "decision"}
        The set: the whole domain, the points where a function f is at most, at least or equal to a level, or the
        points where the largest scores of classes tie (`Network.with_decision`; for a single output, where it
        equals the threshold).
    level : float
    output : int or two of them
        f is this output of the model, or the first output minus the second.
    ends : {"ordinary", "box", "borel_moore", "one_point"}
        Treatment of a set that reaches the boundary of the domain, or is unbounded. "ordinary": none, the boundary
        belongs to the set. "box": the same, for bounded domains only. "borel_moore": chains may end there, as
        through the ends of a set without boundary. "one_point": the boundary and everything beyond are one point,
        separate from a set that does not reach it.
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
        summary has the ``euler_characteristic``.

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
    if of == "decision":
        network = scores_network(network)
    outputs, of_file = read_function(output, network.num_outputs), level
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
    if ends in ("borel_moore", "one_point"):
        kept = tuple(one & ~border for one, border in zip(kept, faces.is_border, strict=True))
    chains, orders = Chains(faces.num_faces, faces.offsets, faces.ids).swept(faces.vertices[:, 0])
    chains = chains.only([one[order] for one, order in zip(kept, orders, strict=True)])
    given = _described(of, level, outputs, ends)
    if level != of_file and network.left_off is not None:
        given += f", as brought before the last {network.left_off.name} from {of_file:g}"
    found = _numbers(chains, ends == "one_point", faces.num_undecided > 0, given, asked)
    return replace(found, seconds=time.perf_counter() - began)


def _numbers(chains: Chains, is_one_point: bool, is_doubtful: bool, given: str, domain: str) -> Findings:
    """Return the Betti numbers of chains as a table."""
    numbers = np.array(betti_numbers(chains), dtype=np.float64)
    euler = float(chains.euler_characteristic)
    if is_one_point:
        numbers[0], euler = numbers[0] + 1, euler + 1
    low, high = (np.where(is_doubtful, end, numbers) for end in (0.0, np.inf))
    column = Column.of(BETTI, numbers, low, high, method=METHOD, given=given)
    summary = Column.estimate(EULER, [euler]) if is_doubtful else Column.of(EULER, [euler])
    return Findings.of(
        column,
        keys={"dimension": np.arange(len(numbers))},
        summary=Findings.of(summary, domain=domain),
        domain=domain,
    )


def _of_level_set(found: LevelSet, of: SetName, ends: Ends) -> Findings:
    """Return the Betti numbers of the pieces of a level set."""
    if of != "all":
        raise InputError(f'of must be "all" for a level set, whose pieces are the set, got {of!r}: give a partition')
    if found.num_open:
        raise IncompletePartitionError(f"expected a whole level set, got one that was stopped: {found.note}")
    chains, is_border = chains_of(found)
    if ends in ("borel_moore", "one_point"):
        chains = chains.only([~border for border in is_border])
    given = "of the level set" + _ENDS.get(ends, "")
    return _numbers(chains, ends == "one_point", found.claim is not Claim.EXACT, given, found.domain.describe())


def _described(of: SetName, level: float, outputs: tuple[int, ...], ends: Ends) -> str:
    """Return in words which set it is, and what its ends are."""
    function = " less ".join(f"output {output}" for output in outputs)
    relation = {"sublevel": "at most", "superlevel": "at least", "level": "equal to"}
    names = {"all": "of the domain", "decision": "of the decision boundary"}
    found = names.get(of) or f"where {function} is {relation[of]} {level:g}"
    return found + _ENDS.get(ends, "")
