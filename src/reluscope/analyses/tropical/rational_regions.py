"""The regions of a tiny network on a polyhedron or on all of space, with their maps, in rational arithmetic."""

from dataclasses import dataclass

from reluscope.analyses.tropical.polynomial import height
from reluscope.budget import Budget
from reluscope.effort import Effort
from reluscope.errors import BudgetExceededError, InputError
from reluscope.geometry.polyhedra.domains import Domain, Polyhedron, Slice, Space
from reluscope.geometry.polyhedra.rational_polytopes import Row
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.fractions.rational_maps import AffineFunction, rational_maps
from reluscope.networks.network import Network
from reluscope.partitions.exact.certificates import Code
from reluscope.partitions.exact.exact_regions import exact_regions
from reluscope.shown import Shown

MAX_UNITS = 64
MAX_CELLS = 2_000


@dataclass(frozen=True, repr=False)
class ExactCell(Shown):
    """One full-dimensional region.

    Parameters
    ----------
    code : tuple of tuples of int
        The piece of every unit, gate by gate.
    facets : dict of rows ``(a, c)`` to sets of rows
        The facets ``a . x + c >= 0``, those of the domain included, each once, with their vertices.
    outputs : tuple of m affine functions
    vertices : tuple of rows
        ``(X, w)`` for the points ``X / w`` of a bounded domain; else those of the cone over the region near the origin.
    """

    code: Code
    facets: dict[Row, frozenset[Row]]
    outputs: tuple[AffineFunction, ...]
    vertices: tuple[Row, ...]

    @property
    def half_spaces(self) -> tuple[Row, ...]:
        """The rows of the facets."""
        return tuple(self.facets)

    @property
    def cone(self) -> list[Row]:
        """The linear functions of ``(x, w)`` that are at least 0 on the cone over the region."""
        return [*self.facets, height(len(self.outputs[0]))]


def exact_cells(network: Network, domain: Domain | None = None, *, most: int = MAX_CELLS) -> list[ExactCell]:
    """Return all regions of a tiny network, those with more active units first.

    BudgetExceededError if there are more than ``most``; ``partial`` has those found. InputError for more than 64 units,
    or a domain with equations. All of space by default.
    """
    if network.num_units > MAX_UNITS:
        raise InputError(
            f"an exact table is for networks of at most {MAX_UNITS} units, got {network.num_units:,}: use "
            "reluscope.partition, which finds the regions of large networks"
        )
    domain = Space(network.num_inputs) if domain is None else read_domain(domain, network.num_inputs)
    window = domain.window if isinstance(domain, Slice) else domain
    if isinstance(window, Polyhedron) and len(window.C):
        raise InputError("a table needs a domain of half-spaces only, got one with equations: use a Slice")
    found = exact_regions(network, domain, effort=Effort(Budget(regions=most + 1)))
    cells = []
    for code, polytope in zip(found.certificate.codes, found.polytopes, strict=True):
        facets = {
            row[: window.dim + 1]: frozenset(polytope.vertices[member] for member in members)
            for row, members in polytope.facets().items()
            # Of a cone, those that end in 0 without the one at infinity.
            if polytope.dim == window.dim or (any(row[: window.dim]) and not row[-1])
        }
        cells.append(ExactCell(code, facets, rational_maps(found.network, code).outputs, polytope.vertices))
    if len(cells) > most:
        raise BudgetExceededError(
            f"a table may have at most {most:,} regions, and this network has more: take a smaller domain, or use "
            "reluscope.partition",
            partial=cells,
        )
    found.raise_if_ended()
    return sorted(cells, key=lambda cell: cell.code, reverse=True)
