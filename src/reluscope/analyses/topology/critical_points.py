"""`critical_points`: where the topology of sublevel sets changes: minima, saddles, maxima and plateaus."""

import time
from concurrent.futures import Executor

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from reluscope.analyses.topology.chains import NONE, Chains, pivots
from reluscope.analyses.topology.faces_between import between_levels
from reluscope.analyses.topology.sets import read_function
from reluscope.analyses.topology.vertex_values import VertexValues
from reluscope.arguments import read_arguments
from reluscope.budget import TimeBudget
from reluscope.effort import Effort
from reluscope.findings import Column, Findings, Kind, declare
from reluscope.networks.graph.left_off import refuse_left_off
from reluscope.partitions.faces.faces import Faces
from reluscope.partitions.partition_in_memory import Partition
from reluscope.progress import Progress

VALUE = declare("critical_level", "level of a critical point or plateau", unit="output", least=-np.inf)
MULTIPLICITY = declare(
    "multiplicity", "dimension of the homology of the sublevel set relative to what is below it", kind=Kind.COUNT
)
METHOD = "homology of lower stars over two elements"


@read_arguments
def critical_points(
    part: Partition,
    *,
    output: int | tuple[int, int] = 0,
    budget: TimeBudget | None = None,
    executor: Executor | None = None,
    progress: Progress = False,
) -> Findings:
    """Return the critical points of an output: minima, saddles and maxima, with their indices.

    Parameters
    ----------
    part : Partition
        With its network, of a domain of at most four dimensions.
    output : int or two of them
        The function f is this output, or the first output minus the second.
    budget : Budget, optional
        Seconds; unfinished results are left out.
    executor : concurrent.futures.Executor, optional
        Runs independent parts.
    progress : bool or callable
        Show progress; a callable receives the finished share, from 0 to 1.

    Returns
    -------
    Findings
        ``critical_level`` and ``multiplicity``, one row for each critical point and ``index``, from the lowest: 0
        for a local minimum, d for a maximum inside a domain of d dimensions, and saddles between. A connected set
        of faces on which f is constant is critical as a whole, or not at all. Details: ``points``, a vertex of each
        in domain coordinates; ``num_vertices``, 1 for a point and more for a plateau; ``is_border``, whether it
        reaches the boundary of the domain, where f is treated as a function of the domain with its boundary.

    Raises
    ------
    InputError
        If the partition was loaded without its network, or the domain has more dimensions, or is unbounded and the
        network has max gates.

    Notes
    -----
    A vertex is regular if the faces whose highest vertex it is contract onto their part below it. Otherwise, the
    homology of these faces relative to that part gives the change at this level: the multiplicity of index k is the
    number of classes of dimension k that the vertex creates, or of dimension k - 1 that it fills. Alternating sums
    of multiplicities are the Euler characteristic of the domain, if it is bounded: on others sublevel sets may be born
    at minus infinity. Of a plateau without end the point is one of many. Neighbouring values that rounding cannot
    distinguish are merged.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[-1.0, -1.0]], [0.0])])  # - |x|
    >>> print(rs.topology.critical_points(rs.partition(net, rs.Box(-1, 1, 1))))
    index  critical level  multiplicity
    0                  -1             1
    0                  -1             1
    1                   0             1
    """
    began = time.perf_counter()
    network = part.network_on_domain
    refuse_left_off("critical_points", network.left_off, "take the partition of network.logits")
    outputs = read_function(output, network.num_outputs)
    between = between_levels(part, network, outputs, Effort.of(budget, executor, progress))
    faces, known = between.faces, between.known
    plateau = _plateaus(faces, known)
    lowest = np.full(int(plateau.max(initial=-1)) + 1, np.inf)
    np.minimum.at(lowest, plateau, known.values)
    dimension, where = _changes(faces, lowest[plateau], plateau)
    is_inside = (lowest[where] > between.levels[0]) & (lowest[where] < between.levels[1])
    dimension, where = dimension[is_inside], where[is_inside]
    pairs, multiplicity = np.unique(np.stack([where, dimension]), axis=1, return_counts=True)
    if faces.num_open:
        pairs, multiplicity = pairs[:, :0], multiplicity[:0]
    order = np.lexsort((pairs[1], lowest[pairs[0]]))
    where, index = pairs[:, order]
    counts = multiplicity[order].astype(np.float64)
    is_doubtful = between.is_doubtful
    ends = (np.zeros(len(counts)), np.full(len(counts), np.inf)) if is_doubtful else (counts, counts)
    _, first, sizes = np.unique(plateau, return_index=True, return_counts=True)
    touches = np.bincount(plateau, weights=faces.is_border[0], minlength=len(lowest)) > 0
    return Findings.of(
        known.column(VALUE, lowest[where], is_doubtful, METHOD),
        Column.of(MULTIPLICITY, counts, *ends, method=METHOD),
        keys={"index": index},
        details={
            "points": faces.vertices[first[where]],
            "num_vertices": sizes[where],
            "is_border": touches[where],
        },
        domain=part.domain.describe(),
        stop=faces.stop,
        seconds=time.perf_counter() - began,
    )


def _plateaus(faces: Faces, known: VertexValues) -> np.ndarray:
    """Return for every vertex the number of the connected edges of constant value that it is on."""
    number = len(faces.vertices)
    tail, head = faces.ids[0].reshape(-1, 2).T
    flat = np.abs(known.values[tail] - known.values[head]) <= 2 * known.error
    links = coo_array((np.ones(int(flat.sum())), (tail[flat], head[flat])), shape=(number, number))
    return connected_components(links, directed=False)[1].astype(np.int64)


def _changes(faces: Faces, heights: np.ndarray, plateau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return dimension and plateau of every class by which sublevel sets change."""
    chains, orders = Chains(faces.num_faces, faces.offsets, faces.ids).swept(heights)
    owners = [plateau[orders[0]]]
    places = np.arange(chains.counts[0])
    offsets, ids = [], []
    for begins, members in zip(chains.offsets, chains.ids, strict=True):
        places = np.maximum.reduceat(places[members], begins[:-1])
        owners.append(owners[0][places])
        # Relative to what is below: of a boundary only what has the same plateau as its highest place.
        cell = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
        stays = owners[-1][cell] == owners[-2][members]
        sizes = np.bincount(cell[stays], minlength=len(begins) - 1)
        offsets.append(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))
        ids.append(members[stays])
    found = pivots(Chains(chains.counts, tuple(offsets), tuple(ids)))
    left = [np.ones(count, dtype=bool) for count in chains.counts]
    for k, column in enumerate(found):
        left[k] &= column == NONE
        left[k + 1][column[column != NONE]] = False
    dimension = np.concatenate([np.full(int(one.sum()), k) for k, one in enumerate(left)])
    return dimension, np.concatenate([owner[one] for owner, one in zip(owners, left, strict=True)])
