"""Data to learn in the plane, by name, and data of a file."""

import numpy as np

from reluscope.datasets.dataset import Dataset, dataset_of
from reluscope.datasets.opened_data import open_dataset
from reluscope.datasets.spirals import spirals
from reluscope.errors import InputError

PROBLEMS = ("spirals", "circles", "moons", "xor")
COUNT = 400
# Standard deviations of the noise, in units of pictures that reach from -1 to 1.
SPIRAL_NOISE, NOISE = 0.02, 0.08
TURNS = 1.25
# Radii of the circles, and of the moons.
INNER, OUTER, MOON = 0.45, 0.9, 0.65
# No point of xor is that close to an axis.
GAP = 0.06


def open_problem(name: str, seed: int = 0) -> Dataset:
    """Return the data of a known problem, drawn with a seed, or of a file.

    InputError if there is neither, or the data bring nothing to learn.
    """
    if name in PROBLEMS:
        return _drawn(name, seed)
    if "." not in name and ":" not in name:
        raise InputError(f"expected one of {', '.join(PROBLEMS)} or a file such as data.csv, got {name!r}")
    return with_labels(open_dataset(name))


def with_labels(data: Dataset) -> Dataset:
    """Return data that have something to learn, unchanged; InputError for data without labels."""
    if not data.has_targets:
        raise InputError(
            f"a training needs labels, and {data.name} has none: name a column of the file label, or give labels="
        )
    return data


def _drawn(name: str, seed: int) -> Dataset:
    if name == "spirals":
        return spirals(COUNT, noise=SPIRAL_NOISE, turns=TURNS, seed=seed)
    rng = np.random.default_rng(seed)
    labels = np.arange(COUNT) % 2
    if name == "xor":
        points = rng.uniform(GAP, 1.0, size=(COUNT, 2)) * rng.choice((-1.0, 1.0), size=(COUNT, 2))
        return dataset_of(points, (points.prod(axis=1) < 0).astype(np.int64), name=name)
    if name == "circles":
        angles = rng.uniform(0, 2 * np.pi, size=COUNT)
        points = np.where(labels, INNER, OUTER)[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
        return dataset_of(points + rng.normal(scale=NOISE, size=points.shape), labels, name=name)
    # Half circles, the second turned by half a turn and moved, so that each end lies within the other.
    angles = rng.uniform(0, np.pi, size=COUNT)
    turned = np.where(labels, -1.0, 1.0)
    points = turned[:, None] * (MOON * np.column_stack([np.cos(angles), np.sin(angles)]) - [MOON / 2, MOON / 4])
    return dataset_of(points + rng.normal(scale=NOISE, size=points.shape), labels, name=name)
