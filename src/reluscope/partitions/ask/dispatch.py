"""`partition` and `partitions`: the exact regions of a network on one domain or many, by the engine that fits."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Literal

from reluscope.arguments import holds_across_jumps, read_arguments
from reluscope.budget import Budget, RegionBudget, RegionBudgetForEach
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.geometry.polyhedra.domains import Box, Domain
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.interruption import held
from reluscope.networks.models.stacked_networks import Networks, StackedNetworks
from reluscope.networks.network import Network
from reluscope.partitions.ask.engine_choice import are_cut_together
from reluscope.partitions.ask.region_search import (
    RegionSearch,
    budget_left,
    check_question,
    in_place,
    search_each,
    warn_if_interrupted,
)
from reluscope.partitions.doubts.shown_regions import shown
from reluscope.partitions.engines.stacked_partitions import partition_stacked
from reluscope.partitions.partition_in_memory import Partition
from reluscope.progress import Progress
from reluscope.tolerance import Tolerance


@held
@read_arguments
@holds_across_jumps
def partition(
    network: Network,
    domain: Domain,
    *,
    method: str = "auto",
    keep: Literal["codes", "vertices"] = "vertices",
    budget: RegionBudget | None = None,
    executor: Executor | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
    rounding: Literal["measured", "proved"] = "measured",
) -> Partition:
    """Return all full-dimensional activation regions of a network on a domain, exactly.

    `partitions` takes many domains, `stream` writes the regions to a file, and `certify` proves that they are all.

    Parameters
    ----------
    network : Network
    domain : Slice, Box, Space or Polyhedron
        A slice of any network (`Segment`, `Plane`), or a domain in the input space of a network with few inputs.
    method : {"auto", "incidence", "cellwise", "tree"}
        The engine. "incidence" keeps all faces and shares vertices: bounded domains; best on planes and for wide
        networks. "cellwise" keeps each cell by itself: any domain, pointwise gates only; best from three to eight
        dimensions. "tree" lists codes and witnesses by linear programs: any domain, any gates, no vertices and
        volumes; facets are computed at first access. "auto" chooses, the tree where the other engines do not apply;
        `Partition.method` gives the reason.
    keep : {"vertices", "codes"}
        Data kept for regions. "codes" keeps codes, witnesses, neighbours and boundedness, and no vertices and
        volumes: "cellwise" then builds no vertices at the last gate, which from six inputs on takes about half the
        time and a seventh of the memory; "incidence" discards them at its end. "tree" never keeps any.
    budget : Budget, optional
        Regions or seconds after which to stop; see `Budget` for its guarantees. The result then claims LOWER.
        Without limits, the search runs to its end. If the number of regions far exceeds memory, it stops after some
        seconds, and `Partition.note` gives the reason.
    executor : concurrent.futures.Executor, optional
        Runs independent parts, for instance a ``ProcessPoolExecutor`` or ``dask.distributed``'s
        ``client.get_executor()``. For any number of workers the set of regions is the same and their order another
        one; the tree may find other witnesses.
    progress : bool or callable
        Show progress; a function receives the share done, from 0 to 1.
    tolerance : Tolerance, optional
        Resolution and rounding; see `Tolerance`. For a segment the resolution is relative to the power of two below
        its length.
    rounding : {"measured", "proved"}
        Proved bounds on rounding decide nothing at the last gates of deep networks (a ResNet). "measured" measures
        rounding there at two points of the domain, against numbers of a hundred bits, and takes sixteen times the
        largest error as the bound elsewhere: all gates are used, numbers are ESTIMATES, and their method names the
        proved gates. With "proved" signs of the other gates stay undecided; `coarse_partition` uses the proved
        gates alone. Nothing is measured where proofs suffice, where the network is small enough for exact
        arithmetic, or by the engines "cellwise" and "tree".

    Returns
    -------
    Partition
        Claims EXACT, or LOWER with an interval if signs stayed undecided or work stopped early. Every listed region
        exists. Cells that undecided signs made, and that show no region of their own, are not listed;
        ``work["cells_left_out"]`` counts them. If there are too many such cells for exact arithmetic, as in a
        ResNet or with poolings on a constant background, a cell is listed if float64 finds its code again. Numbers
        are then ESTIMATES, and ``work["cells_unconfirmed"]`` counts these cells. The remaining seconds of a budget,
        for deep networks at least a fifth of it, are used to confirm them; `confirm` checks the remaining cells. If
        memory does not suffice, the regions finished so far are returned with ``note="out of memory"``. After
        Ctrl-C they are returned with ``note="interrupted"``; KeyboardInterrupt is raised if there are none yet.

    Raises
    ------
    InputError
        If no engine covers the domain, or an option is unknown.
    DegenerateGeometryError
        If the domain is empty or flat.
    ShapeError
        If the domain's dimension is not the network's number of inputs.

    Notes
    -----
    Cost: about one forward pass per vertex of the result, or by the tree one small linear program per region. The
    piece of a unit on a boundary is that of the strict rule (a ReLU is active iff its pre-activation is positive);
    two regions differ in at least one unit.

    Law: ``partition(net, S)`` equals ``partition(net.restrict(S), S.window)``.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> rs.partition(net, rs.Box(-1, 1, 2))
    Partition(4 regions, EXACT, of box [-1, 1]^2)
    >>> everywhere = rs.partition(net, rs.Space(2))
    >>> everywhere.finding().method, bool(everywhere.is_bounded().any())
    ('gate-by-gate subdivision, cell by cell for an unbounded domain', False)
    >>> bare = rs.partition(net, rs.Space(2), keep="codes")
    >>> bare.has_vertices, bare.adjacency().nnz // 2
    (False, 4)
    """
    effort = Effort.of(budget, executor, progress, tolerance)
    return search_each(network, [domain], RegionSearch(method, keep, rounding), effort)[0]


@held
@read_arguments
@holds_across_jumps
def partitions(
    network: Networks,
    domains: Domain | Sequence[Domain],
    *,
    method: str = "auto",
    keep: Literal["codes", "vertices"] = "vertices",
    budget: RegionBudgetForEach | None = None,
    executor: Executor | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
    rounding: Literal["measured", "proved"] = "measured",
) -> list[Partition]:
    """Return the partition of each of many domains, or by each of many networks, as `partition` would return it.

    Segments of one length go through the network together, which saves most of its forward passes. So do the cells of
    small networks of one shape on one bounded domain: a thousand networks a second and more.

    Parameters
    ----------
    network : Network, list of Network, or stacked layers
        Stacked layers are pairs of weights (k, u, m) and biases (k, u) of k networks with ReLU between them.
    domains : Domain, or sequence of Domain
        At least one; of several networks one for all, or one for each.
    method, keep, executor, progress, tolerance, rounding
        As for `partition`.
    budget : Budget, optional
        For each domain; after Ctrl-C the remaining domains get none.

    Returns
    -------
    list of Partition
        One for each domain or network, in their order. None depends on the others.

    Raises
    ------
    InputError
        If there is no domain; and as `partition`.
    DegenerateGeometryError, ShapeError
        As `partition`.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> across = [rs.Segment([-1.0, height], [1.0, height]) for height in (-0.5, 0.5)]
    >>> [len(part) for part in rs.partitions(net, across)]
    [2, 2]

    Two networks at once, of which the second one has its kink elsewhere:

    >>> two = [([[[1.0]], [[1.0]]], [[0.0], [9.0]]), ([[[1.0]], [[1.0]]], [[0.0], [0.0]])]
    >>> [len(part) for part in rs.partitions(two, rs.Box(-1, 1, 1))]
    [2, 1]
    """
    asked, effort = RegionSearch(method, keep, rounding), Effort.of(budget, executor, progress, tolerance)
    if not isinstance(network, Network):
        return _of_networks(network, domains, asked, effort)
    every = domains if isinstance(domains, Sequence) else [domains]
    if not every:
        raise InputError("domains must hold at least one domain, got none: for one, call `partition`")
    return search_each(network, every, asked, effort)


def _of_networks(
    networks: StackedNetworks | Sequence[Network],
    domains: Domain | Sequence[Domain],
    asked: RegionSearch,
    effort: Effort,
) -> list[Partition]:
    """Return the partitions by several networks: together on one domain, where cells of all can be cut at once."""
    number = len(networks)
    if isinstance(domains, Sequence) and len(domains) != number:
        raise InputError(
            f"domains must be one for all networks or one for each, got {len(domains)} for {number} networks: give a "
            "single domain"
        )
    one = None if isinstance(domains, Sequence) else domains
    is_simplest = asked == RegionSearch() and effort.budget == Budget() and effort.executor is None
    if one is not None and isinstance(networks, StackedNetworks) and is_simplest:
        check_question(networks.first, one, asked.method)
        if isinstance(one, Box | Polyhedron) and are_cut_together(one):
            together = [shown(part) for part in partition_stacked(networks, one, effort)]
            together = [replace(part, method=part.method + in_place(networks.first)) for part in together]
            warn_if_interrupted(together)
            return together
    found: list[Partition] = []
    for index in range(number):
        domain = domains[index] if isinstance(domains, Sequence) else domains
        found += search_each(networks[index], [domain], asked, effort.within(budget_left(effort.budget, found)))
    return found
