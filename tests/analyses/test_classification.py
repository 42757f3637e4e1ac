"""Classes and accuracy, with the tie rule and labels that do not belong."""

from fractions import Fraction

import numpy as np
import pytest

import reluscope as rs
from reluscope.analyses.classification import class_predictions as classes
from reluscope.analyses.classification.class_predictions import (
    accuracy,
    accuracy_of_outputs,
    num_classes,
    predicted_classes,
)
from reluscope.analyses.local import last_of_class
from reluscope.errors import InputError, ShapeError
from reluscope.networks.evaluation.rounded_forward import rounded_forward
from reluscope.networks.fractions.rational import RationalNetwork

IDENTITY = rs.load([(np.eye(3), np.full(3, 10.0)), (np.eye(3), np.zeros(3))])
SIGN = rs.load([(np.eye(1), np.array([10.0])), (np.eye(1), np.array([-10.0]))])


def test_the_lowest_of_the_largest_outputs_wins():
    assert predicted_classes(IDENTITY, [[1, 2, 3], [3, 3, 1], [0, 0, 0]]).tolist() == [2, 0, 0]


def test_one_output_is_two_classes_by_its_sign():
    assert (num_classes(SIGN), num_classes(IDENTITY)) == (2, 3)
    assert predicted_classes(SIGN, [[-1.0], [0.0], [1.0]]).tolist() == [0, 0, 1]


def test_accuracy_is_the_share_of_equal_labels():
    x = np.random.default_rng(0).normal(size=(200, 3))
    labels = np.random.default_rng(1).integers(0, 3, 200)
    found = accuracy(IDENTITY, x, labels)
    assert float(found) == (x.argmax(1) == labels).mean()
    assert found.claim == "EXACT"
    assert f"{(x.argmax(1) == labels).sum()} of 200" in found.definition


def test_outputs_too_close_to_tell_apart_make_an_interval():
    x = np.array([[1.0, 0.0, 0.0], [1.0, 1.0 + 1e-13, 0.0], [1.0, 1.0, 0.0]])
    found = accuracy(IDENTITY, x, np.array([0, 1, 1]))
    assert found.claim == "UPPER"  # as computed, the sample in doubt is right
    assert found.interval == (1 / 3, 2 / 3)
    assert found.num_undecided == 1


def accuracy_in_fractions(net, x, labels):
    exact, right = RationalNetwork(net), 0
    for point, label in zip(x.tolist(), labels, strict=True):
        scores = list(exact.output([Fraction(entry) for entry in point]))
        right += label == (int(scores[0] > 0) if len(scores) == 1 else scores.index(max(scores)))
    return right / len(x)


@pytest.mark.few(4)
@pytest.mark.parametrize("outputs", [1, 2, 5])
@pytest.mark.parametrize("far", [1.0, 1e14])
def test_points_that_shared_bounds_leave_open_are_looked_at_alone(outputs, far, monkeypatch):
    rng = np.random.default_rng(outputs)
    x, first, last = (rng.normal(size=size) for size in ((60, 4), (12, 4), (outputs, 12)))
    middle = -np.maximum(x @ first.T, 0.0).mean(axis=0) @ last.T  # so that there is more than one class
    net = rs.load([(first, np.zeros(12)), (last, middle)])
    ends = last_of_class(net, x[:30], x[30:]).last
    x[:30] += ends.alphas[:, None] * (x[30:] - x[:30]) * ends.is_boundary[:, None]  # on the decision boundary
    x[59] *= far  # whose size makes the bounds of all others wide
    labels = rng.integers(0, max(2, outputs), 60)
    alone = accuracy_of_outputs(rounded_forward(net, x), labels)
    asked = []

    def asking(network, points):
        asked.append(len(points))
        return rounded_forward(network, points)

    monkeypatch.setattr(classes, "rounded_forward", asking)
    found = accuracy(net, x, labels)
    # Scores on the boundary are last digits of their products, and of a few of them it depends on these what is known.
    near, others = ((*one.interval, float(one), one.num_undecided / 60) for one in (found, alone))
    assert near == pytest.approx(others, abs=6 / 60)
    assert found.interval[0] <= accuracy_in_fractions(net, x, labels) <= found.interval[1]
    assert ends.is_boundary.sum() > 3
    assert sum(asked) >= alone.num_undecided > 3
    assert far > 1 or sum(asked) <= 30


def test_labels_must_belong_to_the_network():
    with pytest.raises(InputError, match=r"from 0 to 2 .*got 3"):
        accuracy(IDENTITY, np.zeros((1, 3)), np.array([3]))
    with pytest.raises(InputError, match=r"from 0 to 1 \(a network with one output tells 2 classes apart\), got 2"):
        accuracy(SIGN, np.zeros((1, 1)), np.array([2]))
    with pytest.raises(ShapeError, match=r"got 2 labels for 1 samples"):
        accuracy(IDENTITY, np.zeros((1, 3)), np.array([0, 1]))
