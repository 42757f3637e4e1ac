"""Networks with fewer maps: clusters of local maps, merged regions, and units that a domain does not need."""

from reluscope.analyses.compression.clusters import MapClusters, cluster_maps
from reluscope.analyses.compression.compressed import compressed_outputs
from reluscope.analyses.compression.curve import AccuracyCurve, accuracy_curve
from reluscope.analyses.compression.merging import MergedRegions, merge_regions
from reluscope.analyses.compression.pieces_on_domain import UnitPieces, unit_pieces
from reluscope.analyses.compression.pruning import PrunedNetwork, prune_exact
from reluscope.analyses.compression.removals import Removal
from reluscope.analyses.compression.samples_by_region import RegionSamples, region_samples

__all__ = [
    "AccuracyCurve",
    "MapClusters",
    "MergedRegions",
    "PrunedNetwork",
    "RegionSamples",
    "Removal",
    "UnitPieces",
    "accuracy_curve",
    "cluster_maps",
    "compressed_outputs",
    "merge_regions",
    "prune_exact",
    "region_samples",
    "unit_pieces",
]
