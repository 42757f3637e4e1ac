"""Figure 6.5: circle and annulus by a deeper network, three hidden layers of eight units."""

import reluscope as rs
from reluscope.studies import Change, Outcome, Setting
from reluscope_studies.sattelberg2026_ch6_training._reporting import report_first
from reluscope_studies.sattelberg2026_runs import Plan, Plans
from reluscope_studies.sizes import planned

SENTENCE = "circle and annulus learned by three layers of eight units"
POSITION = 20
REPEATS = ("Figure 6.5",)
DATA = None
CHANGES: dict[Change, str] = {"epochs": "epochs"}

PLANS: Plans = {
    "small": Plan("three-by-eight", rs.datasets.circle_annulus, (8, 8, 8), 60, 40),
    "full": Plan("three-by-eight", rs.datasets.circle_annulus, (8, 8, 8), 300, 200),
}


def protocol(setting: Setting) -> Outcome:
    """Train the network, and look at its regions on the way and at the end."""
    return report_first(setting, planned(setting, PLANS, CHANGES))
