"""Chapter 7 on CIFAR-10: Table 7.1, Figures 7.4, 7.7, 7.9, 7.11, 7.13, 7.16 and 7.17."""

from reluscope.studies import Outcome, Setting
from reluscope_studies.sattelberg2026_ch7._plan import CHANGES
from reluscope_studies.sattelberg2026_ch7._protocol import report

SENTENCE = "the same on CIFAR-10"
POSITION = 40
REPEATS = (
    "Table 7.1",
    "Figure 7.4",
    "Figure 7.7",
    "Figure 7.9",
    "Figure 7.11",
    "Figure 7.13",
    "Figure 7.16",
    "Figure 7.17",
)
DATA = "cifar10"
__all__ = ["CHANGES", "DATA", "POSITION", "REPEATS", "SENTENCE", "protocol"]


def protocol(setting: Setting) -> Outcome:
    """Train the networks on coloured images, compress them, and compare all pairs."""
    return report(setting, "cifar10")
