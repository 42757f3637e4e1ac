"""All of a domain by the first gates of a network, where there is no time for all gates."""

import time
from dataclasses import replace
from typing import Literal

from reluscope.arguments import read_arguments
from reluscope.budget import Budget, RegionBudget
from reluscope.errors import InputError
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.network import Network
from reluscope.networks.truncation import up_to_gate
from reluscope.partitions.ask.dispatch import partition
from reluscope.partitions.partition_in_memory import Partition
from reluscope.stopping import INTERRUPTED, is_interrupted


@read_arguments
def coarse_partition(
    network: Network, domain: Domain, budget: RegionBudget, *, rounding: Literal["measured", "proved"] = "measured"
) -> Partition:
    """Partition a domain by as many of the first gates of a network as a budget allows.

    Every region of the network lies in one region of its first gates. If a partition stops early, it covers a part
    of the domain; the coarse partition covers all of it.

    Parameters
    ----------
    network : Network
    domain : Slice, Box, Space or Polyhedron
    budget : Budget
        Regions of the partition, seconds for all tries together, or both.
    rounding : {"measured", "proved"}
        "proved" uses only gates that proved bounds on rounding decide: in deep networks the first ones. Otherwise
        as in `reluscope.partition`.

    Returns
    -------
    Partition
        Partition of the network up to a gate (its ``network``, whose outputs are those of that gate); the number of
        gates is ``len(part.codes.layout)``. It is finished, unless the budget does not suffice for the first gate.
        With all gates it is the partition itself. Ctrl-C ends the search and sets ``note="interrupted"``.

    Raises
    ------
    InputError
        If the budget has no limit, or the network has no gate.
    DegenerateGeometryError, ShapeError
        As `reluscope.partition`.

    Notes
    -----
    The number of gates is doubled, then narrowed down. Each try costs a partition by its gates.

    Examples
    --------
    >>> import reluscope as rs
    >>> from reluscope.testing import default_network
    >>> net = rs.load(default_network([2, 32, 32, 32, 1]))
    >>> part = rs.coarse_partition(net, rs.Box(-1, 1, 2), rs.Budget(regions=400))
    >>> len(part.codes.layout), len(part), part.claim
    (1, 161, <Claim.EXACT: 'EXACT'>)
    """
    read_domain(domain, network.num_inputs)
    if budget.regions is None and budget.seconds is None:
        raise InputError("budget must have a limit, got none: give rs.Budget(regions=1000), or seconds")
    if not network.gates:
        raise InputError("expected a network with gates, got an affine one: it has one region")
    began = time.time()
    most = None if budget.regions is None else budget.regions + 1

    def by_first(number: int) -> Partition:
        left = max(0.0, budget.seconds_allowed - (time.time() - began))
        return partition(
            up_to_gate(network, number - 1), domain, budget=Budget(regions=most, seconds=left), rounding=rounding
        )

    best, done, failed = by_first(1), 1, len(network.gates) + 1
    while failed - done > 1 and not best.num_open and time.time() - began < budget.seconds_allowed:
        tried = min(2 * done, (done + failed) // 2)
        part = by_first(tried)
        if is_interrupted(part.stop):
            return replace(best, stop=INTERRUPTED)
        is_open = part.num_open or (rounding == "proved" and part.num_undecided)
        if is_open or len(part) > budget.room(0):
            failed = tried
        else:
            best, done = part, tried
    return best
