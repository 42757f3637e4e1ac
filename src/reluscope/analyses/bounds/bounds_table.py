"""All bounds that an architecture or a network has, side by side, and why the others do not apply."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reluscope.analyses.bounds.architecture import Architecture, Source
from reluscope.analyses.bounds.bound_findings import NotApplicableError
from reluscope.analyses.bounds.folded_networks import montufar_lower, pascanu_lower, serra_lower
from reluscope.analyses.bounds.histograms import hinz_upper, serra_upper
from reluscope.analyses.bounds.layer_products import montufar_upper, naive_upper, product_upper
from reluscope.analyses.bounds.maxout import maxout_serra_upper
from reluscope.arguments import read_arguments
from reluscope.findings import Finding
from reluscope.networks.is_network import is_network

if TYPE_CHECKING:
    from reluscope.geometry.polyhedra.domains import Box


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
def table(source: Source, *, box: "Box | None" = None) -> tuple[BoundRow, ...]:
    """Return all bounds: lower bounds first, then upper bounds from the widest to the narrowest.

    Parameters
    ----------
    source : Architecture, Network or sequence of int
        See `Architecture.of`.
    box : Box, optional
        For the bound that depends on the weights of a network; left out without a box.

    Returns
    -------
    tuple of BoundRow

    Examples
    --------
    >>> [(row.name, int(row.finding)) for row in table([3, 4, 4, 4]) if row.finding][:3]
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
    if box is not None:
        from reluscope.networks.evaluation.choices import read_domain

        read_domain(box, architecture.num_inputs)
    if is_network(source) and box is not None:
        from reluscope.analyses.bounds.activation import activation_upper

        asked.append(("Serra 2020, this network", lambda: activation_upper(source, box)))
    rows = []
    for name, ask in asked:
        try:
            rows.append(BoundRow(name, ask()))
        except NotApplicableError as error:
            rows.append(BoundRow(name, None, f"needs {error.condition}"))
    return tuple(rows)
