"""Figure 11: singular values through the layers of a dense network on MNIST."""

from reluscope.studies import Change, Outcome, Setting
from reluscope_studies.behrmann2018._networks import DENSE, MLP, SMALL_DENSE, Training
from reluscope_studies.behrmann2018._spectra import Plan, report
from reluscope_studies.sizes import planned

SENTENCE = "singular values through the layers of a dense network on MNIST"
POSITION = 40
REPEATS = ("Figure 11", "Table 2")
DATA = "mnist"
CHANGES: dict[Change, str] = {"points": "num_samples", "epochs": "training.epochs"}

STATEMENTS = {"largest": "not said", "smallest": "decreases, by the figure"}
PLANS = {
    "small": Plan("spectra_dense", (SMALL_DENSE,), Training("Adam", 1e-3, 25, 100), 20, (1, 2), (), STATEMENTS),
    "full": Plan("spectra_dense", (DENSE,), MLP, 50, (1, 2), (), STATEMENTS),
}


def protocol(setting: Setting) -> Outcome:
    """Train the network if it is not in the records yet, and decompose its Jacobians at test samples."""
    return report(setting, planned(setting, PLANS, CHANGES))
