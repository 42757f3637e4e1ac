"""Chapter 6 on CIFAR-10: Table 6.1, Figures 6.8, 6.10, 6.13 and 6.17 to 6.19."""

from reluscope.studies.sattelberg2026_ch6._protocol import report
from reluscope.studies.study import Outcome, Setting

SENTENCE = "the same on CIFAR-10"
POSITION = 20
DATA = "cifar10"

PRINTED = {
    "linear": ("25.43", "31.66"),
    "dense 1": ("51.01", "47.55"),
    "dense 2": ("50.24", "48.41"),
    "simple 1": ("68.14", "67.03"),
    "simple 2": ("66.34", "67.58"),
    "complex 1": ("61.72", "70.55"),
    "complex 2": ("62.50", "71.33"),
}


def protocol(setting: Setting) -> Outcome:
    """Train the networks on coloured images and look at them."""
    return report(setting, "cifar10", PRINTED)
