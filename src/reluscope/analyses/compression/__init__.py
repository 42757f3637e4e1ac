"""Smaller networks: clusters of local maps, merged regions, units that go with a proof or after fine-tuning."""

from reluscope.analyses.compression.channels import prune_channels
from reluscope.analyses.compression.compressed import Rule, compressed_outputs
from reluscope.analyses.compression.curve import accuracy_curve, fewest_clusters
from reluscope.analyses.compression.exhaustive import SmallestSubnetworks, prune_exhaustively
from reluscope.analyses.compression.map_clusters import MapClusters, cluster_maps
from reluscope.analyses.compression.merged_regions import MergedRegions, merge_regions
from reluscope.analyses.compression.pieces_on_domain import UnitPieces, unit_pieces
from reluscope.analyses.compression.pruning import PrunedNetwork, prune_exact
from reluscope.analyses.compression.pruning_by_magnitude import prune_by_magnitude
from reluscope.analyses.compression.pruning_curve import PruningCurve
from reluscope.analyses.compression.removals import Removal
from reluscope.analyses.compression.samples_by_region import region_samples, regions_holding
from reluscope.analyses.compression.stochastic import StochasticPruning, prune_stochastically

__all__ = [
    "MapClusters",
    "MergedRegions",
    "PrunedNetwork",
    "PruningCurve",
    "Removal",
    "Rule",
    "SmallestSubnetworks",
    "StochasticPruning",
    "UnitPieces",
    "accuracy_curve",
    "cluster_maps",
    "compressed_outputs",
    "fewest_clusters",
    "merge_regions",
    "prune_by_magnitude",
    "prune_channels",
    "prune_exact",
    "prune_exhaustively",
    "prune_stochastically",
    "region_samples",
    "regions_holding",
    "unit_pieces",
]
