"""Published bounds on the number of linear regions, one function each; `rs.bounds.table` has those of any network.

Bounds from the architecture concern the largest number over all weights: UPPER bounds hold for every network of the
architecture, LOWER bounds are reached by some network of it.
"""

from reluscope.extending.bounds import (
    activation_upper,
    hinz_upper,
    maxout_serra_upper,
    montufar_lower,
    montufar_upper,
    naive_upper,
    pascanu_lower,
    product_upper,
    serra_lower,
    serra_upper,
)
from reluscope_studies.bounds.arrangements import central_arrangement, maxout_single_layer, zaslavsky
from reluscope_studies.bounds.expected import expected_breakpoints
from reluscope_studies.bounds.parity import count_lower_by_parity
from reluscope_studies.bounds.zonotopes import arora_lower

__all__ = [
    "activation_upper",
    "arora_lower",
    "central_arrangement",
    "count_lower_by_parity",
    "expected_breakpoints",
    "hinz_upper",
    "maxout_serra_upper",
    "maxout_single_layer",
    "montufar_lower",
    "montufar_upper",
    "naive_upper",
    "pascanu_lower",
    "product_upper",
    "serra_lower",
    "serra_upper",
    "zaslavsky",
]
