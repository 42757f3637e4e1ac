"""Where coefficients are: in pixels that an image has ink in, or beside them (Figure 6.3)."""

import numpy as np
from jaxtyping import Float

import reluscope as rs
from reluscope_studies.sattelberg2026_images import summed

# Coefficients above this share of the largest are what a picture of them shows.
VISIBLE = 0.1


def ink_share(network: rs.Network, images: Float[np.ndarray, "k n"], shape: tuple[int, ...]) -> float:
    """Return which share of the coefficients that a picture shows lie in pixels with ink, the mean over images.

    Coefficients are summed over channels, as they are drawn; ink is what is brighter than the darkest pixel of an
    image, in any channel.

    Parameters
    ----------
    network : Network
    images : (k, n) float64
        With a flat, dark background.
    shape : (channels, height, width)

    Examples
    --------
    >>> net = rs.load([(np.array([[1.0, 0.0, 0.5, 0.05]]), np.zeros(1))])
    >>> ink_share(net, np.array([[1.0, 0.0, 0.0, 0.0]]), (1, 2, 2))
    0.5
    """
    weights = network.linearize(images).weight.cpu().numpy()
    found = []
    for image, rows in zip(images, weights, strict=True):
        is_ink = (image > image.min()).reshape(shape[0], -1).any(axis=0)
        drawn = np.abs(summed(rows[:, None], shape)[:, 0])
        is_visible = drawn > VISIBLE
        found.append((is_visible & is_ink).sum() / max(1, is_visible.sum()))
    return float(np.mean(found))
