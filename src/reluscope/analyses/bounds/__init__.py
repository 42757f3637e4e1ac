"""Bounds on the number of linear regions, from the architecture or from the weights.

Each module holds the bounds of one idea; `table` asks all of them. Bounds from the architecture are about the largest
number over all weights: UPPER ones hold for every network of that architecture, LOWER ones are reached by some.
"""

from typing import TYPE_CHECKING, Any

from reluscope.analyses.bounds.architecture import Architecture, LayerSize
from reluscope.analyses.bounds.arrangements import central_arrangement, zaslavsky
from reluscope.analyses.bounds.bounds_table import BoundRow, table
from reluscope.analyses.bounds.expected import expected_breakpoints
from reluscope.analyses.bounds.folded_networks import arora_lower, montufar_lower, pascanu_lower, serra_lower
from reluscope.analyses.bounds.histograms import hinz_upper, serra_upper
from reluscope.analyses.bounds.layer_products import montufar_upper, naive_upper, product_upper
from reluscope.analyses.bounds.maxout import maxout_serra_upper, maxout_single_layer

if TYPE_CHECKING:
    from reluscope.analyses.bounds.activation import activation_upper

__all__ = [
    "Architecture",
    "BoundRow",
    "LayerSize",
    "activation_upper",
    "arora_lower",
    "central_arrangement",
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
    "table",
    "zaslavsky",
]


def __getattr__(name: str) -> Any:
    # The one bound that looks at weights brings PyTorch along.
    if name != "activation_upper":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from reluscope.analyses.bounds.activation import activation_upper

    globals()[name] = activation_upper
    return activation_upper
