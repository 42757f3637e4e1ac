"""Many small dense networks at once: their parameters side by side, trained and evaluated as one batch."""

from reluscope.analyses.stacked.concatenation import concatenate
from reluscope.analyses.stacked.evaluation import losses
from reluscope.analyses.stacked.initialization import initialize
from reluscope.analyses.stacked.loss_functions import LOSS_FUNCTIONS, LossFunction, signs_agree
from reluscope.analyses.stacked.stack import Layers, Stack
from reluscope.analyses.stacked.subnetworks import subnetworks
from reluscope.analyses.stacked.training import Trained, train

__all__ = [
    "LOSS_FUNCTIONS",
    "Layers",
    "LossFunction",
    "Stack",
    "Trained",
    "concatenate",
    "initialize",
    "losses",
    "signs_agree",
    "subnetworks",
    "train",
]
