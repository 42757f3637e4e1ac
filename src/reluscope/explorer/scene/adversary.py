"""A point of another class near a given one, by projected gradients within growing balls."""

import numpy as np
from jaxtyping import Float

from reluscope.analyses.classification.class_predictions import predicted_classes
from reluscope.analyses.local.adversaries import pgd
from reluscope.errors import InputError
from reluscope.explorer.scene.session import Session
from reluscope.geometry.polyhedra.domains import Box

# Radii as shares of the range of all entries of the samples: each is twice the one before.
RADII = tuple(2.0**power for power in range(-8, 1))


def adversary_of(
    session: Session, point: Float[np.ndarray, " n"], name: str, written: str
) -> tuple[Float[np.ndarray, " n"], str]:
    """Return a point of another class, and the Python expression that makes it.

    It lies in the smallest of some balls in which gradients find such a point. `written` is the expression of `point`.
    InputError if the network is no classifier, or none was found.
    """
    if not session.is_classifier:
        raise InputError("an adversary needs a classifier: use a sample or a random point")
    network = session.network
    label = predicted_classes(network, point[None])
    low, high = (float(end) for end in (session.low_and_high[0].min(), session.low_and_high[1].max()))
    if not high > low:
        raise InputError("an adversary needs samples that differ: use a random point")
    box = Box(min(low, float(point.min())), max(high, float(point.max())), len(point))
    for share in RADII:
        radius = share * (high - low)
        found = pgd(network, point[None], label, radius=radius, box=box)[0]
        if predicted_classes(network, found[None])[0] != label[0]:
            where = f"rs.Box({float(box.lo[0])!r}, {float(box.hi[0])!r}, {len(point)})"
            return (
                found,
                f"rs.local.pgd(net, {written}[None], np.array([{label[0]}]), {radius=!r}, box={where})[0]",
            )
    raise InputError(f"no adversary of {name} was found within the range of the samples: use another point")
