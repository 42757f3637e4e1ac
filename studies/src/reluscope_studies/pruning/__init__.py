"""Pruning of trained networks: by magnitude, by channels; of stacks by all subnetworks or at random."""

from reluscope_studies.pruning.by_magnitude import prune_by_magnitude
from reluscope_studies.pruning.channels import prune_channels
from reluscope_studies.pruning.exhaustive import SmallestSubnetworks, prune_exhaustively
from reluscope_studies.pruning.pruning_curve import PruningCurve
from reluscope_studies.pruning.stochastic import StochasticPruning, prune_stochastically

__all__ = [
    "PruningCurve",
    "SmallestSubnetworks",
    "StochasticPruning",
    "prune_by_magnitude",
    "prune_channels",
    "prune_exhaustively",
    "prune_stochastically",
]
