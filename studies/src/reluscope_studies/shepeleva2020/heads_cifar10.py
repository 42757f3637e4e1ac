"""Figure 6: codes of convolutional classifiers of CIFAR-10."""

from reluscope.studies import Outcome, Setting
from reluscope_studies.shepeleva2020._following import CHANGES
from reluscope_studies.shepeleva2020._heads import HEADS, HeadsPlan, compare_heads
from reluscope_studies.shepeleva2020._networks import VGG16
from reluscope_studies.sizes import planned

SENTENCE = "codes of VGG16-like networks with dense heads on CIFAR-10, in training, at two learning rates"
POSITION = 20
REPEATS = ("Figure 6", "Table 1")
DATA = "cifar10"
__all__ = ["CHANGES", "DATA", "POSITION", "REPEATS", "SENTENCE", "protocol"]

RATES = (1e-3, 1e-1)
PLANS = {
    "small": HeadsPlan(
        "heads-cifar10", 16, (0, 1, 5, 20), (1, 5, 20), (2000, 500), 300, ((8, 1), (16, 1)), HEADS[-1:], RATES[-1:]
    ),
    # All samples and the paper's heads, with two convolutions below them for those of VGG16.
    "medium": HeadsPlan(
        "heads-cifar10", 256, (0, 1, 2, 5, 10), (1, 5, 10), None, 1000, ((16, 1), (32, 1)), HEADS, RATES
    ),
    "full": HeadsPlan("heads-cifar10", 256, tuple(range(31)), (1, 5, 10, 30), None, 2000, VGG16, HEADS, RATES),
}  # fmt: skip


def protocol(setting: Setting) -> Outcome:
    """Train the networks that are not in the records yet, and compare their codes."""
    return compare_heads(setting, planned(setting, PLANS, CHANGES))
