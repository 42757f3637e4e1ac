"""The regions of one domain, or several: which engine finds them, and how their budget is shared."""

import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from reluscope.budget import Budget, Interrupted
from reluscope.effort import Effort
from reluscope.errors import DegenerateGeometryError, InputError
from reluscope.findings import Claim
from reluscope.geometry.polyhedra.domains import Domain, Slice
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.interruption import has_struck, held, is_part
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.network import Network
from reluscope.partitions.ask.engine_choice import ENGINES, choose_engine
from reluscope.partitions.ask.engine_costs import Kept
from reluscope.partitions.ask.patience import MAX_KEPT, patient
from reluscope.partitions.complexes.elongated import in_units, sides_of
from reluscope.partitions.doubts.shown_regions import is_deep, max_exact, shown
from reluscope.partitions.doubts.walk_rounding import Rounding
from reluscope.partitions.engines.few_dimensions import of_one_scale, partition_flat, partition_segments, windowed
from reluscope.partitions.engines.listed_corners import with_corners
from reluscope.partitions.engines.many_dimensions import partition_by_tree
from reluscope.partitions.engines.several_dimensions import partition_cellwise, partition_solid
from reluscope.partitions.partition_in_memory import Partition
from reluscope.partitions.streamed_partition import StreamedPartition
from reluscope.stopping import INTERRUPTED, is_interrupted
from reluscope.time_limits import if_in_time, time_limit

# Of seconds, the part in which cells are found, where fractions confirm those in doubt, and where other means have to.
FINDING, FINDING_OF_LARGE, FINDING_OF_WIDE = 0.9, 0.8, 0.6
# From so many words of a code on, codes take longer to put together than cells to be found.
WIDE = 256


class RegionSearch(NamedTuple):
    """How regions are looked for, and what is kept of them."""

    method: str = "auto"
    keep: Kept = "vertices"
    rounding: Rounding = "measured"


@held
def partitioned(
    network: Network, domain: Domain | Partition, effort: Effort, asked: RegionSearch | None = None
) -> Partition:
    """Return the partition of a domain, as `partition` does; of one that is given, that it is of the network."""
    if not isinstance(domain, Partition):
        return search_each(network, [domain], asked or RegionSearch(), effort)[0]
    if domain.fingerprint != network.fingerprint:
        raise InputError("expected a partition of the network up to the gate, got one of another network")
    return domain


def search_each(network: Network, domains: Sequence[Domain], asked: RegionSearch, effort: Effort) -> list[Partition]:
    """Return the partitions of domains one after the other, of segments together."""
    for domain in domains:
        check_question(network, domain, asked.method)
    began, budget = time.time(), effort.budget
    until = None if budget.seconds is None else began + budget.seconds
    found: list[Partition] = []
    if len(domains) > 1 and asked.method in ("auto", "incidence") and all(is_segment(one) for one in domains):
        # Segments cost next to nothing each: those of one scale go together. Other domains are walks of their own.
        slices, parts = [windowed(one) for one in domains], {}
        for rows in of_one_scale(slices):
            group = [slices[row] for row in rows]
            left = budget_left(budget, parts.values())
            with time_limit(left.seconds_allowed):
                walked = partition_segments(network, group, effort.within(walking(left, network)), asked.rounding)
            parts |= dict(zip(rows, (_said_of(part, left) for part in walked), strict=True))
        found = [parts[row] for row in range(len(domains))]
    for one in domains[len(found) :]:
        with time_limit(budget.seconds_allowed):
            limit = patient(budget_left(budget, found), network, one, MAX_KEPT)
            part = cells_found(network, one, effort.within(walking(limit, network)), asked)
        found.append(_said_of(part, limit))
    if asked.keep == "codes":
        found = [_without_vertices(part) for part in found]
    if network.approximations:
        found = [replace(part, method=part.method + in_place(network)) for part in found]
    if any(is_interrupted(part.stop) for part in found):
        until = time.time()  # nobody waits for more to be confirmed
    # Where regions are limited, they decide how many are confirmed, and seconds only end it.
    found = [shown(part, until, only_share=budget.regions is not None) for part in found]
    if has_struck():  # while results were put together
        found = [replace(part, stop=INTERRUPTED) for part in found]
    warn_if_interrupted(found)
    return found


def is_segment(domain: Domain) -> bool:
    """Whether a domain is a bounded line."""
    return domain.dim == 1 and domain.is_bounded()


def check_question(network: Network, domain: Domain, method: str) -> None:
    """Refuse an engine that there is not, and a domain that is not one of the network's inputs or has no interior."""
    if method not in ("auto", *ENGINES):
        raise InputError(
            f"method must be auto, {', '.join(ENGINES[:-1])} or {ENGINES[-1]}, got {method!r}: leave it out to have it "
            "chosen"
        )
    read_domain(domain, network.num_inputs)
    window = domain.window if isinstance(domain, Slice) else domain
    if isinstance(window, Polyhedron) and len(window.C):
        raise DegenerateGeometryError(
            f"the domain must have an interior, got a {window.describe()}: give a Slice of the input space"
        )


def cells_found(
    network: Network, domain: Domain, effort: Effort | None = None, asked: RegionSearch | None = None
) -> Partition:
    """Return what an engine finds, as it finds it: where signs stayed undecided, some cells may be no regions."""
    effort, asked = effort or Effort(), asked or RegionSearch()
    sides = sides_of(domain)
    if sides is not None:
        part = cells_found(network, in_units(domain, sides), effort, asked)
        return replace(part, domain=domain, geometry=part.geometry.scaled(sides))
    engine, reason = choose_engine(network, domain, asked.method, keep=asked.keep)
    if engine == "incidence" and domain.dim <= 2:
        return partition_flat(network, [windowed(domain)], effort, asked.rounding)[0]
    if engine == "tree":
        part = partition_by_tree(network, domain, reason, effort)
        # Other engines would have had vertices.
        is_bare = asked != RegionSearch(rounding=asked.rounding) or not network.jumps
        return part if is_bare else _with_corners_in_time(part, network)
    if engine == "cellwise":
        return partition_cellwise(network, domain, reason, effort, asked.keep == "vertices")
    return partition_solid(network, windowed(domain), reason, effort, asked.rounding)


def _with_corners_in_time(part: Partition, network: Network) -> Partition:
    """Return a partition with its corners, or as it is where Ctrl-C or the clock ends the search for them."""
    try:
        return if_in_time(lambda: with_corners(part, network), part)
    except KeyboardInterrupt:
        return replace(part, stop=part.stop or INTERRUPTED)


def walking(budget: Budget, network: Network) -> Budget:
    """Return what of a budget finding cells may take; the rest joins them, and confirms those in doubt."""
    if budget.seconds is None:
        return budget
    if network.layout.num_words >= WIDE:
        return replace(budget, seconds=FINDING_OF_WIDE * budget.seconds)
    share = FINDING if max_exact(network) and not is_deep(network) else FINDING_OF_LARGE
    return replace(budget, seconds=share * budget.seconds)


def _said_of(part: Partition, whole: Budget) -> Partition:
    """Return a partition whose stop names the budget that was given, not the walk's share of it."""
    return replace(part, stop=part.stop and part.stop.of_seconds(whole.seconds))


def in_place(network: Network) -> str:
    """Return what a partition's method says of pieces that smooth functions were replaced by."""
    said = [
        f"; {gate.num_pieces} pieces in the place of {gate.replaces}, at most {gate.error:.2g} from it"
        for gate in network.approximations
    ]
    return "".join(dict.fromkeys(said))


def _without_vertices(part: Partition) -> Partition:
    return replace(part, geometry=part.geometry.without_corners())


def budget_left(budget: Budget, found: Iterable[Partition]) -> Budget:
    """Return the budget of the next domain: after Ctrl-C none."""
    return Interrupted() if any(is_interrupted(part.stop) for part in found) else budget


def warn_if_interrupted(found: Sequence[Partition | StreamedPartition], remark: str = "") -> None:
    """Warn of an interruption, unless this is a part of other work."""
    if any(is_interrupted(part.stop) for part in found) and not is_part():
        whole = all(part.claim is Claim.EXACT for part in found)
        kept = f"the partition holds the regions finished so far{remark} and claims LOWER"
        # The caller of `partition`, behind `search_each`, what reads its arguments and what holds Ctrl-C.
        warnings.warn(f"interrupted: {'all regions were there already' if whole else kept}", stacklevel=6)
