"""Colours of categories, as people with each kind of colour blindness see them."""

from itertools import combinations

import numpy as np
import pytest

from reluscope.palette import CATEGORIES, DARK, LIGHT, TINT, mixed_with_white

# Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color vision deficiency", 2009: of
# linear RGB, where one kind of cone is missing.
SEEN_BY = {
    "everyone else": np.eye(3),
    "protanopes": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopes": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopes": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def lab(colors, matrix):
    """Return CIELAB coordinates, of white (100, 0, 0), of colours as somebody sees them."""
    coded = np.array([[int(one[place : place + 2], 16) / 255 for place in (1, 3, 5)] for one in colors])
    linear = np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)
    parts = np.clip(linear @ matrix.T, 0, 1) @ TO_XYZ.T / (TO_XYZ @ np.ones(3))
    curved = np.where(parts > 216 / 24389, np.cbrt(parts), (24389 / 27 * parts + 16) / 116)
    x, y, z = curved.T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


def least_difference(colors, matrix):
    places = lab(colors, matrix)
    return min(np.linalg.norm(one - other) for one, other in combinations(places, 2))


def test_white_and_black_are_where_they_are_defined():
    np.testing.assert_allclose(lab(["#ffffff", "#000000"], np.eye(3)), [[100, 0, 0], [0, 0, 0]], atol=1e-9)


@pytest.mark.parametrize("reader", SEEN_BY)
def test_everyone_tells_categories_apart(reader):
    """A difference of 2.3 is just noticeable side by side; seen red: 4.7 between two of ten colours, for protanopes."""
    assert least_difference([*CATEGORIES, DARK, LIGHT], SEEN_BY[reader]) > 15


@pytest.mark.parametrize("reader", SEEN_BY)
def test_everyone_tells_areas_apart(reader):
    assert least_difference([mixed_with_white(one, TINT) for one in CATEGORIES], SEEN_BY[reader]) > 8
