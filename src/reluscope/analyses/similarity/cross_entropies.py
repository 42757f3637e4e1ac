"""Cross-entropy of one network's probabilities relative to another's: equation 7.8 of [sattelberg2026]_.

``H(p, q) = -sum_i p_i log q_i`` with the softmax p and q of the outputs, the mean over samples, natural logarithms. It
is not symmetric, and for a network with itself it is the entropy of its probabilities. A single output f stands for
the two outputs 0 and f.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy.special import log_softmax

from reluscope.analyses.similarity.metric import Invariance, Metric, Source
from reluscope.arguments import read_arguments, read_position
from reluscope.findings import Finding
from reluscope.networks.evaluation.rounded_forward import RoundedForward


@read_arguments
def output_cross_entropy(forwards: Sequence[RoundedForward], first: int, second: int) -> Finding:
    """Return the cross-entropy of the second network's probabilities relative to the first network's.

    Parameters
    ----------
    forwards : sequence of RoundedForward
        Outputs of the networks on the same samples.
    first, second : int

    Returns
    -------
    Finding
        EXACT if the ends of its interval agree to nine digits. The ends follow from the errors of the outputs:
        probabilities, and their logarithms, change by at most twice the largest error of an output.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> from reluscope.networks.evaluation.rounded_forward import RoundedForward
    >>> even = RoundedForward(np.zeros((1, 2)), np.zeros((1, 2)), np.zeros((1, 0), dtype=bool))
    >>> print(rs.similarity.output_cross_entropy([even, even], 0, 1))
    0.693147 (EXACT)
    """
    first, second = (read_position(one, "first and second", len(forwards), "networks") for one in (first, second))
    own, other = forwards[first], forwards[second]
    p, logs = np.exp(log_softmax(_logits(own.outputs), axis=1)), log_softmax(_logits(other.outputs), axis=1)
    spread = logs.max(axis=1) - logs.min(axis=1)
    moved = 2 * own.errors.max(axis=1) * spread + 2 * other.errors.max(axis=1)
    size = np.abs(own.outputs).max(axis=1) + np.abs(other.outputs).max(axis=1) + logs.shape[1]
    moved += 16 * np.finfo(float).eps * size * (1 + spread)
    value, error = float(-(p * logs).sum(axis=1).mean()), float(moved.mean())
    return Finding.of(
        value,
        max(0.0, value - error),
        value + error,
        scale=1.0,
        name=OUTPUT_CROSS_ENTROPY.title,
        definition=OUTPUT_CROSS_ENTROPY.definition,
        domain=f"{len(logs):,} samples",
        num_samples=len(logs),
        method="float64 forward pass with a running error bound",
        source=OUTPUT_CROSS_ENTROPY.publication,
    )


def _logits(outputs: Float[np.ndarray, "s m"]) -> Float[np.ndarray, "s k"]:
    return np.concatenate([np.zeros_like(outputs), outputs], axis=1) if outputs.shape[1] == 1 else outputs


OUTPUT_CROSS_ENTROPY = Metric(
    "output_cross_entropy",
    "cross-entropy of outputs",
    "mean over samples of -sum p log q, with p of the first network and q of the second",
    Source.OUTPUTS,
    output_cross_entropy,
    frozenset({Invariance.UNIT_PERMUTATION, Invariance.UNIT_RESCALING, Invariance.TRANSLATION}),
    is_symmetric=False,
    of_itself=None,
    publication="sattelberg2026",
)
