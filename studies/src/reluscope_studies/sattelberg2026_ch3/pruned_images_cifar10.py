"""Figure 3.12: a convolutional network on CIFAR-10 loses channels, or its smallest weights."""

from reluscope.studies import Outcome, Setting
from reluscope_studies.labelled import labelled_data, stands_beside
from reluscope_studies.sattelberg2026_ch3._image_pruning import CHANGES, CHANNELS, WEIGHTS, report

SENTENCE = "the same on CIFAR-10"
POSITION = 90
REPEATS = ("Figure 3.12",)
DATA = "cifar10"
__all__ = ["CHANGES", "DATA", "POSITION", "REPEATS", "SENTENCE", "protocol"]

SAID = {CHANNELS: "60 %", WEIGHTS: "40 %"}
KEEPS = {CHANNELS: 0.6, WEIGHTS: 0.4}


def protocol(setting: Setting) -> Outcome:
    """Prune a network of coloured images both ways."""
    training, _ = labelled_data(setting)
    said = SAID if stands_beside(training, DATA) else dict.fromkeys(SAID, "of CIFAR-10")
    return report(setting, "cifar10", said, KEEPS, "Figure 3.12")
