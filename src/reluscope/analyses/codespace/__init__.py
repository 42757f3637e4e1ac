"""What codes over data say: how many differ, which units are used, how far apart classes are."""

from reluscope.analyses.codespace.activation_rate import activation_rate
from reluscope.analyses.codespace.adjacency_metric import Adjacency, adjacency
from reluscope.analyses.codespace.class_distances import ClassDistances, class_distances
from reluscope.analyses.codespace.distinct import (
    ClassCodes,
    DistinctCodes,
    count_distinct,
    count_distinct_by_class,
    distinct_codes,
)
from reluscope.analyses.codespace.half_open_cells import ClassFaces, ClassFacets, HalfOpenCell, half_open
from reluscope.analyses.codespace.pair_distances import PairDistances, pair_distances
from reluscope.analyses.codespace.sampled import SampleCodes, sample_codes
from reluscope.analyses.codespace.usage import GateUsage, UnitUsage, unit_usage

__all__ = [
    "Adjacency",
    "ClassCodes",
    "ClassDistances",
    "ClassFaces",
    "ClassFacets",
    "DistinctCodes",
    "GateUsage",
    "HalfOpenCell",
    "PairDistances",
    "SampleCodes",
    "UnitUsage",
    "activation_rate",
    "adjacency",
    "class_distances",
    "count_distinct",
    "count_distinct_by_class",
    "distinct_codes",
    "half_open",
    "pair_distances",
    "sample_codes",
    "unit_usage",
]
