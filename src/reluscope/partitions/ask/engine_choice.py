"""Which engine partitions a domain: those that cover it, and of these the one that is forecast to be the fastest."""

from reluscope.errors import InputError
from reluscope.geometry.polyhedra.domains import Box, Domain
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.network import Network
from reluscope.partitions.ask.engine_costs import Kept, cheapest
from reluscope.partitions.cells.cellwise import supports
from reluscope.partitions.complexes.elongated import sides_of
from reluscope.partitions.engines.few_dimensions import METHOD

ENGINES = ("incidence", "cellwise", "tree")
# Vertices of cells grow exponentially with the dimension: up to here engines that keep them are chosen, fewer with max
# gates, which need all faces; up to ten on demand.
MAX_VERTICES, MAX_VERTICES_WITH_MAX_GATES, MAX_DIMENSIONS = 8, 5, 10
# The incidence engine's seams are checked from a file on lines and planes alone.
MAX_STREAMED_DIMENSIONS = 2


def choose_engine(
    network: Network,
    domain: Domain,
    method: str,
    *,
    keep: Kept,
    most_shared: int = MAX_DIMENSIONS,
) -> tuple[str, str]:
    """Return the engine for a domain, and what the partition says of its method.

    Vertices are asked for where an engine that keeps them can be expected to end. Raises InputError if the engine asked
    for does not cover the domain.
    """
    max_gates = supports(network)
    if method == "auto":
        able = covering_engines(network, domain, keep, most_shared)
        # Lines and planes are drawn with their edges, which only shared faces know.
        is_drawn = "incidence" in able and domain.dim <= 2
        method = "incidence" if is_drawn else cheapest(able, network, domain, keep)
        is_large = domain.is_bounded() or domain.dim > MAX_VERTICES
        because = f"for {domain.dim} dimensions" if is_large else "for an unbounded domain"
        because += f" with {max_gates}" if max_gates else ""
        because += f"{' and' if max_gates else ' with'} gates that jump" if network.jumps else ""
    elif reason := _against(network, domain, most_shared)[method]:
        raise InputError(
            f"method={method!r} does not cover {reason}, got {domain.describe()}: leave method out to have one chosen "
            "that does"
        )
    else:
        because = "as asked for"
    if method == "incidence":
        return method, METHOD + (f", all faces kept for {max_gates}" if domain.dim > 3 and max_gates else "")
    how = f"{METHOD}, cell by cell" if method == "cellwise" else "tree of linear programs"
    return method, f"{how} {because}"


def covering_engines(network: Network, domain: Domain, keep: Kept, most_shared: int = MAX_DIMENSIONS) -> list[str]:
    """Return the engines to choose from: those that cover a domain, and keep what is asked for if any does."""
    able = [engine for engine, reason in _against(network, domain, most_shared).items() if not reason]
    has_max_gates = supports(network) is not None
    most = MAX_VERTICES_WITH_MAX_GATES if has_max_gates else MAX_VERTICES
    by_vertices = [engine for engine in able if engine != "tree" and domain.dim <= most]
    return by_vertices or ["tree"] if keep == "vertices" else [*by_vertices, "tree"]


def are_cut_together(domain: Domain) -> bool:
    """Whether cells of several networks can be cut at once: on bounded domains of inputs about as long as wide."""
    is_plain = isinstance(domain, Box | Polyhedron) and domain.is_bounded() and sides_of(domain) is None
    return is_plain and domain.dim <= MAX_VERTICES


def chooses_tree(network: Network, domain: Domain) -> bool:
    """Whether codes are forecast to be found soonest by the tree."""
    return cheapest(covering_engines(network, domain, "codes"), network, domain, "codes") == "tree"


def _against(network: Network, domain: Domain, most_shared: int) -> dict[str, str | None]:
    """Return for every engine why it cannot be used on a domain."""
    too_many = f"{domain.dim} dimensions" if domain.dim > MAX_DIMENSIONS else None
    unbounded = None if domain.is_bounded() else "an unbounded domain"
    max_gates = supports(network)
    both = " with ".join(part for part in (unbounded, max_gates) if part)
    # A value at a vertex is one for all cells around it only where nothing jumps.
    jumps = "gates that jump" if network.jumps else None
    streamed = f"{domain.dim} dimensions in a stream" if domain.dim > most_shared else None
    return {
        "incidence": jumps or too_many or unbounded or streamed,
        "cellwise": too_many or ((jumps and f"{max_gates} beside gates that jump") or both if max_gates else None),
        "tree": None,
    }
