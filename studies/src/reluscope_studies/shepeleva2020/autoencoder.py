"""Figures 2a and 4: codes of an autoencoder of MNIST, of all classes and of 4 and 9."""

from reluscope.studies import Outcome, Setting
from reluscope_studies.shepeleva2020._autoencoder import follow_autoencoder
from reluscope_studies.shepeleva2020._following import CHANGES, Plan
from reluscope_studies.sizes import planned

SENTENCE = "codes of an autoencoder of MNIST, in training, of all classes and of two"
POSITION = 30
REPEATS = ("Figure 2", "Figure 4", "Table 1")
DATA = "mnist"
IS_SHORT = True
__all__ = ["CHANGES", "DATA", "POSITION", "REPEATS", "SENTENCE", "protocol"]

PLANS = {
    "small": Plan("autoencoder", 16, (0, 1, 5, 10, 50), (1, 5, 10, 50), (2000, 500), 300),
    "full": Plan("autoencoder", 256, (0, 1, 5, 10, 100), (1, 5, 10, 100), None, 2000),
}


def protocol(setting: Setting) -> Outcome:
    """Train the networks that are not in the records yet, and look at their codes."""
    return follow_autoencoder(setting, planned(setting, PLANS, CHANGES))
