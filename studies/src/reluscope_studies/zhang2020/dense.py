"""Table 1 and 2, Figures 3 to 6: dense networks on MNIST."""

from reluscope.studies import Change, Outcome, Setting
from reluscope_studies.fitting import Fit
from reluscope_studies.sizes import planned
from reluscope_studies.zhang2020._networks import Architecture
from reluscope_studies.zhang2020._plan import Plan
from reluscope_studies.zhang2020._questions import Inquiry
from reluscope_studies.zhang2020._reporting import compare

SENTENCE = "regions of dense networks on MNIST, plain, with batch norm and with dropout, at two learning rates"
POSITION = 20
REPEATS = {
    "Table 1": "",
    "Figure 3": "0.001-inspheres",
    "Figure 4": "",
    "Table 2": "0.001-classes",
    "Figure 5": "0.001-likeliest",
    "Figure 6": "0.001-surrounding_regions",
}
DATA = "mnist"
CHANGES: dict[Change, str] = {"replicates": "replicates", "points": "inquiry.points", "epochs": "fit.most_epochs"}

RATES = (1e-3, 1e-4)
PARTS = "rate-question, 0.001-inspheres; also classes, surrounding_regions, likeliest, facets"
# Accuracies in percent, in the order of the paper's columns.
PAPER = {
    ("test accuracy", 1e-3): (97.8, 97.9, 97.5),
    ("test accuracy", 1e-4): (98.0, 98.3, 98.2),
    ("classes, the paper's test", 1e-3): (1.116, 1.083, 1.012),
    ("classes, the paper's test", 1e-4): (8.766, 2.622, 1.048),
    ("distortion", 1e-3): (26.35, 14.90, 25.28),
    ("distortion", 1e-4): (23.81, 7.61, 25.41),
}
PLANS = {
    "small": Plan(
        "dense",
        Architecture((24, 24, 24)),
        Fit(RATES[0], batch=16, most_epochs=60),
        RATES,
        1,
        Inquiry(20, "mean", 0.6, rays=20, reach=1.0),
        True,
        PAPER,
    ),
    "medium": Plan("dense", Architecture((1024,) * 3), Fit(RATES[0]), RATES, 1, Inquiry(30, "mean", 0.6), True, PAPER),
    # Three networks of each kind, as in the paper's Figure 3.
    "full": Plan("dense", Architecture((1024,) * 3), Fit(RATES[0]), RATES, 3, Inquiry(1000, "mean", 0.6), True, PAPER),
}


def protocol(setting: Setting) -> Outcome:
    """Train the networks that are not in the records yet, ask about their regions, and compare."""
    return compare(setting, planned(setting, PLANS, CHANGES))
