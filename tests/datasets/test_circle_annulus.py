"""Circle and annulus: where the points are, how they are spread, and what their classes mean."""

import numpy as np
import pytest

from reluscope.datasets import circle_annulus, open_dataset, xor_annulus
from reluscope.errors import InputError


def test_classes_are_disc_and_annulus():
    data = circle_annulus(4000, radius=2.0, inner=3.0, outer=5.0, seed=3)
    distance = np.linalg.norm(data.points, axis=1)
    disc, annulus = distance[data.labels == 0], distance[data.labels == 1]
    assert len(disc) == len(annulus) == 2000
    assert disc.max() <= 2.0
    assert annulus.min() >= 3.0
    assert annulus.max() <= 5.0
    # Uniform in area: the square of the distance is uniform.
    assert np.mean(disc**2) == pytest.approx(2.0, rel=0.05)
    assert np.mean(annulus**2) == pytest.approx((9 + 25) / 2, rel=0.05)
    assert np.abs(data.points.mean(axis=0)).max() < 0.2


def test_default_radii_are_the_dissertations():
    distance = np.linalg.norm(circle_annulus(20_000).points, axis=1).reshape(-1, 2)
    assert distance[:, 0].max() == pytest.approx(0.5, abs=1e-3)
    assert distance[:, 1].min() == pytest.approx(0.5**0.5, abs=1e-3)
    assert distance[:, 1].max() == pytest.approx(1.0, abs=1e-3)


def test_the_exclusive_or_changes_classes_in_two_quadrants():
    plain, crossed = circle_annulus(500, seed=4), xor_annulus(500, seed=4)
    assert np.array_equal(plain.points, crossed.points)
    right, top = (plain.points > 0).T
    assert np.array_equal(plain.labels != crossed.labels, right != top)


def test_seeds_names_and_what_is_refused():
    assert not np.array_equal(circle_annulus(10, seed=1).points, circle_annulus(10).points)
    assert len(open_dataset("circle-annulus")) == len(open_dataset("xor-annulus")) == 1000
    for options in ({"count": 0}, {"radius": 0.0}, {"inner": 0.4}, {"outer": 0.7}, {"outer": np.inf}):
        with pytest.raises(InputError, match=r"radius <= inner < outer|must be a (whole )?number"):
            circle_annulus(**options)
