"""Images as the networks see them: scaled, in some channels, centred by channel; and the three that span a slice."""

from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float, Int
from torch.nn.functional import interpolate

from reluscope_studies.labelled import Labelled

# Channels, height and width of all images in the dissertation.
SHAPE = (3, 32, 32)
BLOCK, CANDIDATES = 500, 8


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
        At least three. All of them are compared, in blocks.
    """
    near, distances = _two_nearest(points)
    between = np.linalg.norm(points[near[:, 0]] - points[near[:, 1]], axis=1)
    total = distances.sum(axis=1) + between
    # Equal images span no plane.
    total[~(distances[:, 0] > 0) | ~(between > 0)] = np.inf
    chosen = int(total.argmin())
    return np.array([chosen, *near[chosen]])


def _two_nearest(points: Float[np.ndarray, "s n"]) -> tuple[Int[np.ndarray, "s 2"], Float[np.ndarray, "s 2"]]:
    """Return the two others nearest to each point, and how far they are.

    Products of matrices find a few candidates, and differences, which lose no digits, order them.
    """
    number = min(CANDIDATES, len(points) - 1)
    norms = (points**2).sum(axis=1)
    near, distances = [], []
    for start in range(0, len(points), BLOCK):
        block = points[start : start + BLOCK]
        squared = norms - 2 * block @ points.T
        squared[np.arange(len(block)), start + np.arange(len(block))] = np.inf
        some = np.argpartition(squared, number - 1, axis=1)[:, :number]
        exact = np.stack([np.linalg.norm(points[one] - own, axis=1) for own, one in zip(block, some, strict=True)])
        order = np.argsort(exact, axis=1, kind="stable")[:, :2]
        near.append(np.take_along_axis(some, order, axis=1))
        distances.append(np.take_along_axis(exact, order, axis=1))
    return np.concatenate(near), np.concatenate(distances)


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
