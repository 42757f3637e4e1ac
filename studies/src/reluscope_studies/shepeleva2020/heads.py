"""Figures 1, 2b and 5: numbers of codes in training and embeddings of codes, convolutional classifiers of MNIST."""

from reluscope.studies import Outcome, Setting
from reluscope_studies.shepeleva2020._following import CHANGES
from reluscope_studies.shepeleva2020._heads import HEADS, HeadsPlan, compare_heads
from reluscope_studies.shepeleva2020._networks import VGG16
from reluscope_studies.sizes import planned

SENTENCE = "codes of VGG16-like networks with three dense heads on MNIST, in training, at three learning rates"
POSITION = 10
REPEATS = ("Figure 1", "Figure 2", "Figure 5", "Table 1")
DATA = "mnist"
__all__ = ["CHANGES", "DATA", "POSITION", "REPEATS", "SENTENCE", "protocol"]

RATES = (1e-3, 1e-2, 1e-1)
PLANS = {
    "small": HeadsPlan(
        "heads", 16, (0, 1, 5, 10, 20), (1, 5, 20), (2000, 500), 300, ((8, 1), (16, 1)), HEADS, RATES
    ),
    # All samples and the paper's heads, with two convolutions below them for those of VGG16.
    "medium": HeadsPlan("heads", 256, (0, 1, 2, 5, 10), (1, 5, 10), None, 1000, ((16, 1), (32, 1)), HEADS, RATES),
    "full": HeadsPlan("heads", 256, tuple(range(31)), (1, 5, 10, 30), None, 2000, VGG16, HEADS, RATES),
}  # fmt: skip


def protocol(setting: Setting) -> Outcome:
    """Train the networks that are not in the records yet, and compare their codes."""
    return compare_heads(setting, planned(setting, PLANS, CHANGES))
