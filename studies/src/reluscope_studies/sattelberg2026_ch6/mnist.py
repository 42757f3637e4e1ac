"""Chapter 6 on MNIST: Table 6.1, Figures 6.3, 6.9, 6.11 and 6.14 to 6.16."""

from reluscope.studies import Outcome, Setting
from reluscope_studies.sattelberg2026_ch6._protocol import CHANGES, report

SENTENCE = "slices, linear coefficients and active subspaces of dense and convolutional networks on MNIST"
POSITION = 10
REPEATS = (
    "Table 6.1",
    "Figure 6.2",
    "Figure 6.3",
    "Figure 6.9",
    "Figure 6.11",
    "Figure 6.14",
    "Figure 6.15",
    "Figure 6.16",
)
DATA = "mnist"
__all__ = ["CHANGES", "DATA", "POSITION", "REPEATS", "SENTENCE", "protocol"]


def protocol(setting: Setting) -> Outcome:
    """Train the networks on handwritten digits and look at them."""
    return report(setting, "mnist")
