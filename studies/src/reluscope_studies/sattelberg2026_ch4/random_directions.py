"""Figure 4.7: cosines between n random directions in n dimensions."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

import reluscope as rs
from reluscope.studies import Outcome, Picture, Setting, StatementVerdict, Table
from reluscope_studies import annulus, plots
from reluscope_studies.sizes import planned

SENTENCE = "mean and largest scalar products of n random unit vectors in n dimensions"
POSITION = 40
REPEATS = ("Figure 4.7",)
DATA = None

DIMS = {"small": range(2, 31), "full": range(2, 101)}
TRIALS = 100
# In two dimensions there is one pair, in three three: from some dimension on the largest product falls.
SMALL = 5


def protocol(setting: Setting) -> Outcome:
    """Draw directions, and compare the mean with its expectation."""
    dims = planned(setting, DIMS)
    found = {dim: annulus.random_orthogonality(dim, trials=TRIALS, seed=setting.seed) for dim in dims}
    expected = {dim: annulus.expected_cosine(dim) for dim in found}
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
        verdicts=(_mean(expected), _largest(found)),
    )


def _mean(expected: Mapping[int, rs.Finding]) -> StatementVerdict:
    values = [float(one.value) for one in expected.values()]
    return StatementVerdict(
        "vectors are the more orthogonal on average, the more dimensions",
        "section 4.2.2, Figure 4.7",
        "drawn",
        f"expected scalar products fall from {values[0]:.3f} to {values[-1]:.3f}, at every step",
        all(later < before for before, later in pairwise(values)),
    )


def _largest(found: Mapping[int, annulus.Orthogonality]) -> StatementVerdict:
    dims, values = list(found), [float(one.largest.value) for one in found.values()]
    top = int(np.argmax(values))
    return StatementVerdict(
        "the pair that is least orthogonal becomes more so with the dimension",
        "section 4.2.2, Figure 4.7",
        "drawn",
        f"largest scalar products fall from {values[top]:.3f} in {dims[top]} dimensions to {values[-1]:.3f} in "
        f"{dims[-1]}; in 2, with one pair, {values[0]:.3f}",
        values[-1] < values[top] and dims[top] <= SMALL,
    )
