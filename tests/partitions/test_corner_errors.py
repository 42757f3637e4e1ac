"""How far corners and sides of regions are from the true ones, against rows in fractions."""

from fractions import Fraction

import numpy as np
import pytest

import reluscope as rs
from reluscope.partitions.corner_errors import corner_errors, side_errors


@pytest.mark.parametrize("angle", [1e-3, 1e-5, 1e-7])
def test_sides_that_are_nearly_parallel_are_known_better_than_the_corner_where_they_meet(angle):
    weight, bias = np.array([[1.0, 0.3], [1.0, 0.3 + angle]]), np.array([0.1, 0.1 + angle / 7])
    part = rs.partition(rs.load([(weight, bias), (np.ones((1, 2)), np.zeros(1))]), rs.Box(-1, 1, 2))
    assert len(part) == 4
    sides, corners = side_errors(part), corner_errors(part)
    assert sides.max() < 1e-10
    assert (corners.max() > 1e-9) == (angle < 1e-4)
    for place, facet in enumerate(part.facets.vertices):
        ((_, unit),) = part.facets.flips_at(place).tolist()
        row = [Fraction(entry) for entry in (*weight[unit].tolist(), bias[unit].item())]
        for x, y in part.vertices[facet].tolist():
            distance = abs(row[0] * Fraction(x) + row[1] * Fraction(y) + row[2])  # rows are at least as long as 1
            assert distance <= min(sides.max(), corners.max())
