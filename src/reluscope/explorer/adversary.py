"""A point of another class near a given one, by projected gradients within growing balls."""

import numpy as np
from jaxtyping import Float

from reluscope.analyses.classification.classes import predicted_classes
from reluscope.analyses.local.adversaries import pgd
from reluscope.errors import InputError
from reluscope.explorer.session import Session
from reluscope.geometry.domains import Box

# Radii as shares of the largest side of the data's box: each is twice the one before.
RADII = tuple(2.0**power for power in range(-8, 1))


def adversary_of(session: Session, point: Float[np.ndarray, " n"], name: str) -> Float[np.ndarray, " n"]:
    """Return a point of another class, in the smallest of some balls in which gradients find one.

    Parameters
    ----------
    session : Session
    point : (n,) float64
    name : str
        What the point is called.

    Raises
    ------
    InputError
        If the network is no classifier, or none was found.
    """
    if not session.is_classifier:
        raise InputError("an adversary needs a classifier: use a sample or a random point")
    network = session.network
    label = predicted_classes(network, point[None])
    low, high = session.low_and_high
    box = Box(np.minimum(low, point) - 0.0, np.maximum(high, point) + 0.0)
    scale = float((high - low).max()) or 1.0
    for radius in RADII:
        found = pgd(network, point[None], label, radius=radius * scale, box=box)[0]
        if predicted_classes(network, found[None])[0] != label[0]:
            return found
    raise InputError(f"no adversary of {name} was found within the range of the data: use another point")
