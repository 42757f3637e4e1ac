"""Classes read as the smallest output, or by a threshold: everything about classes follows, against plain twins.

The twin of a network whose smallest output decides is the network with its last weights negated; that of a threshold
has it in its last bias.
"""

import pickle

import numpy as np
import pytest

import reluscope as rs
from reluscope.errors import InputError

RNG = np.random.default_rng(0)
FIRST = (RNG.normal(size=(16, 2)), RNG.normal(size=16))
LAST = (RNG.normal(size=(4, 16)), RNG.normal(size=4))
POINTS = RNG.normal(size=(30, 2))
LABELS = np.arange(30) % 2
BOX = rs.Box(-1, 1, 2)


def smallest():
    return rs.load([FIRST, LAST], decision="smallest"), rs.load([FIRST, (-LAST[0], -LAST[1])])


def threshold():
    only, bias = LAST[0][:1], LAST[1][:1]
    return rs.load([FIRST, (only, bias)], decision=0.75), rs.load([FIRST, (only, bias - 0.75)])


QUESTIONS = {
    "classes": lambda net: rs.classification.predicted_classes(net, POINTS),
    "accuracy": lambda net: float(rs.classification.accuracy(net, POINTS, LABELS)),
    "boundary": lambda net: rs.decision_boundary(rs.partition(net, BOX)).ends,
    "pairs": lambda net: rs.decision_boundary(rs.partition(net, BOX)).classes,
    "areas": lambda net: rs.planes.class_areas(rs.partition(net, BOX)).by_class(4),
    "intervals": lambda net: rs.planes.class_intervals(rs.partition(net, rs.Segment([-1, 0], [1, 0.5]))).by_class(4),
    "decision distance": lambda net: (
        rs.robustness.decision_distance(net, POINTS[:4], norm="l2")["decision_distance"].value
    ),
    "within": lambda net: (
        rs.robustness.decision_distance_within(net, POINTS[:9], norm="linf")["decision_distance_within"].value
    ),
    "certified": lambda net: rs.robustness.certified_radius(net, POINTS, norm="l1")["decision_distance"].value,
    "classes of regions": lambda net: rs.local.region_classes(net, POINTS[:3] * 0.3, domain=BOX)["num_classes"].value,
    "shares": lambda net: rs.local.class_shares(net, POINTS[:2] * 0.3, domain=BOX)["class_share"].value,
    "adversaries": lambda net: rs.local.pgd(net, POINTS[:5], LABELS[:5], radius=0.1),
    "last of class": lambda net: rs.local.last_of_class(net, POINTS[:4], POINTS[4:8]).first.alphas,
    "margins": lambda net: rs.coefficients.linear_margins(net, POINTS)["margin"].value,
    "saliency": lambda net: rs.sensitivity.saliency(net, POINTS).outputs,
    "compared": lambda net: (
        rs.similarity.compare(
            {"net": net, "other": rs.load([FIRST, (LAST[0][: net.num_outputs], LAST[1][: net.num_outputs])])},
            POINTS,
            labels=LABELS,
        )["accuracy"].value
    ),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("pair", [smallest, threshold])
@pytest.mark.parametrize("question", QUESTIONS)
def test_what_is_about_classes_follows_the_decision(question, pair):
    network, twin = pair()
    np.testing.assert_allclose(QUESTIONS[question](network), QUESTIONS[question](twin), rtol=1e-9, atol=1e-12)


def test_cross_entropy_is_of_scores():
    network, twin = smallest()
    found, expected = (float(rs.classification.cross_entropy(net, POINTS, LABELS)) for net in (network, twin))
    assert found == pytest.approx(expected)


def test_outputs_stay_what_they_are():
    network, twin = smallest()
    np.testing.assert_allclose(network(POINTS), -twin(POINTS))
    np.testing.assert_array_equal(network.scores(POINTS), -network(POINTS))
    plain = rs.load([FIRST, LAST])
    assert plain.scores is plain
    assert network.fingerprint == plain.fingerprint


def test_the_lowest_class_wins_ties():
    network = rs.load([(np.eye(2), np.zeros(2))], decision="smallest")
    assert rs.classification.predicted_classes(network, [[1.0, 1.0]]) == [0]
    one = rs.load([([[1.0]], [0.0])], decision=2)
    assert rs.classification.predicted_classes(one, [[2.0], [2.5]]).tolist() == [0, 1]


def test_the_decision_goes_with_the_network():
    network, _ = smallest()
    line = rs.Segment([0, 0], [1, 1])
    assert network.restrict(line).decision == "smallest"
    assert network.with_parameters({"0.bias": FIRST[1]}).decision == "smallest"
    assert network.with_decision("largest").scores.output == network.output


@pytest.mark.parametrize(
    ("outputs", "decision", "said"),
    [
        (4, "most", "decision must be"),
        (4, None, "decision must be"),
        (4, float("nan"), "decision must be"),
        (4, 0.5, "this network has 4"),
        (4, True, "decision must be"),
        (1, "smallest", "give the threshold"),
    ],
)
def test_a_decision_that_does_not_fit_is_refused(outputs, decision, said):
    layers = [FIRST, (LAST[0][:outputs], LAST[1][:outputs])]
    with pytest.raises(InputError, match=said):
        rs.load(layers, decision=decision)


def test_a_pickled_network_keeps_its_decision():
    network, _ = smallest()
    assert pickle.loads(pickle.dumps(network)).decision == "smallest"
