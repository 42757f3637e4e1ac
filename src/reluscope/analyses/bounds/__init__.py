"""Bounds on the number of linear regions, from the architecture or from the weights.

`table` evaluates all bounds, `upper` and `lower` return the best. Bounds from the architecture concern the largest
number over all weights: UPPER bounds hold for every network of the architecture, LOWER bounds are reached by some.
"""

from typing import NoReturn

from reluscope.analyses.bounds.architecture import Architecture, LayerSize
from reluscope.analyses.bounds.bounds_table import lower, table, upper
from reluscope.moved_names import refuse

__all__ = ["Architecture", "LayerSize", "lower", "table", "upper"]


def __getattr__(name: str) -> NoReturn:
    raise refuse("reluscope.bounds", name)
