"""Affine functions below the outputs on boxes: below them at every input, and as good as intervals."""

import numpy as np
import pytest
import torch

import reluscope as rs
from networks.models import layers
from reluscope.analyses.boxes.box_bounds import BoxBounds

NETWORKS = {
    "relu": lambda: rs.load(layers([3, 8, 6, 4], seed=1)),
    "leaky": lambda: rs.load(
        torch.nn.Sequential(
            torch.nn.Linear(3, 6),
            torch.nn.LeakyReLU(0.3),
            torch.nn.Linear(6, 5),
            torch.nn.Hardtanh(),
            torch.nn.Linear(5, 4),
        ).double(),
        input_shape=(3,),
    ),
    "max": lambda: rs.load(
        torch.nn.Sequential(
            torch.nn.Linear(3, 16), torch.nn.Unflatten(1, (1, 4, 4)), torch.nn.MaxPool2d(2), torch.nn.Flatten()
        ).double(),
        input_shape=(3,),
    ),
}


@pytest.mark.parametrize("kind", NETWORKS)
def test_functions_are_below_the_outputs(kind):
    torch.manual_seed(0)
    net, rng = NETWORKS[kind](), np.random.default_rng(0)
    center, half = rng.uniform(-1, 1, (5, 3)), rng.choice([1e-9, 0.05, 0.7], (5, 3))
    boxes = BoxBounds(net, -2 * np.ones(3), 2 * np.ones(3)).on(center - half, center + half)
    rows = rng.normal(size=(6, 4))
    below = boxes.below(rows)
    assert len(below.slopes) == {"max": 1}.get(kind, 3)
    least, steps = below.least(boxes.half), boxes.half * rng.choice([-1.0, 0.0, 0.3, 1.0], (200, 5, 3))
    values = net((boxes.centers + steps).reshape(-1, 3)).numpy().reshape(200, 5, 4) @ rows.T
    bounds = below.offsets + np.einsum("wktn,skn->swkt", below.slopes, steps)
    assert (bounds <= values[:, None] + 1e-12).all()
    assert (least <= values.min(axis=0) + 1e-12).all()
    assert (values.min(axis=0) - least)[half.max(axis=1) < 1e-6].max(initial=0.0) < 1e-6


def test_what_is_never_negative_is_not_for_its_bounds():
    net = rs.load([([[1.0, -0.3], [0.5, -1.0]], [0.1, 0.0]), ([[1.0, -1.0]], [0.0]), (np.eye(1), [0.0])])
    boxes = BoxBounds(net, -np.ones(2), np.ones(2)).on(-np.ones((1, 2)), np.ones((1, 2)))
    assert -5e-10 < boxes.below(np.ones((1, 1))).least(boxes.half)[0, 0] <= 0
    unsafe = rs.Polyhedron([[1.0]], [-1e-9])
    safe = rs.verification.Property([rs.verification.Case(-np.ones(2), np.ones(2), [unsafe])])
    assert rs.verify(net, safe, split="inputs", budget=rs.Budget(regions=1)).verdict == "HOLDS"
