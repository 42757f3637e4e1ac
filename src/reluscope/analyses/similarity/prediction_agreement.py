"""The share of samples of which two networks predict the same class."""

from collections.abc import Sequence

from reluscope.analyses.classification.class_predictions import classes_of_outputs, is_close
from reluscope.analyses.similarity.metric import Invariance, Metric, Source
from reluscope.arguments import read_arguments, read_position
from reluscope.findings import Finding
from reluscope.networks.evaluation.rounded_forward import RoundedForward


@read_arguments
def agreement_of_predictions(forwards: Sequence[RoundedForward], first: int, second: int) -> Finding:
    """Return the share of samples that two networks assign to the same class.

    Parameters
    ----------
    forwards : sequence of RoundedForward
        Outputs of the networks on the same samples.
    first, second : int

    Returns
    -------
    Finding
        EXACT; an ESTIMATE with an interval if rounding could change the class of some samples.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> from reluscope.networks.evaluation.rounded_forward import RoundedForward
    >>> outputs = [np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 1.0]])]
    >>> forwards = [RoundedForward(one, np.zeros((2, 2)), np.zeros((2, 0), dtype=bool)) for one in outputs]
    >>> print(rs.similarity.agreement_of_predictions(forwards, 0, 1))
    0.5 (EXACT)
    """
    first, second = (read_position(one, "first and second", len(forwards), "networks") for one in (first, second))
    own, other = forwards[first], forwards[second]
    same = classes_of_outputs(own.outputs) == classes_of_outputs(other.outputs)
    unclear = is_close(own) | is_close(other)
    if first == second:
        unclear[:] = False
    number, certain, doubtful = len(same), int((same & ~unclear).sum()), int(unclear.sum())
    return Finding.of(
        float(same.mean()),
        certain / number,
        (certain + doubtful) / number,
        is_share=True,
        name=AGREEMENT.title,
        definition=f"{AGREEMENT.definition}: {int(same.sum()):,} of {number:,}",
        domain=f"{number:,} samples",
        num_samples=number,
        method="float64 forward pass with a running error bound",
        num_undecided=doubtful,
    )


AGREEMENT = Metric(
    "agreement",
    "agreement of predictions",
    "share of samples of which both networks say the same class",
    Source.OUTPUTS,
    agreement_of_predictions,
    frozenset({Invariance.UNIT_PERMUTATION, Invariance.UNIT_RESCALING, Invariance.SCALING, Invariance.TRANSLATION}),
    of_itself=1.0,
    high=1.0,
    grows_with_likeness=True,
)
