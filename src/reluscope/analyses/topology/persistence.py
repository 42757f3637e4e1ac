"""`persistence`: at which levels pieces, tunnels and hollows of sublevel sets begin and end."""

import time
from concurrent.futures import Executor

import numpy as np

from reluscope.analyses.topology.chains import NONE, Chains, pivots
from reluscope.analyses.topology.faces_between import between_levels
from reluscope.analyses.topology.sets import read_function
from reluscope.arguments import read_arguments
from reluscope.budget import TimeBudget
from reluscope.effort import Effort
from reluscope.findings import Findings, declare
from reluscope.networks.graph.left_off import refuse_left_off
from reluscope.partitions.partition_in_memory import Partition
from reluscope.progress import Progress

BIRTH = declare(
    "birth_level", "level from which on sublevel sets have the homology class", unit="output", least=-np.inf
)
DEATH = declare(
    "death_level", "level from which on the homology class is a boundary, or older", unit="output", least=-np.inf
)
METHOD = "pairs of faces in the order of the function at their highest vertices"


@read_arguments
def persistence(
    part: Partition,
    *,
    output: int | tuple[int, int] = 0,
    budget: TimeBudget | None = None,
    executor: Executor | None = None,
    progress: Progress = False,
) -> Findings:
    """Return the birth and death levels of pieces, tunnels and hollows of sublevel sets.

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
        ``birth_level`` and ``death_level`` of every class, one row each, with its ``dimension``: 0 for pieces, 1
        for tunnels, 2 for hollows; by dimension, the longest first. The piece that remains at the end has no death:
        its death level is infinite. The number of rows of a dimension with ``birth <= t < death`` is the Betti
        number of ``f <= t``. Details: ``births`` and ``deaths``, the vertices of these events, in domain
        coordinates (NaN for infinite levels). Classes that end within rounding of their birth are left out; the list of
        the other classes is as exact as the faces.

    Raises
    ------
    InputError
        If the partition was loaded without its network, or the domain has more dimensions, or is unbounded and the
        network has max gates.

    Notes
    -----
    f is affine on every face. A sublevel set can therefore be contracted onto the faces that lie below its level,
    and the result follows from the order in which f passes faces at their highest vertices. If f is known up to an
    error e, all classes longer than 2 e are found, and their births and deaths are within e of the returned levels
    (Cohen-Steiner, Edelsbrunner and Harer, 2007).

    On an unbounded domain all events have levels of vertices, or of faces without any. Between a level below all of
    these and one above, sublevel sets are those in a box that meets all faces that the two levels cut.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0], [1.0], [1.0]], [1.0, 0.0, -1.0]), ([[2.0, -3.0, 3.0]], [0.0])])  # up, down, up
    >>> print(rs.topology.persistence(rs.partition(net, rs.Box(-2, 3, 1))))
    dimension  birth level  death level
    0                    0            ∞
    0                    1            2
    """
    began = time.perf_counter()
    network = part.network_on_domain
    refuse_left_off("persistence", network.left_off, "take the partition of network.logits")
    outputs = read_function(output, network.num_outputs)
    between = between_levels(part, network, outputs, Effort.of(budget, executor, progress))
    faces, known, levels = between.faces, between.known, between.levels
    chains, orders = Chains(faces.num_faces, faces.offsets, faces.ids).swept(known.values)
    dimension, birth, death = _bars(chains)
    # From places in the order to vertices; there is none at which nothing ends.
    vertices = np.append(orders[0], NONE)[np.stack([birth, death])]
    births, deaths = np.append(known.values, np.inf)[vertices]
    is_long = (deaths - births > 2 * known.error) & (births < levels[1]) & (deaths > levels[0])
    births, deaths = np.where(births < levels[0], -np.inf, births), np.where(deaths > levels[1], np.inf, deaths)
    vertices = np.where(np.isfinite([births, deaths]), vertices, NONE)
    if faces.num_open:
        is_long[:] = False
    order = np.lexsort((births - deaths, dimension))
    rows = order[is_long[order]]
    births, deaths, vertices, dimension = births[rows], deaths[rows], vertices[:, rows], dimension[rows]
    is_doubtful = between.is_doubtful
    where = np.concatenate([faces.vertices, np.full((1, faces.dim), np.nan)])
    return Findings.of(
        known.column(BIRTH, births, is_doubtful, METHOD),
        known.column(DEATH, deaths, is_doubtful, METHOD),
        keys={"dimension": dimension},
        details={"births": where[vertices[0]], "deaths": where[vertices[1]]},
        domain=part.domain.describe(),
        stop=faces.stop,
        seconds=time.perf_counter() - began,
    )


def _bars(chains: Chains) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return dimension, birth and death of all classes, as places of vertices in the order; -1 for no death."""
    highest, places = [], np.arange(chains.counts[0])
    for begins, members in zip((None, *chains.offsets), (None, *chains.ids), strict=True):
        if begins is not None and members is not None:
            places = np.maximum.reduceat(places[members], begins[:-1])
        highest.append(places)
    found = [*pivots(chains), np.full(chains.counts[-1], NONE)]
    dimension, birth, death = [], [], []
    is_end = np.zeros(chains.counts[0], dtype=bool)
    for k, column in enumerate(found):
        begins_here = np.flatnonzero(~is_end)
        pairs = column[begins_here]
        ends = np.append(highest[k + 1], NONE)[pairs] if k < len(found) - 1 else pairs
        dimension.append(np.full(len(begins_here), k))
        birth.append(highest[k][begins_here])
        death.append(ends)
        if k < len(found) - 1:
            is_end = np.zeros(chains.counts[k + 1], dtype=bool)
            is_end[column[column != NONE]] = True
    return np.concatenate(dimension), np.concatenate(birth), np.concatenate(death)
