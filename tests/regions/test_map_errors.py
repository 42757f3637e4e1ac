"""Rounding in gradients: the formula, and gradients that are zero in truth and not in float64."""

import numpy as np
import pytest
import torch

from networks.models import layers
from oracles.rational_steps import LEAKY, RELU, affine, network_of, rational_map
from reluscope.networks.builder import GraphBuilder
from reluscope.networks.load import load
from reluscope.regions.map_errors import MapErrors
from reluscope.regions.nearest import nearest_facets

UNIT = 16 * 2.0**-52


def test_what_a_stage_adds_and_what_it_passes_on():
    net = network_of(
        [affine([[3.0, -4.0]], [1.0]), ("pointwise", [0.0], [0.5, 2.0], [0.0, 0.0]), affine([[5.0]], [0.0]), RELU], 2
    )
    errors = MapErrors(2, UNIT)
    first = errors.at(net.stages[0], np.array([4.0, 0.0]))
    assert first == pytest.approx(UNIT * 7.0 * np.ones((2, 1)), rel=1e-9, abs=0)  # |3| + |-4| inputs of gradient one
    # Twice the gradient, twice its error; passed on by the ratio of the largest entries.
    second = errors.at(net.stages[1], np.array([40.0, 0.0]))
    assert second[0] == pytest.approx(UNIT * 5.0 * 8.0 + 2.0 * UNIT * 7.0 * 40.0 / 8.0, rel=1e-9, abs=0)
    assert second[1] == 0.0  # a gradient of zero has nothing to pass on


def test_a_sum_that_several_stages_read_takes_the_largest_of_all():
    net = load(layers([2, 3, 3, 1]))
    errors = MapErrors(1, UNIT)
    errors.at(net.stages[0], np.array([2.0]))
    errors._sizes = {0: np.array([1.0]), -1: np.array([6.0])}  # what the second stage reads is not among them
    errors._errors = {0: np.array([0.0]), -1: np.array([3.0])}
    found = errors.at(net.stages[1], np.array([12.0]))
    assert found[0] == pytest.approx(UNIT * net.stages[1].gain * 6.0 + 3.0 * 12.0 / 6.0, rel=1e-9, abs=0)


def test_one_value_that_no_gate_gave_is_enough_for_that():
    builder = GraphBuilder()
    x = builder.input((2,))
    eye = torch.eye(2, dtype=torch.float64)
    hidden = builder.relu(builder.linear(x, eye))
    net = builder.build(builder.relu(builder.add(builder.linear(hidden, eye), builder.linear(x, eye))))
    assert len(net.stages[1].reads) == 2
    errors = MapErrors(1, UNIT)
    errors._sizes, errors._errors = {0: np.array([6.0])}, {0: np.array([3.0])}  # the gate's is missing
    found = errors.at(net.stages[1], np.array([12.0]))
    assert found[0] == pytest.approx(UNIT * net.stages[1].gain * 6.0 + 3.0 * 12.0 / 6.0, rel=1e-9, abs=0)


def test_a_unit_that_never_moves_in_truth_has_no_facet():
    """``(x y) z - (z y) x`` is zero; in float64 it is a few 1e-17, and the facet it would give is nowhere."""
    tried = 0
    for seed in range(60):
        x, y, z = np.random.default_rng(seed).uniform(0.1, 1.0, 3)
        steps = [
            affine([[x], [z]], [9.0, 9.0]),
            LEAKY,
            affine([[y, 0.0], [0.0, y]], [9.0, 9.0]),
            LEAKY,
            affine([[z, -x]], [1e-3]),
        ]
        weight = np.array([[z, -x]]) @ (np.diag([y, y]) @ np.array([[x], [z]]))
        if not weight[0, 0]:
            continue
        tried += 1
        net = network_of([*steps, RELU, affine([[1.0]], [0.0])], 1)
        assert rational_map(steps, [0.0])[0][0] == 0
        found = nearest_facets(net, [[0.0]])
        assert found.sources[0, 0] < 2
    assert tried > 5
