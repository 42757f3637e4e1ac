"""Figure 6.6: circle and annulus with the classes exchanged in every other quadrant, by three layers of eight units."""

import reluscope as rs
from reluscope.studies import Change, Outcome, Setting
from reluscope_studies.sattelberg2026_ch6_training._reporting import report_first
from reluscope_studies.sattelberg2026_runs import Plan, Plans
from reluscope_studies.sizes import planned

SENTENCE = "the XOR of circle and annulus learned by three layers of eight units"
POSITION = 30
REPEATS = ("Figure 6.6",)
DATA = None
CHANGES: dict[Change, str] = {"epochs": "epochs"}

PLANS: Plans = {
    "small": Plan("xor", rs.datasets.xor_annulus, (8, 8, 8), 150, 40),
    "full": Plan("xor", rs.datasets.xor_annulus, (8, 8, 8), 500, 200),
}


def protocol(setting: Setting) -> Outcome:
    """Train the network, and look at its regions on the way and at the end."""
    return report_first(setting, planned(setting, PLANS, CHANGES))
