"""`partition`: the exact regions of a network on a domain, from one call that chooses the engine."""

import time
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import overload

from reluscope.arguments import read_arguments
from reluscope.budget import INTERRUPTED, Budget, Interrupted, RegionBudget
from reluscope.errors import DegenerateGeometryError, InputError
from reluscope.findings import Claim
from reluscope.geometry.domains import Domain, Slice
from reluscope.geometry.polyhedron import Polyhedron
from reluscope.interruption import has_struck, held
from reluscope.networks.choices import read_domain
from reluscope.networks.network import Network
from reluscope.partitions.cellwise import supports
from reluscope.partitions.certified import certified
from reluscope.partitions.engine_costs import cheapest
from reluscope.partitions.few_dimensions import METHOD, of_one_scale, partition_flat, windowed
from reluscope.partitions.many_dimensions import partition_by_tree
from reluscope.partitions.patience import MAX_KEPT, patient
from reluscope.partitions.several_dimensions import partition_cellwise, partition_solid
from reluscope.partitions.shown_regions import shown
from reluscope.partitions.table import Partition
from reluscope.progress import Progress
from reluscope.tolerance import Tolerance


@overload
def partition(
    network: Network,
    domain: Domain,
    *,
    method: str = ...,
    budget: RegionBudget | None = ...,
    executor: Executor | None = ...,
    tolerance: Tolerance | None = ...,
    progress: Progress = ...,
    certify: bool = ...,
) -> Partition: ...
@overload
def partition(
    network: Network,
    domain: Sequence[Slice],
    *,
    method: str = ...,
    budget: RegionBudget | None = ...,
    executor: Executor | None = ...,
    tolerance: Tolerance | None = ...,
    progress: Progress = ...,
    certify: bool = ...,
) -> list[Partition]: ...
@held
@read_arguments
def partition(
    network: Network,
    domain: Domain | Sequence[Slice],
    *,
    method: str = "auto",
    budget: RegionBudget | None = None,
    executor: Executor | None = None,
    tolerance: Tolerance | None = None,
    progress: Progress = False,
    certify: bool = False,
) -> Partition | list[Partition]:
    """Find all full-dimensional activation regions of a network on a domain, exactly.

    Parameters
    ----------
    network : Network
    domain : Slice, Box, Space, Polyhedron, or a list of slices
        A slice of any network (`Segment`, `Plane`), or a domain in the input space of a network with few inputs. Of a
        list of slices each is partitioned; segments are taken together.
    method : {"auto", "incidence", "cellwise", "tree"}
        The engine. "incidence" keeps all faces and shares vertices: bounded domains, best up to three dimensions.
        "cellwise" keeps each cell by itself: any domain, best from four to eight dimensions, pointwise gates only.
        "tree" lists codes and witnesses by linear programs: any domain, any gates, no vertices and volumes; facets are
        found when first asked for. "auto" chooses, the tree where the others do not reach, and `Partition.method` says
        why.
    budget : Budget, optional
        Regions or seconds after which to stop; see `Budget` for what it promises. The result then claims LOWER. Without
        limits, work goes on to its end, unless there turn out to be far more regions than memory holds: it then stops
        after some seconds, and `Partition.note` says about how many there are.
    executor : concurrent.futures.Executor, optional
        Runs independent parts, for instance a ``ProcessPoolExecutor`` or ``dask.distributed``'s
        ``client.get_executor()``.
    tolerance : Tolerance, optional
        Resolution and rounding; see `Tolerance`. Of several segments the shortest sets the resolution.
    progress : bool or callable
        Show how much of the work is done; a function is told the share, from 0 to 1.
    certify : bool
        Decide every doubtful sign in rational arithmetic: the count is then that of the network with its float64
        constants taken as rationals, at resolution 0, slivers thinner than float64 can show included, and
        `Partition.certificate` proves it. For small networks: on lines and planes every doubtful vertex costs an exact
        evaluation; in more dimensions every region is computed exactly, in some milliseconds for a few dozen units.

    Returns
    -------
    Partition, or a list of them
        Claims EXACT, or LOWER with an interval if signs stayed undecided or work stopped early. Every region that is
        listed is there: cells that undecided signs made, and that show no region of their own, are left out, and
        ``work["cells_left_out"]`` counts them. Where memory does not suffice, the regions finished so far are returned
        with ``note="out of memory"``. Ctrl-C keeps them, too: wherever it falls, they are returned with
        ``note="interrupted"``, or KeyboardInterrupt is raised where there is nothing yet.

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
    piece of a unit on a boundary is that of the strict rule (a ReLU is active iff its pre-activation is positive); two
    regions differ in at least one unit.

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
    """
    if method not in ("auto", *ENGINES):
        raise InputError(
            f"method must be auto, {', '.join(ENGINES[:-1])} or {ENGINES[-1]}, got {method!r}: leave it out to have it "
            "chosen"
        )
    several = isinstance(domain, Sequence)
    domains: list[Domain] = list(domain) if isinstance(domain, Sequence) else [domain]
    if several and not (domains and all(isinstance(one, Slice) for one in domains)):
        raise InputError("a list of domains must hold at least one slice, and nothing but slices")
    for one in domains:
        read_domain(one, network.num_inputs)
        window = one.window if isinstance(one, Slice) else one
        if isinstance(window, Polyhedron) and len(window.C):
            raise DegenerateGeometryError(
                f"the domain must have an interior, got a {window.describe()}: give a Slice of the input space"
            )
    budget, tolerance = budget or Budget(), tolerance or Tolerance()
    if certify:
        tolerance = replace(tolerance, resolution=0.0)
    found: list[Partition] = []
    if several and not certify and method in ("auto", "incidence") and all(one.dim == 1 for one in domains):
        # Segments cost next to nothing each: those of one scale go together. Other domains are walks of their own.
        slices, parts = [windowed(one) for one in domains], {}
        for rows in of_one_scale(slices):
            group = [slices[row] for row in rows]
            left = _left(budget, parts.values())
            walked = partition_flat(network, group, left, executor, tolerance, progress, certify)
            parts |= dict(zip(rows, walked, strict=True))
        found = [parts[row] for row in range(len(domains))]
    for one in domains[len(found) :]:
        began = time.time()
        engine, reason = _engine(network, one, method, certify)
        limit = patient(_left(budget, found), network, one, MAX_KEPT)
        if engine == "incidence" and one.dim <= 2:
            found += partition_flat(network, [windowed(one)], limit, executor, tolerance, progress, certify)
            continue
        if engine == "tree":
            part = partition_by_tree(network, one, reason, limit, executor, tolerance, progress)
        elif engine == "cellwise":
            part = partition_cellwise(network, one, reason, limit, executor, tolerance, progress)
        else:
            part = partition_solid(network, windowed(one), reason, limit, executor, tolerance, progress)
        found.append(certified(part, limit, began) if certify else part)
    found = [shown(part) for part in found]
    if has_struck():  # while results were put together
        found = [replace(part, note=INTERRUPTED) for part in found]
    if any(part.note == INTERRUPTED for part in found):
        what = "the regions finished so far" + (", without certificate," if certify else "")
        whole = all(part.claim is Claim.EXACT for part in found)
        holds = "all regions were there already" if whole else f"the partition holds {what} and claims LOWER"
        warnings.warn(f"interrupted: {holds}", stacklevel=3)
    return found if several else found[0]


ENGINES = ("incidence", "cellwise", "tree")
# Vertices of cells grow exponentially with the dimension: up to here engines that keep them are chosen, fewer with max
# gates, which need all faces; up to ten on demand.
MAX_VERTICES, MAX_VERTICES_WITH_MAX_GATES, MAX_DIMENSIONS = 8, 5, 10


def _engine(network: Network, domain: Domain, method: str, certify: bool) -> tuple[str, str]:
    """Return the engine for a domain, and what the partition says of its method.

    Raises
    ------
    InputError
        If the engine asked for does not cover the domain.
    """
    bounded = domain.is_bounded()
    max_gates = supports(network)
    if certify and (not bounded or domain.dim > MAX_DIMENSIONS):
        raise InputError(
            f"certify=True works on bounded domains of at most {MAX_DIMENSIONS} dimensions, got {domain.describe()}: "
            "give a Segment, a Plane or a small Box"
        )
    too_many = f"{domain.dim} dimensions" if domain.dim > MAX_DIMENSIONS else None
    unbounded = None if bounded else "an unbounded domain"
    both = " with ".join(part for part in (unbounded, max_gates) if part)
    # Why an engine that works on vertices cannot be used.
    against = {"incidence": too_many or unbounded, "cellwise": too_many or (both if max_gates else None), "tree": None}
    if method == "auto":
        most = MAX_VERTICES_WITH_MAX_GATES if max_gates else MAX_VERTICES
        keeping = [engine for engine, reason in against.items() if not reason and engine != "tree" and domain.dim <= most]
        # Lines and planes are drawn with their edges, which only shared faces know.
        is_drawn = "incidence" in keeping and domain.dim <= 2
        method = "incidence" if is_drawn else cheapest(keeping, network, domain) if keeping else "tree"
        because = f"{domain.dim} dimensions" if bounded or domain.dim > MAX_VERTICES else unbounded
        because = f"for {because} with {max_gates}" if max_gates else f"for {because}"
    elif against[method]:
        raise InputError(
            f"method={method!r} does not cover {against[method]}, got {domain.describe()}: leave method out to have "
            "one chosen that does"
        )
    else:
        because = "as asked for"
    if method == "incidence":
        return method, METHOD + (f", all faces kept for {max_gates}" if domain.dim > 3 and max_gates else "")
    how = f"{METHOD}, cell by cell" if method == "cellwise" else "tree of linear programs"
    return method, f"{how} {because}"


def _left(budget: Budget, found: Iterable[Partition]) -> Budget:
    """Return the budget of the next domain: after Ctrl-C none."""
    return Interrupted() if any(part.note == INTERRUPTED for part in found) else budget
