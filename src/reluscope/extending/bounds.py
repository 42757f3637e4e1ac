"""Bounds on numbers of regions, one function each, and what counts of codes are made of."""

from reluscope.analyses.bounds.activation import activation_upper
from reluscope.analyses.bounds.arrangements import cells, parallel_cells
from reluscope.analyses.bounds.folded_networks import montufar_lower, pascanu_lower, serra_lower
from reluscope.analyses.bounds.histograms import hinz_upper, serra_upper
from reluscope.analyses.bounds.layer_products import montufar_upper, naive_upper, product_upper
from reluscope.analyses.bounds.maxout import maxout_serra_upper
from reluscope.analyses.counting.code_search import CodeSearch
from reluscope.analyses.counting.counted import Counted
from reluscope.budget import RegionBudget
from reluscope.effort import Effort
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.partitions.driver.walk import Step, walk

__all__ = [
    "CodeSearch",
    "Counted",
    "Domain",
    "Effort",
    "RegionBudget",
    "Step",
    "activation_upper",
    "cells",
    "hinz_upper",
    "maxout_serra_upper",
    "montufar_lower",
    "montufar_upper",
    "naive_upper",
    "parallel_cells",
    "pascanu_lower",
    "product_upper",
    "serra_lower",
    "serra_upper",
    "walk",
]
