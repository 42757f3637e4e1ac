"""Errors of a regression against scikit-learn's, and their claims."""

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

import reluscope as rs
from reluscope.analyses.regression import fits
from reluscope.errors import ShapeError
from reluscope.findings import Claim


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
