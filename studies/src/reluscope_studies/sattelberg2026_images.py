"""Images as the networks see them: scaled, in some channels, centred by channel; and the three that span a slice."""

from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.spatial.distance import cdist
from torch.nn.functional import interpolate

from reluscope_studies.labelled import Labelled

# Channels, height and width of all images in the dissertation.
SHAPE = (3, 32, 32)
MAX_COMPARED = 2_000


def prepared(training: Labelled, testing: Labelled, *, shape: tuple[int, int, int] | None) -> tuple[Labelled, Labelled]:
    """Return both parts with mean 0 and variance 1 in every channel of the training part.

    Parameters
    ----------
    training, testing : Labelled
    shape : (channels, height, width), optional
        What images become: bilinear, and one channel repeated where several are wanted. By default they stay as they
        are.
    """
    parts = [part if shape is None else _scaled(part, shape) for part in (training, testing)]
    pixels = parts[0].points.reshape(len(training), *parts[0].shape)
    mean, deviation = pixels.mean(axis=(0, 2, 3)), pixels.std(axis=(0, 2, 3))
    deviation = np.where(deviation > 0, deviation, 1.0)
    found = []
    for part in parts:
        images = part.points.reshape(len(part), *part.shape)
        centred = (images - mean[:, None, None]) / deviation[:, None, None]
        found.append(replace(part, points=centred.reshape(len(part), -1)))
    return found[0], found[1]


def drawn(part: Labelled, most: int | None, seed: int) -> Labelled:
    """Return at most so many of the samples, drawn at random, in their order; all of them for None."""
    if most is None or len(part) <= most:
        return part
    rows = np.sort(np.random.default_rng(seed).choice(len(part), most, replace=False))
    return replace(part, points=part.points[rows], labels=part.labels[rows])


def nearest_triple(points: Float[np.ndarray, "s n"]) -> Int[np.ndarray, " 3"]:
    """Return an image and the two nearest to it, of all such triples the one with the least sum of distances.

    Parameters
    ----------
    points : (s, n) float64
        The first 2,000 are compared.
    """
    distances = cdist(points[:MAX_COMPARED], points[:MAX_COMPARED])
    np.fill_diagonal(distances, np.inf)
    near = np.argsort(distances, axis=1)[:, :2]
    rows = np.arange(len(distances))
    total = distances[rows, near[:, 0]] + distances[rows, near[:, 1]] + distances[near[:, 0], near[:, 1]]
    # Equal images span no plane.
    total[~(distances[rows, near[:, 0]] > 0) | ~(distances[near[:, 0], near[:, 1]] > 0)] = np.inf
    chosen = int(total.argmin())
    return np.array([chosen, *near[chosen]])


def summed(values: Float[np.ndarray, "r k n"], shape: tuple[int, ...]) -> Float[np.ndarray, "r k p"]:
    """Return coefficients of images with all channels added up, each row by its largest entry.

    Parameters
    ----------
    values : (rows, columns, n) float64
    shape : (channels, height, width)

    Returns
    -------
    (rows, columns, height * width) float64
    """
    images = values.reshape(*values.shape[:2], -1, shape[-2] * shape[-1]).sum(axis=2)
    largest = np.abs(images).max(axis=(1, 2), keepdims=True)
    return images / np.where(largest > 0, largest, 1.0)


def _scaled(part: Labelled, shape: tuple[int, int, int]) -> Labelled:
    images = torch.tensor(part.points.reshape(len(part), *part.shape))
    if part.shape[-2:] != shape[1:]:
        # Without antialias a smaller image would leave out pixels of the larger one.
        images = interpolate(images, size=shape[1:], mode="bilinear", align_corners=False, antialias=True)
    if images.shape[1] == 1:
        images = images.repeat(1, shape[0], 1, 1)
    return replace(part, points=images.reshape(len(part), -1).numpy(), shape=tuple(images.shape[1:]))
