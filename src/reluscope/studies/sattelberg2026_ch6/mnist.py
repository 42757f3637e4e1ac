"""Chapter 6 on MNIST: Table 6.1, Figures 6.3, 6.9, 6.11 and 6.14 to 6.16."""

from reluscope.studies.sattelberg2026_ch6._protocol import report
from reluscope.studies.study import Outcome, Setting

SENTENCE = "slices, linear coefficients and active subspaces of dense and convolutional networks on MNIST"
POSITION = 10
DATA = "mnist"

PRINTED = {
    "linear": ("88.89", "86.83"),
    "dense 1": ("96.76", "97.43"),
    "dense 2": ("96.91", "97.24"),
    "simple 1": ("97.80", "98.86"),
    "simple 2": ("97.89", "98.90"),
    "complex 1": ("97.73", "98.95"),
    "complex 2": ("97.86", "98.81"),
}


def protocol(setting: Setting) -> Outcome:
    """Train the networks on handwritten digits and look at them."""
    return report(setting, "mnist", PRINTED)
