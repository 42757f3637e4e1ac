"""Networks with fewer maps: clusters of local maps, merged regions, and units that a domain does not need."""

from reluscope.analyses.compression.pruning import PrunedNetwork, prune_exact
from reluscope.analyses.compression.removals import Removal
from reluscope.analyses.compression.unit_pieces import UnitPieces, unit_pieces

__all__ = ["PrunedNetwork", "Removal", "UnitPieces", "prune_exact", "unit_pieces"]
