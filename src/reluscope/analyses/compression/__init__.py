"""Smaller networks: clusters of local maps, merged regions, units that go with a proof."""

from typing import NoReturn

from reluscope.analyses.compression.compressed import Rule, compressed_outputs
from reluscope.analyses.compression.curve import accuracy_curve, fewest_clusters
from reluscope.analyses.compression.map_clusters import cluster_maps
from reluscope.analyses.compression.merged_regions import MergedRegions, merge_regions
from reluscope.analyses.compression.pieces_on_domain import unit_pieces
from reluscope.analyses.compression.pruning import prune_exact
from reluscope.analyses.compression.samples_by_region import region_samples, regions_holding
from reluscope.moved_names import refuse

__all__ = [
    "MergedRegions",
    "Rule",
    "accuracy_curve",
    "cluster_maps",
    "compressed_outputs",
    "fewest_clusters",
    "merge_regions",
    "prune_exact",
    "region_samples",
    "regions_holding",
    "unit_pieces",
]


def __getattr__(name: str) -> NoReturn:
    raise refuse("reluscope.compression", name)
