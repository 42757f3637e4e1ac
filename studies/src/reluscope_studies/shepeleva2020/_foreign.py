"""Samples out of the domain of the training data, made from samples in it or from other images."""

import numpy as np
from jaxtyping import Float

import reluscope as rs
from reluscope_studies.labelled import Labelled

INSIDE = "in domain"


def foreign_samples(
    inside: Labelled, other: rs.datasets.Dataset | None, *, seed: int
) -> dict[str, Float[np.ndarray, "s n"]]:
    """Return samples in the domain and out of it, as many of each kind, by what they are.

    Parameters
    ----------
    inside : Labelled
        Square images of one channel, with pixels in [0, 1].
    other : Dataset, optional
        Square images of three channels, at least as large.
    seed : int

    Returns
    -------
    dict of names to (s, n) arrays
        The samples themselves; turned by a quarter; with their pixels shuffled, all alike; of independent uniform
        pixels; and the other images in grey, fitted to the size.

    Examples
    --------
    >>> from reluscope.datasets.digits import digits
    >>> data = digits("test")
    >>> inside = Labelled(data.points.reshape(len(data), -1), data.labels, data.name, data.shape)
    >>> list(foreign_samples(inside, None, seed=0))
    ['in domain', 'rotated', 'shuffled', 'noise']
    """
    generator = np.random.default_rng(seed)
    points = inside.points
    images = points.reshape(len(inside), *inside.shape)
    kinds = {
        INSIDE: points,
        "rotated": np.ascontiguousarray(np.rot90(images, axes=(-2, -1))).reshape(points.shape),
        "shuffled": points[:, generator.permutation(points.shape[1])],
        "noise": generator.uniform(size=points.shape),
    }
    if other is not None:
        chosen = generator.permutation(len(other))[: len(inside)]
        kinds["CIFAR-10 in grey"] = _grey(other.points[chosen], inside.shape[-1])
    return kinds


def _grey(images: Float[np.ndarray, "s c h w"], side: int) -> Float[np.ndarray, "s n"]:
    """Return means over colours and blocks of pixels; what does not fit is cut off at the borders."""
    step = images.shape[-1] // side
    border = (images.shape[-1] - step * side) // 2
    kept = images[:, :, border : border + step * side, border : border + step * side]
    return kept.reshape(len(images), -1, side, step, side, step).mean(axis=(1, 3, 5)).reshape(len(images), -1)
