"""Figures 5, 6 and 8 to 10: singular values through the layers of convolutional networks on CIFAR-10."""

from dataclasses import replace

from reluscope.studies import Change, Outcome, Setting
from reluscope_studies.behrmann2018._networks import KERAS, SMALL_THIN, SMALL_WIDE, THIN, WIDE, Training
from reluscope_studies.behrmann2018._spectra import Plan, report
from reluscope_studies.sizes import planned

SENTENCE = "singular values through the layers of a wide and of a thin convolutional network on CIFAR-10"
POSITION = 30
REPEATS = {
    "Figure 5": "",
    "Figure 6": "",
    "Table 3": "WideCIFAR",
    "Table 4": "ThinCIFAR",
    "Figure 8": "WideCIFAR",
    "Figure 9": "WideCIFAR",
    "Figure 10": "ThinCIFAR",
}
DATA = "cifar10"
PARTS = "WideCIFAR or ThinCIFAR"
CHANGES: dict[Change, str] = {"points": "num_samples", "epochs": "training.epochs"}

# The paper's example is "from layer 4 of WideCIFAR", by its legends the second gate, by its tables the fourth step.
STATEMENTS = {
    "largest": "grows",
    "smallest": "decreases significantly",
    "left": "5,120 in layer 4",
    "constant": "about 6 in layer 4",
    "after": "below 2.5 in layer 4",
}
PLANS = {
    "small": Plan(
        "spectra", (SMALL_WIDE, SMALL_THIN), Training("RMSprop", 1e-3, 20, 32), 20, (2, 5), (2, 4), STATEMENTS
    ),
    "medium": Plan("spectra", (WIDE, THIN), replace(KERAS, epochs=25), 15, (2, 5), (2, 4), STATEMENTS),
    "full": Plan("spectra", (WIDE, THIN), KERAS, 50, (2, 5), (2, 4), STATEMENTS),
}


def protocol(setting: Setting) -> Outcome:
    """Train the networks that are not in the records yet, and decompose their Jacobians at test samples."""
    return report(setting, planned(setting, PLANS, CHANGES))
