"""`certify`: the same regions with every doubtful sign decided in rational arithmetic, and a certificate for them."""

from dataclasses import replace

from reluscope.arguments import read_arguments
from reluscope.budget import Budget
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.interruption import has_struck, held
from reluscope.networks.network import Network
from reluscope.partitions.ask.engine_choice import MAX_DIMENSIONS
from reluscope.partitions.ask.region_search import warn_if_interrupted
from reluscope.partitions.engines.certified_regions import certified
from reluscope.partitions.engines.few_dimensions import certified_flat
from reluscope.partitions.partition_in_memory import Partition
from reluscope.progress import Progress
from reluscope.stopping import INTERRUPTED


@held
@read_arguments
def certify(part: Partition, *, budget: Budget | None = None, progress: Progress = False) -> Partition:
    """Return the partition with every doubtful sign decided in rational arithmetic, and with its certificate.

    Parameters
    ----------
    part : Partition
        Complete, of a domain of at most ten dimensions, bounded or not, with its network.
    budget : Budget, optional
        Seconds after which to stop. The regions of ``part`` are then returned without certificate, and claim LOWER.
    progress : bool or callable
        As for `partition`; of bounded lines and planes alone.

    Returns
    -------
    Partition
        Exactly the regions of the network with its float64 constants taken as rationals, at resolution 0; they
        include slivers thinner than float64 can show. `Partition.certificate` proves them, and they claim EXACT.

    Raises
    ------
    InputError
        If the partition is not complete, its network is missing or has gates that jump, or the domain has more than
        ten dimensions.

    Notes
    -----
    Cost: for small networks. On bounded lines and planes every doubtful vertex takes an exact evaluation; in more
    dimensions every region is computed exactly, in some milliseconds for a few dozen units, and on unbounded domains
    as the cone over it, in one dimension more.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> proved = rs.certify(rs.partition(net, rs.Box(-1, 1, 2)))
    >>> proved.certified, len(proved.certificate)
    (True, 4)
    """
    if part.network is None:
        raise InputError("to certify needs the network: load the partition with Partition.load(path, network=net)")
    check_certifiable(part.network, part.domain)
    if part.num_open:
        raise InputError(
            f"only a complete partition is certified, got one with {part.num_open:,} unfinished "
            f"cell{'s' * (part.num_open > 1)}: raise its budget"
        )
    effort = Effort.of(budget, None, progress, replace(part.tolerance, resolution=0.0))
    certified_by = certified_flat if part.has_facet_vertices else certified
    found = certified_by(part, part.network, effort)
    if has_struck():  # while results were put together
        found = replace(found, stop=INTERRUPTED)
    warn_if_interrupted([found], ", without certificate,")
    return found


def check_certifiable(network: Network, domain: Domain) -> None:
    """Refuse what rational arithmetic has no certificates for."""
    if network.jumps:
        raise InputError("regions are certified through their facets, and gates of this network jump there")
    if domain.dim > MAX_DIMENSIONS:
        raise InputError(
            f"domains of at most {MAX_DIMENSIONS} dimensions are certified, got {domain.describe()}: give a Segment or "
            "a Plane"
        )
