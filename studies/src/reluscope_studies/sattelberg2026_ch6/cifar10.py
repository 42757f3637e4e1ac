"""Chapter 6 on CIFAR-10: Table 6.1, Figures 6.8, 6.10, 6.13 and 6.17 to 6.19."""

from reluscope.studies import Outcome, Setting
from reluscope_studies.sattelberg2026_ch6._protocol import CHANGES, report

SENTENCE = "the same on CIFAR-10"
POSITION = 20
REPEATS = (
    "Table 6.1",
    "Figure 6.2",
    "Figure 6.3",
    "Figure 6.8",
    "Figure 6.10",
    "Figure 6.13",
    "Figure 6.17",
    "Figure 6.18",
    "Figure 6.19",
)
DATA = "cifar10"
__all__ = ["CHANGES", "DATA", "POSITION", "REPEATS", "SENTENCE", "protocol"]


def protocol(setting: Setting) -> Outcome:
    """Train the networks on coloured images and look at them."""
    return report(setting, "cifar10")
