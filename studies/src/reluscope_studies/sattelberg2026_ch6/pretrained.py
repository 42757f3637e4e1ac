"""Tables 6.1 and 7.1 on MNIST: the rows of ResNet-18, ResNet-152 and Inception-v3."""

from reluscope.studies import Outcome, Setting
from reluscope_studies.sattelberg2026_ch6._pretrained import CHANGES, report

SENTENCE = "a linear layer on what ResNet-18, ResNet-152 and Inception-v3 make of MNIST"
POSITION = 30
REPEATS = (
    "Table 6.1",
    "Table 7.1",
    "Figure 6.3",
    "Figure 6.14",
    "Figure 6.15",
    "Figure 6.16",
    "Figure 7.3",
    "Figure 7.10",
    "Figure 7.12",
    "Figure 7.14",
)
DATA = "mnist"
__all__ = ["CHANGES", "DATA", "POSITION", "REPEATS", "SENTENCE", "protocol"]


def protocol(setting: Setting) -> Outcome:
    """Train the last layer of every network by both optimisers."""
    return report(setting, "mnist")
