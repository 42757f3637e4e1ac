"""Boxes that the kernel halves on networks of few open units, against samples."""

import numpy as np
import pytest

import reluscope as rs
from networks.models import layers
from reluscope.analyses.boxes.box_bounds import BoxBounds
from reluscope.geometry.numbers.norms import L1, L2, LINF

LOWER, UPPER = np.full((1, 3), -0.6), np.full((1, 3), 0.7)


@pytest.mark.few(1)
@pytest.mark.parametrize("norm", [L1, L2, LINF], ids=str)
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
            left = kernels.near(
                LOWER,
                UPPER,
                keys,
                (seen.low, seen.high),
                (x, rows, norm),
                lengths=lengths,
                most_boxes=most_boxes,
                codes=codes,
            )
            away = norm.size(z - x)
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


@pytest.mark.parametrize("norm", [L1, L2, LINF], ids=str)
def test_where_a_function_is_hardly_negative_its_least_point_is_kept(norm):
    """Functions are lowered until only one sample is below zero: whatever ranges are, it must not be ruled out."""
    rng, lost = np.random.default_rng(7), []
    codes, near = (1, 1), 0.05
    for seed in range(4):
        *inner, (weight, bias) = layers([3, 8, 7, 4], seed=seed)
        last = np.concatenate([weight, np.zeros((1, weight.shape[1]))]), np.append(bias, 1.0)
        net = rs.load([*inner, last])
        z = rng.uniform(LOWER, UPPER, (4000, 3))
        outputs = net(z).numpy()
        boxes = BoxBounds(net, LOWER[0], UPPER[0]).on(LOWER, UPPER)
        kernels, seen = boxes.dense
        for row in rng.normal(size=(8, 4)):
            values = outputs[:, :4] @ row
            least = z[values.argmin()]
            rows = np.append(row, -values.min() - 1e-9)[None]  # below zero by a billionth there
            x = np.clip(least + rng.uniform(-0.2, 0.2, 3), LOWER[0], UPPER[0])
            away = float(norm.size((least - x)[None])[0])
            asked = LOWER, UPPER, np.zeros(1), (seen.low, seen.high), (x, rows, norm)
            left = kernels.near(*asked, lengths=(2 * away, 2 * away * (1 - 1e-9), near), most_boxes=4000, codes=codes)
            within = ((least >= left.lower - 1e-12) & (least <= left.upper + 1e-12)).all(axis=1)
            if not within.any() and left.passed > away * (1 + 1e-9):
                lost.append((seed, row))
    assert not lost
