"""Rounding in gradients: the formula, and gradients that are zero in truth and not in float64."""

import numpy as np
import pytest
import torch

from networks.models import layers
from oracles.rational_steps import LEAKY, RELU, affine, network_of, rational_map
from reluscope.networks.building.builder import GraphBuilder
from reluscope.networks.evaluation.gradient_errors import gradient_errors
from reluscope.networks.models.load import load
from reluscope.regions.nearest_facets import nearest_facets
from reluscope.regions.regions import regions
from reluscope.testing import default_network

UNIT = 16 * 2.0**-52


def errors_of(net, pieces, largest):
    pieces, largest = ([torch.tensor(table) for table in tables] for tables in (pieces, largest))
    return [table.numpy() for table in gradient_errors(net, pieces, largest, len(pieces[0]), UNIT)[0]]


def test_what_a_stage_adds_and_what_it_passes_on():
    leaky = ("pointwise", [0.0], [0.5, 2.0], [0.0, 0.0])
    net = network_of([affine([[3.0, -4.0], [1.0, 0.0]], [1.0, 0.0]), leaky, affine([[5.0, 7.0]], [0.0]), RELU], 2)
    largest = np.array([[4.0, 1.0], [0.0, 1.0]]), np.array([[40.0], [40.0]])
    first, second = errors_of(net, [np.array([[1, 0], [0, 1]]), np.array([[1], [1]])], largest)
    # |3| + |-4| inputs of gradient one, and one of them
    assert first == pytest.approx(UNIT * np.array([[7.0, 1.0], [7.0, 1.0]]), rel=1e-9, abs=0)
    # Slopes 2 and 1/2 round as well.
    passed = 5.0 * (2.0 * 7.0 + 8.0) + 7.0 * (0.5 * 1.0 + 0.5)
    assert second[0] == pytest.approx(UNIT * (5.0 * 8.0 + 7.0 * 0.5 + passed), rel=1e-9, abs=0)
    passed = 5.0 * 0.5 * 7.0 + 7.0 * (2.0 * 1.0 + 2.0)
    assert second[1] == pytest.approx(UNIT * (7.0 * 2.0 + passed), rel=1e-9, abs=0)


def test_units_that_are_flat_have_nothing_to_pass_on():
    net = load(layers([2, 3, 3, 1]))
    pieces = [np.zeros((1, 3), dtype=int)] * 2
    assert not errors_of(net, pieces, [np.ones((1, 3)), np.zeros((1, 3))])[1].any()


def test_a_sum_that_several_stages_read_is_as_large_as_its_terms():
    builder = GraphBuilder()
    x = builder.input((1,))
    trunk = builder.linear(x, torch.tensor([[3.0]], dtype=torch.float64))
    unit = builder.relu(trunk)
    net = builder.build(
        builder.relu(builder.add(trunk, builder.linear(unit, torch.tensor([[-2.0]], dtype=torch.float64))))
    )
    first, found = errors_of(net, [np.array([[1]])] * 2, [np.array([[3.0]])] * 2)
    assert first == pytest.approx(UNIT * 3.0)
    # The product -2 * 3 rounds, and the sum does; the trunk's own error is in both terms.
    product = 2.0 * 3.0 + 2.0 * 3.0
    assert found == pytest.approx(UNIT * (3.0 + product + 3.0 + 6.0))


def test_a_max_unit_passes_on_its_choice():
    builder = GraphBuilder()
    x = builder.input((4,))
    net = builder.build(builder.relu(builder.linear(builder.maxout(x, 0, 2), torch.ones(1, 2, dtype=torch.float64))))
    largest = [np.array([[[1.0, 50.0], [50.0, 1.0]]]), np.array([[1.0]])]
    first, second = errors_of(net, [np.array([[0, 1]]), np.array([[1]])], largest)
    assert not first.any()
    assert second == pytest.approx(UNIT * 2.0)


@pytest.mark.parametrize("exponent", [40, 100, 300])
def test_hidden_units_have_any_scale(exponent):
    rng = np.random.default_rng(exponent)
    plain = default_network([3, 6, 5, 2], seed=exponent)
    (first, bias), *rest = plain
    powers = 2.0 ** rng.integers(-exponent, exponent + 1, len(bias))
    (second, other), *rest = rest
    scaled = [(first * powers[:, None], bias * powers), (second / powers, other), *rest]
    points = rng.normal(size=(20, 3))
    for one, same in zip(regions(load(plain), points), regions(load(scaled), points), strict=True):
        assert np.array_equal(one.sources, same.sources)
    one, same = (nearest_facets(load(net).at(points)) for net in (plain, scaled))
    assert np.array_equal(one.distances, same.distances)
    assert np.array_equal(one.sources, same.sources)


@pytest.mark.slow
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
        found = nearest_facets(net.at([[0.0]]))
        assert found.sources[0, 0] < 2
    assert tried > 5
