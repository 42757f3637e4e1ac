"""Boxes that the kernel halves on networks of few open units, against samples."""

import numpy as np
import pytest

import reluscope as rs
from networks.models import layers
from reluscope.analyses import dense_boxes
from reluscope.analyses.box_bounds import BoxBounds
from reluscope.geometry.norms import size

LOWER, UPPER = np.full((1, 3), -0.6), np.full((1, 3), 0.7)


@pytest.mark.parametrize("norm", dense_boxes.NORMS)
def test_where_a_function_is_negative_a_box_is_left_or_too_far(norm):
    rng = np.random.default_rng(5)
    number = 0
    for seed in range(3):
        net = rs.load(layers([3, 7, 6, 3], seed=seed))
        z, x, rows = rng.uniform(LOWER, UPPER, (2000, 3)), rng.uniform(-0.3, 0.3, 3), rng.normal(size=(2, 3))
        limit = 0.5
        boxes = BoxBounds(net, LOWER[0], UPPER[0]).on(LOWER, UPPER)
        kernels, seen = boxes.dense
        least = (net(z).numpy() @ rows.T).min(axis=1)
        for most_boxes, codes in ((0, (2, 8)), (40, (2, 2)), (4000, (1, 1)), (4000, (2, 8))):
            keys, lengths = np.zeros(1), (limit, limit * (1 - 1e-9), 0.05)
            left = kernels.near(LOWER, UPPER, keys, (seen.low, seen.high), (x, rows, norm), lengths, most_boxes, codes)
            away = size(z - x, norm)
            missed = (least < 0) & (away < min(limit, left.passed) * (1 - 1e-9))
            for low, high, key in zip(left.lower, left.upper, left.keys, strict=True):
                missed &= ~(((z >= low) & (z <= high)).all(axis=1) & (away >= key * (1 - 1e-9)))
            assert not missed.any()
            number += int(((least < 0) & (away < limit)).sum())
            assert left.num_boxes <= most_boxes
            if most_boxes == 4000:
                kept = np.prod(left.upper - left.lower, axis=1).sum()
                assert kept < 0.9 * np.prod(UPPER - LOWER)
    assert number > 200
