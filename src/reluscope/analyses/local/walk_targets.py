"""Targets to walk to from a point of one class: the mean of another class, or one of its points.

Zhang and Wu take means where a mean is of its own class, as on MNIST, and points where it is not, as on CIFAR-10.

Reference: Zhang and Wu, "Empirical studies on the properties of linear regions in deep neural networks", 2020.
"""

import numpy as np
from jaxtyping import Float, Int

from reluscope.analyses.classification.class_predictions import num_classes, read_classes
from reluscope.arguments import Seed, read_arguments, read_labels
from reluscope.errors import InputError
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network


@read_arguments
def class_means(network: Network, x: Points, labels: Int[np.ndarray, " s"]) -> Float[np.ndarray, "m n"]:
    """Return the mean of the points of every class, NaN for a class without points.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    labels : (s,) int

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> rs.local.class_means(net, [[1.0, 0.0], [3.0, 0.0], [0.0, 1.0]], np.array([0, 0, 1]))
    array([[2., 0.],
           [0., 1.]])
    """
    flat, labels = _labelled(network, x, labels)
    number = num_classes(network)
    means = np.full((number, flat.shape[1]), np.nan)
    for label in np.unique(labels):
        means[label] = flat[labels == label].mean(axis=0)
    return means


@read_arguments
def other_means(
    network: Network, x: Points, labels: Int[np.ndarray, " s"], classes: Int[np.ndarray, " k"], *, seed: Seed
) -> Float[np.ndarray, "k n"]:
    """Return, for every given class, the mean of a different class, drawn at random.

    The draw is among the classes that have points.

    Parameters
    ----------
    network : Network
    x, labels : (s, *input_shape) or (s, n), and (s,) int
        The points whose means are computed.
    classes : (k,) int
        The classes to avoid.
    seed : int

    Raises
    ------
    InputError
        If no other class has points.

    Notes
    -----
    The mean may belong to another class: check with `reluscope.classification.predicted_classes`.
    """
    means = class_means(network, x, labels)
    present = np.flatnonzero(~np.isnan(means[:, 0]))
    rng = np.random.default_rng(seed)
    classes = read_labels(classes, num_classes=num_classes(network), name="classes")
    return means[[rng.choice(_others(present, one)) for one in classes.tolist()]]


@read_arguments
def other_points(
    network: Network, x: Points, labels: Int[np.ndarray, " s"], classes: Int[np.ndarray, " k"], *, seed: Seed
) -> Float[np.ndarray, "k n"]:
    """Return, for every given class, a random point of a different class.

    All points of other classes are equally likely.

    Parameters
    ----------
    network : Network
    x, labels : (s, *input_shape) or (s, n), and (s,) int
        The points to draw from.
    classes : (k,) int
        The classes to avoid.
    seed : int

    Raises
    ------
    InputError
        If no point is of another class.
    """
    flat, labels = _labelled(network, x, labels)
    rng = np.random.default_rng(seed)
    classes = read_labels(classes, num_classes=num_classes(network), name="classes")
    chosen = np.empty(len(classes), dtype=np.int64)
    for one in np.unique(classes).tolist():
        rows = np.flatnonzero(classes == one)
        chosen[rows] = rng.choice(_others(np.arange(len(labels)), one, labels), len(rows))
    return flat[chosen]


def _others(candidates: np.ndarray, one: int, labels: np.ndarray | None = None) -> np.ndarray:
    others = candidates[(candidates if labels is None else labels) != one]
    if not len(others):
        raise InputError(f"expected points of a class other than {one}, got none: give points of two classes")
    return others


def _labelled(network: Network, x: Points, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    flat = network.points(x).reshape(-1, network.num_inputs).cpu().numpy()
    return flat, read_classes(network, labels, len(flat))
