"""Many small dense networks at once: their parameters side by side, trained and evaluated as one batch."""

from reluscope_studies.stacked.concatenation import concatenate
from reluscope_studies.stacked.evaluation import losses
from reluscope_studies.stacked.initialization import initialize
from reluscope_studies.stacked.loss_functions import LOSS_FUNCTIONS, LossFunction, signs_agree
from reluscope_studies.stacked.stack import Layers, Stack
from reluscope_studies.stacked.subnetworks import subnetworks
from reluscope_studies.stacked.training import Trained, train

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
