"""Two spirals in the plane, one per class, that never touch."""

import numpy as np

from reluscope.arguments import Count, NonNegative, Positive, Seed, read_arguments
from reluscope.datasets.dataset import Dataset, dataset_of

# In turns, and in units of the picture: where the arms begin and end.
TURNS, INNER, OUTER = 0.75, 0.1, 0.95


@read_arguments
def spirals(count: Count = 1000, *, noise: NonNegative = 0.0, turns: Positive = TURNS, seed: Seed = 0) -> Dataset:
    """Return points on two Archimedean spirals, each the other turned by half a turn.

    Parameters
    ----------
    count : int
        Number of all points; the classes alternate.
    noise : float
        Standard deviation of the noise on every coordinate; with 0.75 turns the arms are 0.57 apart.
    turns : float
        Turns of each arm.
    seed : int
        Of the positions on the arms, uniform along them, and of the noise.

    Returns
    -------
    Dataset
        Points ``(s, 2)``, without noise in [-1, 1]^2; classes 0 and 1.

    Raises
    ------
    InputError
        If there is no point, the noise is negative, or the turns are not positive.

    Examples
    --------
    >>> import reluscope as rs
    >>> rs.datasets.spirals(6).describe(), rs.datasets.spirals(6).labels.tolist()
    ('two spirals: 6 samples of 2 numbers, with labels', [0, 1, 0, 1, 0, 1])
    """
    rng = np.random.default_rng(seed)
    # The length of an arm grows like the square of its radius.
    radius = np.sqrt(rng.uniform(INNER**2, OUTER**2, size=count))
    labels = np.arange(count) % 2
    angle = 2 * np.pi * turns * (radius - INNER) / (OUTER - INNER) + np.pi * labels
    points = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return dataset_of(points + noise * rng.normal(size=points.shape), labels, name="two spirals")
