"""Chapter 7 on MNIST: Table 7.1, Figures 7.3, 7.7, 7.8, 7.10, 7.12, 7.14 and 7.15."""

from reluscope.studies import Outcome, Setting
from reluscope_studies.sattelberg2026_ch7._plan import CHANGES
from reluscope_studies.sattelberg2026_ch7._protocol import report

SENTENCE = "how few affine maps would do, and how similar networks are, on MNIST"
POSITION = 30
REPEATS = (
    "Table 7.1",
    "Figure 7.3",
    "Figure 7.7",
    "Figure 7.8",
    "Figure 7.10",
    "Figure 7.12",
    "Figure 7.14",
    "Figure 7.15",
)
DATA = "mnist"
__all__ = ["CHANGES", "DATA", "POSITION", "REPEATS", "SENTENCE", "protocol"]


def protocol(setting: Setting) -> Outcome:
    """Train the networks on handwritten digits, compress them, and compare all pairs."""
    return report(setting, "mnist")
