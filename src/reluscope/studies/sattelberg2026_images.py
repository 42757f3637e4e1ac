"""Images as the networks see them: scaled, in three channels, centred by channel; and the three that span a slice."""

from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.spatial.distance import cdist
from torch.nn.functional import interpolate

from reluscope.studies.study import Labelled

SIDE = 32
MOST_COMPARED = 2_000


def prepared(training: Labelled, testing: Labelled, *, scaled: bool) -> tuple[Labelled, Labelled]:
    """Return both parts with mean 0 and variance 1 in every channel of the training part.

    Parameters
    ----------
    training, testing : Labelled
    scaled : bool
        Whether images become 32 x 32 (bilinear) with three channels, as in the dissertation.
    """
    parts = [_scaled(part) if scaled else part for part in (training, testing)]
    pixels = parts[0].points.reshape(len(training), *parts[0].shape)
    mean, deviation = pixels.mean(axis=(0, 2, 3)), pixels.std(axis=(0, 2, 3))
    deviation = np.where(deviation > 0, deviation, 1.0)
    found = []
    for part in parts:
        images = part.points.reshape(len(part), *part.shape)
        centred = (images - mean[:, None, None]) / deviation[:, None, None]
        found.append(replace(part, points=centred.reshape(len(part), -1)))
    return found[0], found[1]


def nearest_triple(points: Float[np.ndarray, "s n"]) -> Int[np.ndarray, " 3"]:
    """Return an image and the two nearest to it, of all such triples the one with the least sum of distances.

    Parameters
    ----------
    points : (s, n) float64
        The first 2,000 are compared.
    """
    distances = cdist(points[:MOST_COMPARED], points[:MOST_COMPARED])
    np.fill_diagonal(distances, np.inf)
    near = np.argsort(distances, axis=1)[:, :2]
    rows = np.arange(len(distances))
    total = distances[rows, near[:, 0]] + distances[rows, near[:, 1]] + distances[near[:, 0], near[:, 1]]
    # Equal images span no plane.
    total[~(distances[rows, near[:, 0]] > 0) | ~(distances[near[:, 0], near[:, 1]] > 0)] = np.inf
    chosen = int(total.argmin())
    return np.array([chosen, *near[chosen]])


def _scaled(part: Labelled) -> Labelled:
    images = torch.from_numpy(part.points.reshape(len(part), *part.shape))
    if part.shape[-2:] != (SIDE, SIDE):
        images = interpolate(images, size=(SIDE, SIDE), mode="bilinear", align_corners=False)
    if images.shape[1] == 1:
        images = images.repeat(1, 3, 1, 1)
    shape = tuple(images.shape[1:])
    return replace(part, points=images.reshape(len(part), -1).numpy(), shape=shape)
