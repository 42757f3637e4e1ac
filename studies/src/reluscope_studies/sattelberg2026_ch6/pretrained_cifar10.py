"""Tables 6.1 and 7.1 on CIFAR-10: the rows of ResNet-18, ResNet-152 and Inception-v3."""

from reluscope.studies import Outcome, Setting
from reluscope_studies.sattelberg2026_ch6._pretrained import CHANGES, report

SENTENCE = "a linear layer on what ResNet-18, ResNet-152 and Inception-v3 make of CIFAR-10"
POSITION = 40
REPEATS = (
    "Table 6.1",
    "Table 7.1",
    "Figure 6.17",
    "Figure 6.18",
    "Figure 6.19",
    "Figure 7.4",
    "Figure 7.11",
    "Figure 7.13",
    "Figure 7.16",
)
DATA = "cifar10"
__all__ = ["CHANGES", "DATA", "POSITION", "REPEATS", "SENTENCE", "protocol"]


def protocol(setting: Setting) -> Outcome:
    """Train the last layer of every network by both optimisers."""
    return report(setting, "cifar10")
