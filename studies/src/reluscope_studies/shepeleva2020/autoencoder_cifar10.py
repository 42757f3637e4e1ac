"""Figures 3 and 4: codes of an autoencoder of CIFAR-10, of all classes and of frog and deer."""

from reluscope.studies import Outcome, Setting
from reluscope_studies.shepeleva2020._autoencoder import follow_autoencoder
from reluscope_studies.shepeleva2020._following import CHANGES, Plan
from reluscope_studies.sizes import planned

SENTENCE = "codes of an autoencoder of CIFAR-10, in training, of all classes and of two"
POSITION = 40
REPEATS = ("Figure 3", "Figure 4", "Table 1")
DATA = "cifar10"
__all__ = ["CHANGES", "DATA", "POSITION", "REPEATS", "SENTENCE", "protocol"]

PLANS = {
    "small": Plan("autoencoder-cifar10", 16, (0, 1, 5, 10), (1, 5, 10), (2000, 500), 300),
    "full": Plan("autoencoder-cifar10", 256, (0, 1, 5, 10, 100), (1, 5, 10, 100), None, 2000),
}


def protocol(setting: Setting) -> Outcome:
    """Train the networks that are not in the records yet, and look at their codes."""
    return follow_autoencoder(setting, planned(setting, PLANS, CHANGES))
