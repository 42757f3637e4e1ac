"""`partition`: the exact regions of a network on a line or a plane, from one call."""

import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from typing import overload

import numpy as np

from reluscope.codes.packed import Codes
from reluscope.errors import InputError, ShapeError
from reluscope.findings import Claim
from reluscope.geometry.complexes import from_polygon, from_segments
from reluscope.geometry.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedron import Polyhedron
from reluscope.networks.network import Network
from reluscope.partitions.assembly import Patch, assemble, split_by_root
from reluscope.partitions.certification import Certifier
from reluscope.partitions.chunks import EPSILON, Resolution
from reluscope.partitions.engine import Budget, Report, walk
from reluscope.partitions.table import Partition
from reluscope.tolerance import Tolerance


@overload
def partition(
    network: Network,
    domain: Domain,
    *,
    method: str = ...,
    budget: Budget | int | None = ...,
    executor: Executor | None = ...,
    tolerance: Tolerance | None = ...,
    progress: bool = ...,
    certify: bool = ...,
) -> Partition: ...
@overload
def partition(
    network: Network,
    domain: Sequence[Slice],
    *,
    method: str = ...,
    budget: Budget | int | None = ...,
    executor: Executor | None = ...,
    tolerance: Tolerance | None = ...,
    progress: bool = ...,
    certify: bool = ...,
) -> list[Partition]: ...
def partition(
    network: Network,
    domain: Domain | Sequence[Slice],
    *,
    method: str = "auto",
    budget: Budget | int | None = None,
    executor: Executor | None = None,
    tolerance: Tolerance | None = None,
    progress: bool = False,
    certify: bool = False,
) -> Partition | list[Partition]:
    """Find all full-dimensional activation regions of a network on a line or a plane, exactly.

    Parameters
    ----------
    network : Network
    domain : Slice, Box, bounded Polyhedron, or a list of slices
        One or two dimensions: a slice of any network (`Segment`, `Plane`), or a box in the input space of a network
        with one or two inputs. Of a list of slices each is partitioned; segments are taken together.
    method : {"auto", "incidence"}
        The engine; "auto" chooses.
    budget : Budget or int, optional
        Stop early; a number means regions. The result then claims LOWER.
    executor : concurrent.futures.Executor, optional
        Runs independent parts, for instance a ``ProcessPoolExecutor`` or ``dask.distributed``'s
        ``client.get_executor()``.
    tolerance : Tolerance, optional
        Resolution and rounding; see `Tolerance`. Of several segments the shortest sets the resolution.
    progress : bool
        Show the share of the domain that is done.
    certify : bool
        Decide every doubtful sign in rational arithmetic: the count is then that of the network with its float64
        constants taken as rationals, at resolution 0, slivers thinner than float64 can show included. For small
        networks: every doubtful vertex costs an exact evaluation.

    Returns
    -------
    Partition, or a list of them
        Claims EXACT, or LOWER with an interval if signs stayed undecided or work stopped early. Ctrl-C keeps the
        regions finished so far.

    Raises
    ------
    InputError
        If the domain has more than two dimensions or is unbounded, or an option is unknown.
    ShapeError
        If the domain's dimension is not the network's number of inputs.

    Notes
    -----
    Cost: about one forward pass per vertex of the result. The piece of a unit on a boundary is that of the strict
    rule (a ReLU is active iff its pre-activation is positive); two regions differ in at least one unit.

    Law: ``partition(net, S)`` equals ``partition(net.restrict(S), S.window)``.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> rs.partition(net, rs.Box(-1, 1, 2))
    Partition(4 regions, EXACT, of box [-1, 1]^2)
    """
    if method not in ("auto", "incidence"):
        raise InputError(f'method must be "auto" or "incidence", got {method!r}')
    several = isinstance(domain, Sequence)
    domains: list[Slice | Box] = list(domain) if isinstance(domain, Sequence) else [_windowed(domain)]
    if several and not (domains and all(isinstance(one, Slice) for one in domains)):
        raise InputError("a list of domains must hold at least one slice, and nothing but slices")
    for one in domains:
        _check_domain(network, one)
    tolerance = Tolerance() if tolerance is None else tolerance
    if certify:
        tolerance = replace(tolerance, resolution=0.0)
    budget = budget if isinstance(budget, Budget) else Budget(regions=budget)
    # Segments cost next to nothing each, so they go together; every plane is a walk of its own.
    together = not certify and all(one.dim == 1 for one in domains)
    found: list[Partition] = []
    for group in [domains] if together else [[one] for one in domains]:
        found.extend(_partition_together(network, group, budget, executor, tolerance, progress, certify))
    return found if several else found[0]


def _partition_together(
    network: Network,
    domains: list[Slice | Box],
    budget: Budget,
    executor: Executor | None,
    tolerance: Tolerance,
    progress: bool,
    certify: bool,
) -> list[Partition]:
    """Partition one plane, or any number of segments, in one walk."""
    began = time.perf_counter()
    dim = domains[0].dim
    corners = [_corners(one) for one in domains]
    cells = from_polygon(len(corners[0])) if dim == 2 else from_segments(len(domains))
    points = np.concatenate(corners)
    lifted = [one.lift(where) if isinstance(one, Slice) else where for one, where in zip(domains, corners, strict=True)]
    inputs = network.points(np.concatenate(lifted))
    diameter = min(float(np.linalg.norm(np.ptp(where, axis=0))) for where in corners)
    resolution = Resolution.of(tolerance, diameter)
    total = sum(_measure(where) for where in corners)
    with _reporting(progress, total) as report:
        run = walk(
            network,
            cells,
            points,
            inputs,
            resolution,
            budget=budget,
            executor=executor,
            report=report,
            certifier=Certifier(network, domains[0]) if certify else None,
        )
    if run.stopped == "interrupted":
        warnings.warn("interrupted: the partition holds the regions finished so far and claims LOWER", stacklevel=4)
    coincident = 16 * max(resolution.length, EPSILON * float(np.abs(points).max()))
    mosaic = assemble(run.patches, dim, network.layout.num_words, coincident)
    run.work["seconds"] = time.perf_counter() - began
    undecided = run.num_undecided + int(mosaic.num_unmatched)
    num_open = run.num_open(len(domains))
    parts = [mosaic] if len(domains) == 1 else split_by_root(mosaic, len(domains))
    return [
        Partition(
            one,
            Codes(part.words, network.layout),
            part,
            Claim.LOWER if unfinished or undecided else Claim.EXACT,
            undecided,
            int(unfinished),
            tolerance,
            certify,
            network.fingerprint,
            network,
            run.stopped if unfinished else "",
            run.work,
        )
        for one, part, unfinished in zip(domains, parts, num_open, strict=True)
    ]


def _windowed(domain: Domain) -> Slice | Box:
    """Return a polyhedron as a slice with that window; boxes and slices as they are."""
    if isinstance(domain, Slice | Box):
        return domain
    if isinstance(domain, Polyhedron):
        return Slice(np.zeros(domain.dim), np.eye(domain.dim), domain)
    if isinstance(domain, Space):
        raise InputError(
            f"partition works on bounded domains so far, got {domain.describe()}: give a Box, a Segment or a Plane"
        )
    raise InputError(f"domain must be a Slice, Box or Polyhedron (or a list of slices), got {type(domain).__name__}")


def _check_domain(network: Network, domain: Slice | Box) -> None:
    if domain.ambient_dim != network.num_inputs:
        raise ShapeError(
            f"the domain lies in {domain.ambient_dim} dimensions, but the network has {network.num_inputs} inputs: "
            "build it from points of the network's input space"
        )
    if domain.dim > 2:
        raise InputError(
            f"partition works in one and two dimensions so far, got {domain.describe()}: look at it on a "
            "Segment(a, b) or a Plane(a, b, c)"
        )


def _corners(domain: Slice | Box) -> np.ndarray:
    """Corners of the window in domain coordinates, in cyclic order."""
    window = domain.window if isinstance(domain, Slice) else domain
    if isinstance(window, Box):
        return window.corners()
    corners = window.vertices()
    if window.dim == 1:
        return np.sort(corners, axis=0)
    towards = corners - corners.mean(axis=0)
    return corners[np.argsort(np.arctan2(towards[:, 1], towards[:, 0]))]


def _measure(corners: np.ndarray) -> float:
    """Length of a segment or area of a polygon."""
    if corners.shape[1] == 1:
        return float(np.ptp(corners))
    x, y = corners.T
    return float(np.abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


@contextmanager
def _reporting(progress: bool, total: float) -> Iterator[Report | None]:
    """Yield a callable that shows the share of the domain that finished patches cover, or None."""
    if not progress:
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("partition"),
        BarColumn(),
        TextColumn("{task.fields[regions]:,} regions"),
        TimeRemainingColumn(),
    )
    with Progress(*columns) as bar:
        task = bar.add_task("partition", total=total, regions=0)
        regions = 0

        def report(patch: Patch) -> None:
            nonlocal regions
            regions += len(patch.roots)
            bar.update(task, advance=patch.volume, regions=regions)

        yield report
