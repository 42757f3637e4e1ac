"""Counts of all six definitions from a partition: exact on lines and planes, and as intervals beyond."""

import time
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from reluscope.analyses.counting.connected import closed_components, open_components
from reluscope.analyses.counting.convex import convex_cells
from reluscope.analyses.counting.counted import Counted
from reluscope.analyses.counting.definitions import DEFINITIONS, Definition
from reluscope.analyses.counting.exact_complex import ExactComplex
from reluscope.analyses.counting.lower_faces import face_codes
from reluscope.analyses.counting.same_maps import SameMaps, same_maps
from reluscope.budget import Budget, Remainder
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.findings import Finding
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.network import Network
from reluscope.partitions.ask.certify import certify, check_certifiable
from reluscope.partitions.ask.enclosing_windows import enclosing_window
from reluscope.partitions.ask.region_search import RegionSearch, partitioned
from reluscope.partitions.partition_in_memory import Partition
from reluscope.stopping import Stop, is_interrupted, words_of

INFINITY = float("inf")


class _Count(NamedTuple):
    """The truth lies from ``low`` to ``high``."""

    low: int
    high: float
    num_undecided: int = 0
    method: str = ""
    stop: Stop | None = None


def count_by_partition(
    network: Network,
    domain: Domain,
    definition: Definition = DEFINITIONS["proper_activation"],
    effort: Effort | None = None,
    *,
    in_floats: bool = False,
    with_proof: bool = False,
) -> Counted:
    """Count regions from a partition of the domain.

    EXACT on lines, and on planes except convex; otherwise LOWER with its interval. On bounded lines and planes other
    definitions than proper activation are in rational arithmetic unless ``in_floats``.
    """
    began = time.time()
    effort = effort or Effort()
    budget, name = effort.budget, definition.name
    if with_proof:
        check_certifiable(network, domain)

    def proved(part: Partition, *, if_asked: bool) -> Partition:
        left = budget if budget.seconds is None else Remainder.of(budget, began + budget.seconds)
        return certify(part, budget=left) if if_asked and not part.num_open else part

    if name == "proper_activation":
        # A count needs no vertices.
        part = partitioned(network, domain, effort, RegionSearch(keep="codes"))
        part = proved(part, if_asked=with_proof)
        return Counted(part.finding(), part.stop)
    if name == "activation" and domain.dim > 2:
        raise InputError(
            f"from a partition, activation regions of lower dimension are counted on lines and planes, got "
            f'{domain.describe()}: take method="tree", or definition="proper_activation"'
        )
    flat = domain.dim <= 2
    bounded = domain.is_bounded()
    part = partitioned(network, domain, effort)
    exactly = flat and bounded and not in_floats
    if exactly and not part.num_open and is_interrupted(part.stop):
        # All regions, but with nothing certified there is no telling what vanishes.
        part = replace(part, num_undecided=max(1, part.num_undecided))
    else:
        part = proved(part, if_asked=exactly or with_proof)
    stopped = part.stop
    whole = not part.num_open
    if (
        flat
        and not bounded
        and whole
        and part.has_vertices
        and (name == "activation" or (name == "convex" and domain.dim == 2))
    ):
        alone = Effort(budget, tolerance=effort.tolerance)
        inner = proved(partitioned(network, enclosing_window(part), alone), if_asked=not in_floats)
        stopped = stopped or inner.stop
        if len(inner) == len(part) and not inner.num_open:
            part, bounded = inner, True
    found = _count(part, name, flat and bounded and whole, Effort(Budget(seconds=budget.seconds), began=began))
    work = {**part.work, "seconds": time.time() - began}
    method = part.method + (", certified by rational arithmetic" if part.certified else "") + found.method
    finding = Finding.of(
        found.low,
        upper=found.high,
        resolution=part.tolerance.resolution,
        name="regions",
        definition=definition.regions,
        domain=domain.describe(),
        method=method,
        source="stargalla2025",
        num_undecided=part.num_undecided + found.num_undecided,
        work=work,
    )
    return Counted(finding, stopped or found.stop)


def _count(part: Partition, name: str, planar: bool, effort: Effort) -> _Count:
    """Count on a partition, allowing for what is missing from it."""
    if name == "activation":
        if part.num_open or not planar:
            return _Count(int(part.finding()), INFINITY)
        faces = face_codes(ExactComplex(part))
        low = len(faces.codes)
        doubtful = faces.num_undecided or part.num_undecided
        return _Count(
            low, INFINITY if part.num_undecided else low + faces.num_undecided, doubtful, ", codes of all faces"
        )
    maps = same_maps(part, effort)
    fewest, _ = maps.interval
    because = f", comparison of maps stopped early ({words_of(maps.stop)})" if maps.stop else ""
    if part.num_open or part.num_undecided:
        # One undecided sign may hide many regions.
        return _Count(fewest, INFINITY, maps.num_undecided, ", different affine maps among those found" + because)
    found = _OF[name](part, maps, planar)
    return found._replace(
        num_undecided=found.num_undecided + maps.num_undecided,
        method=f", affine maps compared exactly{found.method}{because}",
        stop=maps.stop,
    )


def _affine(part: Partition, maps: SameMaps, planar: bool) -> _Count:
    del part, planar
    return _Count(*maps.interval)


def _open_connected(part: Partition, maps: SameMaps, planar: bool) -> _Count:
    del planar
    fewest, most = (len(np.unique(open_components(part, labels))) for labels in (maps.possible, maps.certain))
    if open_ones := part.facet_columns.num_unmatched:  # regions that seem to be apart may share a facet
        return _Count(maps.interval[0], most, int(open_ones))
    return _Count(fewest, most)


def _closed_connected(part: Partition, maps: SameMaps, planar: bool) -> _Count:
    is_open = _open_connected(part, maps, planar)
    if part.dim == 1:
        return is_open  # on a line, what touches shares a facet
    least = maps.interval[0]
    if not planar or maps.num_undecided or least == is_open.high:
        return _Count(least, is_open.high)
    closed = closed_components(ExactComplex(part), maps.certain)
    number = len(np.unique(closed.labels))
    return _Count(least if closed.num_undecided else number, number, closed.num_undecided)


def _convex(part: Partition, maps: SameMaps, planar: bool) -> _Count:
    is_open = _open_connected(part, maps, planar)
    if part.dim == 1:
        return is_open  # on a line, what is connected is convex
    if not planar or maps.num_undecided or is_open.low == len(part):
        return _Count(is_open.low, len(part))
    complex_ = ExactComplex(part)
    low, high = convex_cells(complex_, maps.certain)
    if complex_.num_blurred:
        return _Count(is_open.low, len(part), complex_.num_blurred)
    return _Count(low, high, method=", cells of a complex merged while it stays one")


_OF = {
    "affine": _affine,
    "closed_connected": _closed_connected,
    "open_connected": _open_connected,
    "convex": _convex,
}
