"""Tables 3 and 4, Figures 9 to 12: convolutional networks on CIFAR-10."""

from dataclasses import replace

from reluscope.studies import Change, Outcome, Setting
from reluscope_studies.fitting import Fit
from reluscope_studies.labelled import labelled_data, stands_beside
from reluscope_studies.sizes import planned
from reluscope_studies.zhang2020._networks import Architecture
from reluscope_studies.zhang2020._plan import Plan
from reluscope_studies.zhang2020._questions import Inquiry
from reluscope_studies.zhang2020._reporting import compare

SENTENCE = "regions of convolutional networks on CIFAR-10, plain, with batch norm and with dropout"
POSITION = 40
REPEATS = {
    "Table 3": "",
    "Figure 9": "0.001-inspheres",
    "Figure 10": "",
    "Table 4": "0.001-classes",
    "Figure 11": "0.001-likeliest",
    "Figure 12": "0.001-surrounding_regions",
}
DATA = "cifar10"
CHANGES: dict[Change, str] = {"replicates": "replicates", "points": "inquiry.points", "epochs": "fit.most_epochs"}
PARTS = "rate-question, 0.001-inspheres; also classes, surrounding_regions, likeliest"

RATE = 1e-3
PAPER = {
    ("test accuracy", RATE): (68.2, 70.1, 69.2),
    ("classes, the paper's test", RATE): (7.811, 9.984, 2.901),
    ("distortion", RATE): (27.08, 20.85, 25.25),
}
PLANS = {
    "small": Plan(
        "convolutional",
        Architecture((24,), ((4, 1), (6, 2))),
        Fit(RATE, batch=16, most_epochs=30),
        (RATE,),
        1,
        Inquiry(20, "point", 0.6, rays=20, reach=1.0),
        True,
        PAPER,
    ),
    # Of the full size three points only, each of which takes minutes.
    "medium": Plan(
        "convolutional",
        Architecture((1024,), ((32, 2), (64, 2), (128, 2))),
        Fit(RATE),
        (RATE,),
        1,
        Inquiry(3, "point", 16 / 255),
        False,
        PAPER,
    ),
    # 15 x 15 x 32, 7 x 7 x 64 and 3 x 3 x 128 units, then 1,024: Table 3.
    "full": Plan(
        "convolutional",
        Architecture((1024,), ((32, 2), (64, 2), (128, 2))),
        Fit(RATE),
        (RATE,),
        1,
        Inquiry(1000, "point", 16 / 255),
        False,
        PAPER,
    ),
}


def protocol(setting: Setting) -> Outcome:
    """Train the networks that are not in the records yet, ask about their regions, and compare."""
    plan = planned(setting, PLANS, CHANGES)
    training, _ = labelled_data(setting)
    return compare(setting, plan if stands_beside(training, DATA) else replace(plan, published={}))
