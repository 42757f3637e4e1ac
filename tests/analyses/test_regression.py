"""Errors of a regression against scikit-learn's, and their claims."""

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

import reluscope as rs
from reluscope.analyses.samples import regression
from reluscope.analyses.samples.regression import fits
from reluscope.errors import ShapeError
from reluscope.findings import Claim
from reluscope.networks.evaluation.rounded_forward import RoundedForward


def network(outputs, seed=0):
    draw = np.random.default_rng(seed).standard_normal
    return rs.load([(draw((7, 3)), draw(7)), (draw((outputs, 7)), draw(outputs))])


@pytest.mark.parametrize("outputs", [1, 3])
def test_errors_are_those_of_scikit_learn(outputs):
    net = network(outputs)
    draw = np.random.default_rng(1).standard_normal
    points, targets = draw((50, 3)), draw((50, outputs))
    said = net(points).numpy().reshape(50, -1)
    found = fits(net, points, targets)
    assert found.keys["output"].tolist() == list(range(outputs))
    for index in range(outputs):
        true, given = targets[:, index], said[:, index]
        for name, value in (
            ("root_mean_squared_error", root_mean_squared_error(true, given)),
            ("mean_absolute_error", mean_absolute_error(true, given)),
            ("coefficient_of_determination", r2_score(true, given)),
        ):
            assert found.finding(name, index).claim is Claim.EXACT
            column = found[name]
            assert column.lower[index] - 1e-13 * abs(value) <= value <= column.upper[index] + 1e-13 * abs(value)
            assert column.upper[index] - column.lower[index] < 1e-10


def test_the_ends_hold_the_truth_where_sums_cancel():
    big = 2.0**40
    net = rs.load([(np.array([[1.0], [1.0]]), np.array([big, big])), (np.array([[1.0, -1.0]]), np.array([0.1]))])
    found = fits(net, np.array([[0.25], [0.5]]), np.array([[0.1], [0.1]]))
    assert found["root_mean_squared_error"].lower[0] <= 0.0
    assert found.finding("root_mean_squared_error").claim is not Claim.EXACT


def test_equal_targets_have_no_coefficient_of_determination():
    found = fits(network(1), np.zeros((4, 3)), np.ones((4, 1)))
    assert np.isnan(found["coefficient_of_determination"].value).all()


def test_targets_must_fit_the_outputs_and_points():
    with pytest.raises(ShapeError, match=r"one real number per output \(3\), got 1"):
        fits(network(3), np.zeros((4, 3)), np.ones((4, 1)))
    with pytest.raises(ShapeError, match="one target per point, got 5 for 4"):
        fits(network(1), np.zeros((4, 3)), np.ones((5, 1)))


def forwarded(monkeypatch, outputs, errors, epsilon):
    """Let the network have some outputs with some bounds on their rounding, and return a network of that size."""
    outputs, errors = np.array(outputs), np.array(errors)
    doubtful = np.zeros((len(outputs), 0), dtype=bool)
    monkeypatch.setattr(regression, "rounded_forward", lambda *_: RoundedForward(outputs, errors, doubtful))
    monkeypatch.setattr(regression, "EPSILON", epsilon)
    return network(outputs.shape[1])


@pytest.mark.parametrize("size", [0.25, 2.0])
def test_ends_are_those_of_their_derivation(monkeypatch, size):
    """With coarse rounding every term shows, in both outputs."""
    assert regression.EPSILON == 1e-14  # of sums over samples, 45 times the rounding of one
    eps, draw = 2.0**-10, np.random.default_rng(0).uniform
    outputs, errors, targets = draw(-1, 1, (4, 2)), size * draw(0, 0.05, (4, 2)), draw(-1, 1, (4, 2))
    found = fits(forwarded(monkeypatch, outputs, errors, eps), np.zeros((4, 3)), targets)
    off, slack = outputs - targets, np.sqrt((errors**2).mean(axis=0))
    root, absolute = np.sqrt((off**2).mean(axis=0)), np.abs(off).mean(axis=0)
    share = 1 - root**2 / targets.var(axis=0)
    moved = (2 * root * slack + slack**2) / targets.var(axis=0) + eps * np.abs(share)
    for name, value, error, most in (
        ("root_mean_squared_error", root, slack + eps * root, np.inf),
        ("mean_absolute_error", absolute, errors.mean(axis=0) + eps * absolute, np.inf),
        ("coefficient_of_determination", share, moved, 1.0),
    ):
        least = -np.inf if most == 1.0 else 0.0
        assert found[name].value == pytest.approx(value, rel=1e-12)
        assert found[name].lower == pytest.approx(np.maximum(value - error, least), rel=1e-12)
        assert found[name].upper == pytest.approx(np.minimum(value + error, most), rel=1e-12)


def test_a_difference_is_rounded_as_its_parts_are_large(monkeypatch):
    for output, target in ((3.0, 1.0), (-1.0, 3.0), (4.0, 0.0), (0.0, 4.0)):
        net = forwarded(monkeypatch, [[output], [output]], np.zeros((2, 1)), 0.0)
        found = fits(net, np.zeros((2, 3)), np.full((2, 1), target))
        for name in ("root_mean_squared_error", "mean_absolute_error"):
            column = found[name]
            assert column.upper[0] - column.value[0] == column.value[0] - column.lower[0] == 4 * 2.0**-52


def test_no_error_is_below_zero_and_no_determination_above_one(monkeypatch):
    found = fits(
        forwarded(monkeypatch, [[0.0], [1.0]], [[0.5], [0.5]], 0.0), np.zeros((2, 3)), np.array([[0.0], [1.0]])
    )
    assert found["root_mean_squared_error"].lower[0] == found["mean_absolute_error"].lower[0] == 0.0
    assert (found["coefficient_of_determination"].value[0], found["coefficient_of_determination"].upper[0]) == (
        1.0,
        1.0,
    )
    assert found["coefficient_of_determination"].lower[0] == pytest.approx(0.0)
