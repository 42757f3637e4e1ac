"""Networks as classifiers: the class of a point is its largest score, the lowest one at a tie.

Scores are outputs unless the network's `decision` says otherwise. A single score f has the classes 0 (f <= 0) and
1 (f > 0), as decision boundaries have them.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from reluscope.arguments import holds_across_jumps, read_arguments, read_labels
from reluscope.errors import InputError
from reluscope.findings import Column, Finding, Findings, Kind, declare
from reluscope.networks.evaluation.rounded_forward import RoundedForward, forward_with_errors, rounded_forward
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network

METHOD = "float64 forward pass with a running error bound"
ACCURACY = declare("accuracy", "share of samples whose class is their label", kind=Kind.SHARE)


@read_arguments
@holds_across_jumps
def num_classes(network: Network) -> int:
    """Return how many classes a network tells apart: its outputs, or 2 for a single output."""
    return max(2, network.num_outputs)


@read_arguments
def classes_of_outputs(outputs: Float[np.ndarray, "s m"]) -> Int[np.ndarray, " s"]:
    """Return the class that each row of scores stands for: outputs, where the largest decides.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> scores, values = np.array([[1.0, 3.0, 3.0]]), np.array([[0.0], [2.0]])
    >>> rs.classification.classes_of_outputs(scores), rs.classification.classes_of_outputs(values)
    (array([1]), array([0, 1]))
    """
    if outputs.shape[1] == 1:
        return (outputs[:, 0] > 0).astype(np.int64)
    return outputs.argmax(axis=1)


@read_arguments
@holds_across_jumps
def predicted_classes(network: Network, x: Points) -> Int[np.ndarray, " s"]:
    """Return the predicted class of every point.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> rs.classification.predicted_classes(net, [[1.0, 2.0], [3.0, 0.0]])
    array([1, 0])
    """
    outputs = network.scores(x)
    return classes_of_outputs(outputs.reshape(len(outputs), -1).cpu().numpy())


@read_arguments
@holds_across_jumps
def accuracy(network: Network, x: Points, labels: Int[np.ndarray, " s"]) -> Finding:
    """Return the share of points whose predicted class is their label.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    labels : (s,) int

    Returns
    -------
    Finding
        EXACT for these points, or an interval if the two largest outputs of some points tie within float64
        rounding.

    Raises
    ------
    ShapeError
        If there is not one label per point.
    InputError
        If a label is no output of the network.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> print(rs.classification.accuracy(net, [[1.0, 2.0], [3.0, 0.0]], np.array([1, 1])))
    0.5 (EXACT)
    """
    found = _correctness(network, x, labels)
    return _share(found, np.ones(len(found.right), dtype=bool), "accuracy", "samples")


def accuracy_of_outputs(forward: RoundedForward, labels: Int[np.ndarray, " s"]) -> Finding:
    """Return the share of points whose class is their label, from given outputs; see `accuracy`."""
    return _share(_correctness_of_outputs(forward, labels), np.ones(len(labels), dtype=bool), "accuracy", "samples")


@read_arguments
def accuracy_by_class(network: Network, x: Points, labels: Int[np.ndarray, " s"]) -> Findings:
    """Return, for every label, the share of its points whose predicted class is that label.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    labels : (s,) int

    Returns
    -------
    Findings
        ``accuracy`` for every label that occurs, ascending, with intervals and errors as in `accuracy`.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> print(rs.classification.accuracy_by_class(net, [[1.0, 2.0], [3.0, 0.0]], np.array([1, 1])))
    label  accuracy
    1        50.0 %
    """
    labels = read_classes(network, labels)
    found = _correctness(network, x, labels)
    every, sizes = np.unique(labels, return_counts=True)
    counts = np.stack([_counts(found, labels == label) for label in every], axis=1)
    return Findings.of(
        Column.of(ACCURACY, *(counts / sizes), method=METHOD),
        keys={"label": every},
        domain=f"{len(labels):,} samples",
        num_samples=len(labels),
        seconds=found.seconds,
    )


@dataclass(frozen=True)
class _Correctness:
    """Which points are classified correctly, and of which rounding leaves that open."""

    right: np.ndarray
    close: np.ndarray
    seconds: float


def _correctness(network: Network, x: Points, labels: np.ndarray) -> _Correctness:
    began = time.perf_counter()
    forward = _scored(network.scores, x)
    labels = read_classes(network, labels, len(forward.outputs))
    found = _correctness_of_outputs(forward, labels)
    return _Correctness(found.right, found.close, time.perf_counter() - began)


def _scored(network: Network, x: Points) -> RoundedForward:
    """Return scores with bounds on rounding: those that all points share and, where they leave a class open, its own.

    One forward pass in place of the four of bounds of every value, but for points next to a decision boundary.
    """
    points = network.points(x)
    if not len(points):
        return rounded_forward(network, points)
    outputs, errors = forward_with_errors(network, points)
    is_open = np.flatnonzero(~_is_apart(outputs, errors))
    if len(is_open):
        own = rounded_forward(network, points[torch.from_numpy(is_open).to(points.device)])
        outputs[is_open], errors[is_open] = own.outputs, own.errors
    return RoundedForward(outputs, errors, np.zeros((len(outputs), 0), dtype=bool))


def _is_apart(outputs: Float[np.ndarray, "s m"], errors: Float[np.ndarray, "s m"]) -> Bool[np.ndarray, " s"]:
    """Return whether one class is ahead of all others, whatever rounding did."""
    if outputs.shape[1] == 1:
        return np.abs(outputs[:, 0]) > errors[:, 0]
    return (outputs + errors >= (outputs - errors).max(axis=1, keepdims=True)).sum(axis=1) == 1


def _correctness_of_outputs(forward: RoundedForward, labels: np.ndarray) -> _Correctness:
    return _Correctness(classes_of_outputs(forward.outputs) == labels, is_close(forward), 0.0)


def _share(found: _Correctness, chosen: np.ndarray, name: str, what: str) -> Finding:
    right, least, most = _counts(found, chosen)
    number = int(chosen.sum())
    return Finding.of(
        right / number,
        least / number,
        most / number,
        resolution=0.0,
        name=name,
        definition=f"share of {what} whose class is their label: {right:,} of {number:,}",
        domain=f"{number:,} samples",
        num_samples=number,
        method=METHOD,
        num_undecided=most - least,
        work={"seconds": found.seconds} if found.seconds else {},
        is_share=True,
    )


def _counts(found: _Correctness, chosen: np.ndarray) -> tuple[int, int, int]:
    """Return how many of the chosen points are right, and at least and at most are whatever rounding does."""
    right, close = found.right & chosen, found.close & chosen
    least = int((right & ~close).sum())
    return int(right.sum()), least, least + int(close.sum())


def read_classes(network: Network, labels: Any, num_samples: int | None = None) -> Int[np.ndarray, " s"]:
    """Return labels, checked to be classes of the network, one per sample.

    See `reluscope.arguments.read_labels` for what labels may be. InputError if one is no class, ShapeError if there is
    not one per sample.
    """
    labels = read_labels(labels, num_samples=num_samples)
    check_classes(labels, network.num_outputs)
    return labels


def check_classes(labels: Int[np.ndarray, " s"], num_outputs: int) -> None:
    """Raise InputError unless labels are classes of a network with so many outputs."""
    most = max(2, num_outputs)
    if len(labels) and int(labels.max()) >= most:
        kind = "a network with one output tells 2 classes apart" if num_outputs == 1 else "as many as outputs"
        raise InputError(
            f"labels must be class numbers from 0 to {most - 1} ({kind}), got {int(labels.max())}: give labels that "
            "belong to this network, or leave them out; a report may take them for numbers (--task regression)"
        )


def is_close(forward: RoundedForward) -> Bool[np.ndarray, " s"]:
    """Whether rounding could change the class: near ties count, exact ones go to the lowest class."""
    outputs, errors = forward.outputs, forward.errors
    if outputs.shape[1] == 1:
        return np.asarray((outputs[:, 0] != 0) & (np.abs(outputs[:, 0]) <= errors[:, 0]))
    close = outputs + errors >= (outputs - errors).max(axis=1, keepdims=True)
    close &= outputs < outputs.max(axis=1, keepdims=True)
    return np.asarray(close.any(axis=1))
