"""Rows of a partition as regions of their own."""

from types import SimpleNamespace

import numpy as np
import pytest

from reluscope.partitions.rows import Row


def test_corners_that_rounding_makes_one_have_no_side_between_them():
    corners = np.array([[1.0, 1.0], [2.0, 1.0], [2.0, 1.0], [2.0, 2.0]])
    part = SimpleNamespace(
        region_vertices=(np.array([0, 4]), np.arange(4)),
        vertices=corners,
        has_facet_vertices=True,
        geometry=SimpleNamespace(corners=SimpleNamespace(vertex_blur=np.zeros(4))),
    )
    body = Row(part, 0).polyhedron
    assert len(body.A) == 3
    assert body.volume() == pytest.approx(0.5)
