"""Two spirals: where they are, and that they stay apart."""

import numpy as np
import pytest

from reluscope.datasets import open_dataset, spirals
from reluscope.errors import InputError


def test_one_is_the_other_turned_by_half_a_turn():
    data = spirals(400)
    radius = np.linalg.norm(data.points, axis=1)
    assert radius.min() > 0.09
    assert radius.max() < 0.96
    turned = data.points * (1 - 2 * data.labels[:, None])
    angle = np.unwrap(np.arctan2(*turned[np.argsort(radius)].T[::-1]))
    line = np.polyfit(np.sort(radius), angle, 1)
    assert np.allclose(np.polyval(line, np.sort(radius)), angle, atol=1e-9)


def test_the_arms_stay_apart():
    data = spirals(2000)
    first, second = (data.points[data.labels == one] for one in (0, 1))
    assert np.linalg.norm(first[:, None] - second, axis=2).min() > 0.15


def test_noise_and_seeds():
    assert not np.array_equal(spirals(10, seed=1).points, spirals(10).points)
    moved = spirals(5000, noise=0.1).points - spirals(5000).points
    assert moved.std() == pytest.approx(0.1, rel=0.05)
    assert len(open_dataset("spirals")) == 1000
    for count, noise in ((0, 0.0), (5, -1.0), (5, np.nan)):
        with pytest.raises(InputError, match=r"must be a (whole )?number of at least"):
            spirals(count, noise=noise)
