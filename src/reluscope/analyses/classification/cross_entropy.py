"""Cross-entropy of a classifier: how much probability its softmax gives to the labels."""

import time
from dataclasses import replace

import numpy as np
from jaxtyping import Int
from scipy.special import logsumexp

from reluscope.analyses.classification.class_predictions import read_classes
from reluscope.arguments import read_arguments
from reluscope.errors import ShapeError
from reluscope.findings import Finding
from reluscope.networks.evaluation.rounded_forward import RoundedForward, rounded_forward
from reluscope.networks.graph.left_off import refuse_left_off
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network


@read_arguments
def cross_entropy(network: Network, x: Points, labels: Int[np.ndarray, " s"]) -> Finding:
    """Return the mean of log sum_j exp(z_j) - z_label over points, with natural logarithms.

    Parameters
    ----------
    network : Network
        With one output per class. A last softmax, which is left off, gives the class probabilities.
    x : (s, *input_shape) or (s, n)
    labels : (s,) int

    Returns
    -------
    Finding
        Each end lies twice the mean of the largest output errors away; EXACT where nine digits agree.

    Raises
    ------
    ShapeError
        If there is not one label per point, or only a single output.
    InputError
        If a label is no output of the network, or the model ends with a sigmoid or the like, not a softmax.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> print(rs.classification.cross_entropy(net, [[1.0, 1.0]], np.array([0])))
    0.693147 (EXACT)
    """
    began = time.perf_counter()
    check_softmax(network)
    forward = rounded_forward(network.scores, x)
    if forward.outputs.shape[1] < 2:
        raise ShapeError("expected a network of two or more outputs, got one: give a classifier")
    labels = read_classes(network, labels, len(forward.outputs))
    return replace(cross_entropy_of_outputs(forward, labels), work={"seconds": time.perf_counter() - began})


def check_softmax(network: Network) -> None:
    """Raise unless a softmax of a network's outputs gives its model's probabilities, if that says any."""
    if network.left_off is not None and not network.left_off.is_one_softmax:
        refuse_left_off("a cross-entropy", network.left_off)


def cross_entropy_of_outputs(forward: RoundedForward, labels: Int[np.ndarray, " s"]) -> Finding:
    """Return the cross-entropy from given outputs; see `cross_entropy`."""
    outputs = forward.outputs
    losses = logsumexp(outputs, axis=1) - outputs[np.arange(len(labels)), labels]
    scale = np.abs(outputs).max(axis=1) + outputs.shape[1]
    errors = 2 * forward.errors.max(axis=1) + 16 * np.finfo(float).eps * scale
    value, error = float(losses.mean()), float(errors.mean())
    return Finding.of(
        value,
        max(0.0, value - error),
        value + error,
        name="cross-entropy",
        definition="mean over samples of log sum_j exp(z_j) - z_label",
        domain=f"{len(labels):,} samples",
        num_samples=len(labels),
        method="float64 forward pass with a running error bound",
    )
