"""Active subspaces: the bound on rounding, what counts as known beside it, and gradients that are nothing else."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch

import reluscope as rs
from oracles.rational_steps import LEAKY, affine, network_of, rational_map
from reluscope.analyses.sensitivity import gradient_covariance, gradient_spectra
from reluscope.analyses.sensitivity.gradient_covariance import ActiveSubspaces, active_subspaces
from reluscope.errors import InputError

EPS = 2.0**-52


def subspaces(eigenvalues, errors, rank_upper=3, outputs=(4, 7)):
    values = np.array(eigenvalues, dtype=np.float64)
    number = len(values)
    return ActiveSubspaces(
        outputs[:number],
        values,
        np.zeros((number, 2, 3)),
        values.sum(axis=1),
        np.array(errors),
        np.zeros(3),
        rank_upper,
        10,
    )


def test_a_share_is_as_uncertain_as_its_numerator_and_denominator():
    found = subspaces([[6.0, 3.0, 1.0]], [0.5])
    for dim, top in ((1, 6.0), (2, 9.0), (3, 10.0)):
        share = found.share(0, dim)
        assert share.claim in ("ESTIMATE", "UPPER")
        assert share.value == pytest.approx(top / 10)
        error = (dim + 1) * 0.5 / 9.5
        assert share.interval == pytest.approx((top / 10 - error, min(1.0, top / 10 + error)))
        # All errors against it: each eigenvalue and the trace off by what they may be off.
        worst = [(top - dim * 0.5) / 10.5, min(1.0, (top + dim * 0.5) / 9.5)]
        assert share.interval[0] <= worst[0] <= worst[1] <= share.interval[1]
    exact = subspaces([[6.0, 3.0, 1.0]], [1e-12]).share(0)
    assert (exact.claim, exact.interval) == ("EXACT", None)
    assert found.share(0).definition.startswith("sum of the 1 largest")


def test_the_share_of_an_output_that_may_be_all_rounding_is_an_estimate():
    found = subspaces([[6.0, 3.0, 1.0], [6.0, 3.0, 1.0]], [5.0, 4.999])
    unknown, known = found.share(0), found.share(1)
    assert (unknown.value, unknown.claim, unknown.interval) == (pytest.approx(0.6), "ESTIMATE", (0.0, 1.0))
    assert known.value == pytest.approx(0.6)
    assert found.shares == pytest.approx(np.array([[0.6, 0.9, 1.0]] * 2))
    constant = replace(found, eigenvalues=np.zeros((2, 3)), traces=np.zeros(2))
    assert (constant.share(0).value, constant.share(0).claim, constant.shares.any()) == (0.0, "LOWER", False)
    rounded = replace(found, traces=np.array([9.9, 9.9]), errors=np.array([0.0, 0.0]))
    assert rounded.shares.max() == rounded.share(0, 3).value == 1.0
    with pytest.raises(InputError, match="at least 1, got 0"):
        found.share(0, 0)


def test_ranks_count_what_is_above_its_rounding():
    found = subspaces([[6.0, 3.0, 1.0], [6.0, 3.0, 1.0]], [1.0, 0.9], rank_upper=3)
    assert found.ranks.tolist() == [2, 3]
    lower, exact = found.rank(0), found.rank(1)
    assert (lower.value, lower.claim, lower.interval, lower.tolerance) == (2, "LOWER", (2, 3), 1.0)
    assert (exact.value, exact.claim, exact.interval) == (3, "EXACT", None)


def test_the_bound_is_that_of_its_derivation():
    values = torch.tensor([4.0, 1.0, 1e-9, 0.0], dtype=torch.float64)
    directions = torch.tensor([[0.0, -2.0], [3.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
    found = gradient_spectra._spectrum(
        values, directions, torch.tensor([1.0, 1.0], dtype=torch.float64), 5.0, 1e-3, 0.01
    )
    expected = 0.01 * (2 * 5.0**0.5 + 0.01) + (1e-3 + 4 * EPS) * 5.0
    assert found.error == pytest.approx(expected)
    small = gradient_spectra._spectrum(values, directions, torch.ones(2, dtype=torch.float64), 5.0, 3 * EPS, 0.0)
    assert small.error == pytest.approx((3 + 4) * EPS * 5.0, rel=1e-12, abs=0.0)
    # Length one, towards the mean gradient, and none where sums leave no more of zero.
    assert found.directions.tolist() == [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    assert small.directions[2] == pytest.approx(np.sqrt([0.5, 0.5]))
    assert found.trace == 5.0
    negative = gradient_spectra._spectrum(-values, directions, torch.ones(2, dtype=torch.float64), 5.0, 0.0, 0.0)
    assert (negative.eigenvalues == 0).all()


@pytest.mark.slow
def test_very_deep_networks_have_directions_without_a_bound():
    """Of 300 layers, each of which turns inputs by 45 degrees: bounds grow by the root of 2 each, nothing else does."""
    turn, middle = np.array([[1.0, -1.0], [1.0, 1.0]]) / np.sqrt(2), np.full(2, 30.0)
    turned = (turn, middle - turn @ middle)
    net = rs.load([(turn, middle)] + [turned] * 300 + [(np.array([[1.0, 0.0]]), np.zeros(1))])
    points = np.random.default_rng(0).uniform(-1, 1, size=(4, 2))
    assert np.linalg.norm(net.linearize(points).weight.numpy()[:, 0], axis=1) == pytest.approx(1.0)
    found = active_subspaces(net, points, num_directions=1)
    assert found.errors[0] > found.traces[0]
    assert np.linalg.norm(found.directions[0, 0]) == pytest.approx(1.0)
    assert found.share(0).claim in ("ESTIMATE", "UPPER")
    assert int(found.rank(0)) == 0
    along = rs.sensitivity.output_along(net, points, found.directions[0, 0])
    position, value = along.positions, along.values
    assert along.explained().interval == (0.0, 1.0)
    assert float(along.explained()) == pytest.approx(np.corrcoef(position, value)[0, 1] ** 2)
    (line,), legend = (axes := rs.plots.gradient_eigenvalues({"deep": found}).axes[0]).lines[1:], axes.get_legend()
    assert len(line.get_ydata()) == 1
    assert [text.get_text() for text in legend.get_texts()] == ["deep", "within bounds on rounding"]


@pytest.mark.parametrize("inputs", [3, 9])
def test_gradients_that_cancel_are_within_the_errors(inputs):
    """By products and by regions, with the first layer's row space and without: the trace in fractions."""
    apart = 0
    for seed in range(8):
        generator = np.random.default_rng(seed)
        first = affine(1e6 * generator.normal(size=(6, inputs)), 1e6 * generator.normal(size=6))
        column = 1e-3 * generator.normal(size=6)
        steps = [first, LEAKY, affine(np.concatenate([np.eye(6), column[None]]), np.zeros(7)), LEAKY]
        # What the last layer leaves of large gradients is a thousandth of a millionth of them.
        steps.append(affine([[*(-column), 1.0]], [0.0]))
        points = generator.normal(size=(4, inputs))
        found = active_subspaces(network_of(steps, inputs), points)
        gradients = [rational_map(steps, point)[0][:-1] for point in points]
        trace = sum(entry**2 for row in gradients for entry in row) / 4
        assert abs(Fraction(found.traces[0]) - trace) <= Fraction(found.errors[0])
        assert abs(Fraction(float(found.eigenvalues[0].sum())) - trace) <= found.eigenvalues.shape[1] * Fraction(
            found.errors[0]
        )
        apart += Fraction(found.traces[0]) != trace
    assert apart > 3


def test_each_way_to_the_eigenvalues_gives_them_with_the_same_errors():
    generator = np.random.default_rng(0)
    for inputs, units, samples in ((4, 9, 40), (30, 3, 40), (30, 9, 5)):  # products, row space, regions
        net = rs.load(
            [
                (generator.normal(size=(units, inputs)), generator.normal(size=units)),
                (generator.normal(size=(2, units)), np.zeros(2)),
            ]
        )
        points = generator.normal(size=(samples, inputs))
        found = active_subspaces(net, points, num_directions=2)
        weight = net.linearize(points).weight.numpy()
        for j in range(2):
            truth = np.sort(np.linalg.eigvalsh(weight[:, j].T @ weight[:, j] / samples))[::-1]
            size = found.eigenvalues.shape[1]
            assert np.allclose(found.eigenvalues[j], truth[:size], atol=1e-10)
            delta = np.sqrt(np.mean(net.at(points).map_errors[:, j] ** 2))
            trace = found.traces[j]
            assert found.errors[j] == pytest.approx(
                delta * (2 * trace**0.5 + delta) + (16 + size) * EPS * trace, rel=1e-9, abs=0
            )
            assert found.rank_upper == min(inputs, units, len(net.codes(points).unique()))
            mean = weight[:, j].mean(axis=0)
            assert (found.directions[j] @ mean >= -1e-12).all()
            assert np.linalg.norm(found.directions[j], axis=1) == pytest.approx([1.0, 1.0])


def test_gradients_that_pass_the_first_gate_by():
    """An output that reads the inputs itself has gradients outside of the row space of the first layer."""
    from reluscope.networks.building.builder import GraphBuilder

    builder = GraphBuilder()
    x = builder.input((6,))
    first = torch.tensor(np.random.default_rng(0).normal(size=(2, 6)))
    hidden = builder.linear(builder.relu(builder.linear(x, first)), torch.ones(1, 2, dtype=torch.float64))
    net = builder.build(builder.add(hidden, builder.linear(x, torch.eye(6, dtype=torch.float64)[:1])))
    points = np.random.default_rng(1).normal(size=(30, 6))
    found = active_subspaces(net, points)
    weight = net.linearize(points).weight.numpy()[:, 0]
    assert found.traces[0] == pytest.approx(np.sum(weight**2) / 30)
    truth = np.sort(np.linalg.eigvalsh(weight.T @ weight / 30))[::-1]
    size = found.eigenvalues.shape[1]
    assert np.allclose(found.eigenvalues[0], truth[:size], atol=1e-10)
    assert found.rank_upper == min(6, 2 + 1, len(net.codes(points).unique()))
    assert found.rank(0).claim == "EXACT"


def test_memory_for_one_table_is_needed_and_enough():
    net = rs.load([(np.random.default_rng(0).normal(size=(9, 4)), np.zeros(9)), (np.ones((3, 9)), np.arange(3.0))])
    points = np.random.default_rng(1).normal(size=(40, 4))
    table = gradient_spectra.TABLES_IN_MEMORY * 8 * 16
    whole = active_subspaces(net, points)
    sample = gradient_covariance._one_sample(net) // 3
    one = active_subspaces(net, points, budget=rs.Budget(memory=max(table, sample)))
    assert one.eigenvalues == pytest.approx(whole.eigenvalues)
    with pytest.raises(InputError, match="one table of 16 numbers"):
        active_subspaces(net, points, budget=rs.Budget(memory=min(table, sample) - 1))
    assert gradient_covariance._one_sample(net) == gradient_covariance.BLOCKS_IN_MEMORY * 8 * 3 * 5


def test_progress_goes_up_to_the_end_over_all_passes():
    net, told = rs.load(rs.testing.default_network([4, 6, 5], seed=0)), []
    x = np.random.default_rng(0).normal(size=(30, 4))
    whole = active_subspaces(net, x)
    parts = active_subspaces(net, x, budget=rs.Budget(memory=2_000), progress=told.append)
    assert np.allclose(whole.eigenvalues, parts.eigenvalues)
    assert told == sorted(told)
    assert len(told) > 1
    assert told[-1] == 1.0
