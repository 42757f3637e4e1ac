"""Partitions of bounded lines and planes: one walk for a plane, or for any number of segments of one scale."""

import time
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

import numpy as np

from reluscope.budget import Interrupted, Remainder
from reluscope.codes.packed import Codes
from reluscope.effort import Effort
from reluscope.geometry.cutting.complexes import from_polygon, from_segments
from reluscope.geometry.polyhedra.domains import Box, Domain, Slice, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.polyhedra.window_shapes import RationalCorners, window_shape
from reluscope.interruption import is_struck
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.network import Network
from reluscope.networks.number_range import check_numbers
from reluscope.partitions.complexes import bends
from reluscope.partitions.complexes.certification import Certifier
from reluscope.partitions.complexes.chunks import EPSILON, Resolution
from reluscope.partitions.complexes.exact_signs import ExactSigns
from reluscope.partitions.complexes.incidence import num_left, walk_chunks
from reluscope.partitions.doubts.shown_regions import max_exact
from reluscope.partitions.doubts.walk_rounding import Rounding, before_walk
from reluscope.partitions.driver.joined_parts import joined_parts
from reluscope.partitions.driver.walk import Store, Walked
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.table.assembly import Patch, assemble, split_by_root
from reluscope.stopping import is_interrupted

METHOD = "gate-by-gate subdivision"
# Outputs are kept where values on the way to them take as many bytes, and as many times those of the outputs.
MIN_BYTES, OUTPUTS = 2**17, 64


def partition_flat(
    network: Network,
    domains: list[Slice | Box],
    effort: Effort,
    rounding: Rounding = "measured",
    *,
    certify: bool = False,
) -> list[Partition]:
    """Partition one plane, or any number of segments, in one walk."""
    began = time.perf_counter()
    walked, length = walk_flat(network, domains, effort, certify=certify, rounding=rounding)
    dim, num_words = domains[0].dim, network.layout.num_words
    found, walked = joined_parts(walked, lambda parts: assemble(parts, dim, num_words, length), attrgetter("roots"))
    regions, roots = found
    work = {**walked.work, "seconds": time.perf_counter() - began}
    undecided = walked.num_undecided + int(regions.num_unmatched)
    num_open = num_left(walked, len(domains))
    parts = [regions] if len(domains) == 1 else split_by_root(regions, roots, len(domains))
    return [
        Partition(
            domain=one,
            codes=Codes(part.words, network.layout),
            geometry=part,
            num_undecided=undecided,
            num_open=int(unfinished),
            num_pending=num_pending(network, int(unfinished)),
            tolerance=effort.tolerance,
            certified=certify,
            fingerprint=network.fingerprint,
            network=network,
            stop=walked.stop if unfinished else None,
            work=work,
            method=METHOD,
        )
        for one, part, unfinished in zip(domains, parts, num_open, strict=True)
    ]


def certified_flat(part: Partition, network: Network, effort: Effort) -> Partition:
    """Return a partition of a line or plane walked again with exact signs.

    Signs of the first walk rest on measured rounding: none is kept. Fractions take all cells together: where the time
    ends before, what floats found is returned, LOWER.
    """
    found = partition_flat(network, [windowed(part.domain)], effort, certify=True)[0]
    if found.stop is None:
        return found
    # Doubt without bound: floats may have missed regions.
    return replace(part, num_undecided=max(1, part.num_undecided), stop=found.stop)


def partition_segments(
    network: Network,
    segments: Sequence[Slice | Box],
    effort: Effort,
    rounding: Rounding = "measured",
) -> list[Partition]:
    """Partition segments of one scale in few walks, each as if it were alone.

    Bounds on rounding and doubts are a whole walk's; without doubts no segment has any. After doubts, or if a budget of
    regions ended the walk, segments are walked again in smaller walks, or each alone.
    """
    found: dict[int, Partition] = {}
    budget, is_left = effort.budget, False  # by Ctrl-C, which one walk has answered for all
    until = None if budget.seconds is None else time.time() + budget.seconds

    def is_over() -> bool:
        return is_left or is_struck() or (until is not None and time.time() >= until)

    def walk(rows: range) -> None:
        nonlocal is_left
        if is_over() and rows[0] in found:
            return
        left = Interrupted() if is_left else budget if until is None else Remainder.of(budget, until)
        own = replace(effort, budget=left, progress=effort.progress if len(rows) == len(segments) else False)
        group = [segments[row] for row in rows]
        # Measured rounding leaves doubts, too: it is for segments alone.
        how = rounding if len(rows) == 1 else "proved"
        parts = partition_flat(network, group, own, how)
        is_left |= any(is_interrupted(part.stop) for part in parts)
        # Where time ends a walk of few, what was found together is whole.
        if rows[0] not in found or not is_over() or not any(part.num_open for part in parts):
            found.update(zip(rows, parts, strict=True))

    def is_settled(rows: range) -> bool:
        return not any(found[row].num_undecided or found[row].num_open for row in rows)

    def together(rows: range) -> None:
        if rows:
            walk(rows)
        if len(rows) > 1 and not is_settled(rows):
            apart(rows)

    def apart(rows: range) -> None:
        first, others = rows[:1], rows[1:]
        walk(first)
        middle = len(others) // 2
        if is_settled(first):
            together(others[:middle])
            together(others[middle:])
        else:
            for row in others:
                walk(range(row, row + 1))

    everything = range(len(segments))
    # Nearly every segment through a very large network has doubts of its own: a walk of all would be for nothing.
    (together if max_exact(network) else apart)(everything)
    return [found[row] for row in everything]


def walk_flat(
    network: Network,
    domains: list[Slice | Box],
    effort: Effort,
    *,
    certify: bool = False,
    store: Store | None = None,
    rounding: Rounding = "measured",
) -> tuple[Walked, float]:
    """Take one plane, or any number of segments, through a network; return the walk and a length.

    Ends of facets closer than the length are the same point. The walk's parts are `Patch`, unless ``store`` takes them.
    """
    dim = domains[0].dim
    corners = [_corners(one) for one in domains]
    cells = from_polygon(len(corners[0])) if dim == 2 else from_segments(len(domains))
    together = RationalCorners.together(corners)
    points = together.points
    lifted = [
        one.lift(where.points) if isinstance(one, Slice) else where.points
        for one, where in zip(domains, corners, strict=True)
    ]
    inputs = network.points(np.concatenate(lifted))
    resolution = Resolution.of(effort.tolerance, min(map(_diameter, corners)))
    measured, effort = (None, effort) if certify else before_walk(network, domains[0], effort, rounding)
    with effort.counting("partition") as counted:
        walked = walk_chunks(
            network,
            cells,
            together,
            inputs,
            resolution,
            finish=Patch.of,
            store=store,
            effort=counted,
            certifier=Certifier(RationalNetwork(network), domains[0]) if certify else None,
            exact_signs=None if certify else ExactSigns(network, domains),
            rounding=measured,
            keeps_outputs=store is None and not certify and keeps_outputs(network),
            combines=dim == 2 and not certify and bends.pay(network),
        )
    return walked, 16 * max(resolution.length, EPSILON * float(np.abs(points).max()))


def keeps_outputs(network: Network) -> bool:
    """Tell whether outputs at vertices are kept: where a forward pass costs much, and they take little beside it."""
    least = max(MIN_BYTES, 8 * OUTPUTS * network.num_outputs)
    return bool(network.gates) and network.bytes_per_point >= least


def num_pending(network: Network, num_open: int) -> int:
    """Return how many open cells are sure to hold a region of their own.

    A cell left open may be one more piece of a region found already if cuts of max gates are merged in the end.
    """
    return 0 if any(isinstance(stage.gate, Max) for stage in network.stages) else num_open


def of_one_scale(domains: Sequence[Slice | Box]) -> list[list[int]]:
    """Group segments of one resolution whose inputs are alike: thresholds of a walk are those of all its segments."""
    groups: dict[tuple[float, int], list[int]] = {}
    for row, one in enumerate(domains):
        corners = _corners(one)
        inputs = one.lift(corners.points) if isinstance(one, Slice) else corners.points
        scale = int(np.frexp(float(np.abs(inputs).max()))[1]) // 8
        groups.setdefault((_diameter(corners), scale), []).append(row)
    return list(groups.values())


def windowed(domain: Domain) -> Slice | Box:
    """Return a bounded polyhedron as a slice with that window; boxes and slices as they are."""
    if isinstance(domain, Slice | Box):
        return domain
    assert isinstance(domain, Polyhedron)
    return Slice(np.zeros(domain.dim), np.eye(domain.dim), domain)


def _diameter(corners: RationalCorners) -> float:
    """Return the diameter of a window, of a segment the power of two below: then those nearly as long go together."""
    diameter = float(np.linalg.norm(np.ptp(corners.points, axis=0)))
    return diameter if corners.points.shape[1] > 1 else float(np.ldexp(0.5, int(np.frexp(diameter)[1])))


def _corners(domain: Slice | Box) -> RationalCorners:
    """Corners of the window in domain coordinates, in cyclic order."""
    window = domain.window if isinstance(domain, Slice) else domain
    assert not isinstance(window, Space)  # it is bounded
    found = RationalCorners.of_box(window) if isinstance(window, Box) else window_shape(window).corners
    check_numbers("in the domain", np.abs(found.points).max(axis=0))
    return found
