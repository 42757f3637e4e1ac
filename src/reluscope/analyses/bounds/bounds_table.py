"""All bounds of an architecture or a network side by side, why the others do not apply, and the best of each side."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reluscope.analyses.bounds.architecture import Architecture, Source
from reluscope.analyses.bounds.folded_networks import montufar_lower, pascanu_lower, serra_lower
from reluscope.analyses.bounds.histograms import hinz_upper, serra_upper
from reluscope.analyses.bounds.layer_products import montufar_upper, naive_upper, product_upper
from reluscope.analyses.bounds.maxout import maxout_serra_upper
from reluscope.arguments import read_arguments
from reluscope.errors import NotApplicableError
from reluscope.findings import Claim, Finding
from reluscope.networks.is_network import is_network

if TYPE_CHECKING:
    from reluscope.geometry.polyhedra.domains import Box, Slice


@dataclass(frozen=True)
class BoundRow:
    """One bound, or why there is none.

    Parameters
    ----------
    name : str
    finding : Finding or None
    reason : str
        What it needs and does not find, in a few words; empty if it applies.
    """

    name: str
    finding: Finding | None
    reason: str = ""


@read_arguments
def table(source: Source, *, domain: "Box | Slice | None" = None) -> tuple[BoundRow, ...]:
    """Return all bounds: lower bounds first, then upper bounds from the widest to the narrowest.

    Parameters
    ----------
    source : Architecture, Network or sequence of int
        See `Architecture.of`.
    domain : Box, or Slice by one, optional
        For the bound that depends on the weights of a network; left out without a box.

    Returns
    -------
    tuple of BoundRow

    Examples
    --------
    >>> import reluscope as rs
    >>> [(row.name, int(row.finding)) for row in rs.bounds.table([3, 4, 4, 4]) if row.finding][:3]
    [('Pascanu 2013', 15), ('Montúfar 2014', 15), ('all codes', 4096)]
    """
    architecture = Architecture.of(source)
    asked = [
        ("Pascanu 2013", lambda: pascanu_lower(architecture)),
        ("Montúfar 2014", lambda: montufar_lower(architecture)),
        ("Serra 2018, lower", lambda: serra_lower(architecture)),
        ("all codes", lambda: naive_upper(architecture)),
        ("Raghu 2017", lambda: product_upper(architecture)),
        ("Montúfar 2017", lambda: montufar_upper(architecture)),
        ("Serra 2018", lambda: serra_upper(architecture)),
        ("Hinz 2021, lines", lambda: hinz_upper(architecture, base=1)),
        ("Hinz 2021, planes", lambda: hinz_upper(architecture, base=2)),
    ]
    if any(rank > 2 for layer in architecture.layers for rank, _ in layer.ranks):
        asked.append(("Serra 2018, maxout", lambda: maxout_serra_upper(architecture)))
    if is_network(source):
        from reluscope.analyses.bounds.sparse_layers import sparse_upper

        asked.append(("Xiong 2020", lambda: sparse_upper(source)))
    if domain is not None:
        from reluscope.networks.evaluation.choices import read_domain

        read_domain(domain, architecture.num_inputs)
    if is_network(source) and domain is not None:
        from reluscope.analyses.bounds.activation import activation_upper

        asked.append(("Serra 2020, this network", lambda: activation_upper(source, domain)))
    rows = []
    for name, ask in asked:
        try:
            rows.append(BoundRow(name, ask()))
        except NotApplicableError as error:
            rows.append(BoundRow(name, None, f"needs {error.condition}"))
    return tuple(rows)


@read_arguments
def upper(source: Source, *, domain: "Box | Slice | None" = None) -> Finding:
    """Return the smallest known upper bound on the number of regions, with its source.

    Parameters
    ----------
    source : Architecture, Network or sequence of int
        See `Architecture.of`.
    domain : Box, or Slice by one, optional
        With a network, the bound from its weights is compared too, which holds in this box alone.

    Returns
    -------
    Finding
        UPPER, for every network of the architecture; its `method`, `source` and `domain` are those of the bound.

    Examples
    --------
    >>> import reluscope as rs
    >>> found = rs.bounds.upper([3, 4, 4, 4])
    >>> print(found, found.source)
    1,559 (UPPER) hinz2021
    """
    return min(_applying(source, domain, Claim.UPPER), key=int)


@read_arguments
def lower(source: Source) -> Finding:
    """Return the largest known lower bound on the largest number of regions over all weights, with its source.

    Parameters
    ----------
    source : Architecture, Network or sequence of int
        A chain of ReLU layers at least as wide as the input; see `Architecture.of`.

    Returns
    -------
    Finding
        LOWER: some network of the architecture has this many regions, and not necessarily the one given.

    Raises
    ------
    NotApplicableError
        If no lower bound applies; `table` returns why.

    Examples
    --------
    >>> import reluscope as rs
    >>> found = rs.bounds.lower([2, 8, 8])
    >>> print(found, found.source)
    925 (LOWER) serra2018
    """
    found = _applying(source, None, Claim.LOWER)
    if not found:
        condition = "a chain of ReLU layers at least as wide as the input"
        raise NotApplicableError(
            f"lower bounds need {condition}, got {Architecture.of(source).describe()}: take rs.bounds.upper", condition
        )
    return max(found, key=int)


def _applying(source: Source, domain: "Box | Slice | None", claim: Claim) -> list[Finding]:
    rows = table(source, domain=domain)
    return [row.finding for row in rows if row.finding is not None and row.finding.claim is claim]
