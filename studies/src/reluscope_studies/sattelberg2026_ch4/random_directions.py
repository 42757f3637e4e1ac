"""Figure 4.7: cosines between n random directions in n dimensions."""

import reluscope as rs
from reluscope.studies import Outcome, Picture, Setting, Table
from reluscope_studies import plots
from reluscope_studies.sizes import planned

SENTENCE = "mean and largest scalar products of n random unit vectors in n dimensions"
POSITION = 40
DATA = None

DIMS = {"small": range(2, 31), "full": range(2, 101)}
TRIALS = 100


def protocol(setting: Setting) -> Outcome:
    """Draw directions, and compare the mean with its expectation."""
    dims = planned(setting, DIMS)
    found = {dim: rs.annulus.random_orthogonality(dim, trials=TRIALS, seed=setting.seed) for dim in dims}
    expected = {dim: rs.annulus.expected_cosine(dim) for dim in found}
    rows = tuple(
        (str(dim), f"{one.mean.value:.3f}", f"{expected[dim].value:.3f}", f"{one.largest.value:.3f}")
        for dim, one in found.items()
        if dim <= 10 or dim % 10 == 0
    )
    said = (
        f"Averages over {TRIALS} trials of the mean and of the largest absolute scalar product over pairs, as in the "
        "dissertation, which gives no numbers. The mean has a closed form, Gamma(n/2) / (sqrt(pi) Gamma((n + 1)/2)), "
        "about sqrt(2 / (pi n)). In two dimensions there is one pair, so that both are the same."
    )
    figure = plots.cosines(found, expected={dim: one.value for dim, one in expected.items()})
    caption = "Figure 4.7: bands are two standard errors of the averages."
    return Outcome(
        (said,),
        tuple(finding for one in found.values() for finding in (one.mean, one.largest)),
        (Table(("dimension", "mean", "expected mean", "largest"), rows, "Absolute scalar products."),),
        (Picture("cosines", figure, caption),),
    )
