"""Figure 3.11: a convolutional network on MNIST loses channels, or its smallest weights."""

from reluscope.studies import Outcome, Setting
from reluscope_studies.sattelberg2026_ch3._image_pruning import CHANGES, CHANNELS, WEIGHTS, report

SENTENCE = "convolutional networks on MNIST, pruned by channels and by the size of weights"
POSITION = 80
REPEATS = ("Figure 3.11",)
DATA = "mnist"
__all__ = ["CHANGES", "DATA", "POSITION", "REPEATS", "SENTENCE", "protocol"]

SAID = {CHANNELS: "20 %, either way; channels fall faster", WEIGHTS: "20 %, either way"}
KEEPS = {CHANNELS: 0.2, WEIGHTS: 0.2}


def protocol(setting: Setting) -> Outcome:
    """Prune a network of images of digits both ways."""
    return report(setting, "mnist", SAID, KEEPS, "Figure 3.11")
