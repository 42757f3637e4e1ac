"""Decision boundaries where rounding of scores decides: by hand, and against floats where these are sure."""

import numpy as np
import pytest

import reluscope as rs
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.partitions.decisions import decision_boundary as decision
from reluscope.partitions.decisions import open_ties
from reluscope.testing import default_network

SQUARE = rs.Box(0, 1, 2)


def boundary(parameters, domain=SQUARE):
    return rs.decision_boundary(rs.partition(from_arrays(parameters), domain))


def test_a_slope_below_the_rounding_of_scores_has_a_boundary():
    # 2e8 relu(x) + e relu(x) against 2e8 relu(x): equal on x = 0, the wall.
    copies = (np.array([[1.0, 0.0], [1.0, 0.0]]), np.zeros(2))
    found = boundary([copies, (np.array([[2e8, 3.85e-16], [2e8, 0.0]]), np.zeros(2))]).finding()
    assert (found.value, found.claim) == (pytest.approx(1.0, rel=1e-12), "EXACT")
    # e relu(x) against e / 2: within.
    level = [copies, (np.array([[2e8, 2.0**-60], [2e8, 0.0]]), np.array([0.0, 2.0**-61]))]
    found = boundary(level)
    assert found.finding().claim == "EXACT"
    np.testing.assert_array_equal(np.sort(found.ends[0], axis=0), [[0.5, 0.0], [0.5, 1.0]])


def test_points_of_a_line_below_the_rounding_of_scores_are_counted():
    copies = (np.array([[1.0], [1.0]]), np.array([1.0, 0.0]))
    found = boundary([copies, (np.array([[2e8, 2.0**-60], [2e8, 0.0]]), np.zeros(2))], rs.Box(0, 1, 1)).finding()
    assert (found.value, found.claim) == (1, "EXACT")


def test_no_boundary_beside_regions_where_classes_tie_everywhere_unless_the_class_changes():
    fold = (np.array([[1.0, 0.0], [-1.0, 0.0]]), np.zeros(2))
    both = rs.Box(-1, 1, 2)
    # (relu(x), 0): class 0 on both sides of x = 0; (0, relu(x)): class 1 on the right.
    for weight, length in (([[1.0, 0.0], [0.0, 0.0]], 0.0), ([[0.0, 0.0], [1.0, 0.0]], 2.0)):
        found = boundary([fold, (np.array(weight), np.zeros(2))], both)
        assert found.is_rational
        assert (found.length, found.finding().claim) == (length, "EXACT")


def test_what_three_classes_share_counts_once():
    fold = (np.array([[1.0, 0.0], [-1.0, 0.0]]), np.zeros(2))
    found = boundary([fold, (np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]), np.zeros(3))], rs.Box(-1, 1, 2))
    assert found.is_rational
    assert found.length == 2.0


@pytest.mark.parametrize(("seed", "outputs"), [(1, 1), (2, 2), (5, 3), (7, 4)])
def test_fractions_and_floats_find_the_same(seed, outputs, monkeypatch):
    part = rs.partition(from_arrays(default_network([2, 6, 5, outputs], seed=seed)), rs.Box(-3, 3, 2))
    by_floats = rs.decision_boundary(part)
    assert not by_floats.is_rational
    monkeypatch.setattr(decision, "needs_fractions", lambda part: True)
    by_fractions = rs.decision_boundary(part)
    assert by_fractions.is_rational
    assert len(by_fractions) == len(by_floats)
    assert by_fractions.length == pytest.approx(by_floats.length, rel=1e-9)
    np.testing.assert_array_equal(by_fractions.regions, np.sort(by_floats.regions))


def tied(seed):
    """Return layers on a line or plane whose scores tie at a point within 1e-7, or within rounding of large ones."""
    rng = np.random.default_rng(seed)
    dim, units = int(rng.choice([1, 2])), int(rng.integers(2, 5))
    W, b = rng.integers(-2, 3, (units, dim)).astype(float), rng.integers(-2, 3, units) / 2
    if rng.random() < 0.5:
        W = W * rng.uniform(0.5, 1.5, W.shape)
    outputs = int(rng.choice([1, 2, 3]))
    V, offset = rng.integers(-2, 3, (outputs, units)).astype(float), float(rng.choice([0, 0, 1, 1e3, 1e8]))
    values = V @ np.maximum(W @ (rng.integers(-4, 5, dim) / 4) + b, 0)
    c = np.full(outputs, offset) - values
    c = c + float(rng.choice([0, 0, 1, -1])) * 10.0 ** rng.integers(-17, -6) * rng.integers(-1, 2, outputs)
    return [(W, b), (V, c - offset if outputs == 1 else c)], dim


# EXACT before, and as much as a whole facet off: ties at corners and along facets that floats took for sure.
FALSE = [2, 42, 81, 97, 165, 186, 193, 225, 400, 877]


def cancelling(seed):
    """Return the same with terms of 1e12 that cancel: scores are off by more than a millionth."""
    layers, dim = tied(seed)
    rng = np.random.default_rng(seed)
    (W, b), (V, c) = layers
    row, large = rng.uniform(0.5, 1.5, (1, dim)), 1e12 * rng.uniform(0.5, 1.5, (len(V), 1))
    inner = np.concatenate([row, W, row]), np.concatenate([[4.0], b, [4.0]])
    return [inner, (np.concatenate([large, V, -large], axis=1), c)], dim


# EXACT before: floats took ties for sure that rounding of scores by 1e-4 decides.
FALSE_CANCELLING = [189, 247, 324, 355, 453, 490, 657]


@pytest.mark.parametrize(
    ("drawn", "seed"),
    [(tied, seed) for seed in (*FALSE, 600, 601, 602)] + [(cancelling, seed) for seed in FALSE_CANCELLING],
)
def test_without_fractions_ties_within_rounding_are_left_open(drawn, seed, monkeypatch):
    layers, dim = drawn(seed)
    part = rs.partition(rs.load(layers), rs.Box(-1, 1, dim))
    truth = rs.decision_boundary(part).finding()
    assert truth.claim == "EXACT"
    monkeypatch.setattr(open_ties, "MOST_MULTIPLICATIONS", 0)
    pieces = rs.decision_boundary(part)
    found = pieces.finding()
    if found.claim == "EXACT":
        assert found.value == pytest.approx(truth.value, abs=found.tolerance or 0)
        assert seed not in FALSE + FALSE_CANCELLING
        return
    low, high = found.interval
    assert low <= truth.value * (1 + 1e-12)
    assert truth.value <= high * (1 + 1e-12)
    assert not pieces.is_whole


def test_three_classes_that_meet_in_points_leave_nothing_open(monkeypatch):
    # Four scores on a square: pieces end where a third class ties, at each end another one.
    monkeypatch.setattr(open_ties, "MOST_MULTIPLICATIONS", 0)
    V = np.array([[1.0, 0.25], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    lift = (np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([4.0, 4.0]))
    found = boundary([lift, (V, np.array([0.3, 0.0, 0.05, 0.1]) - V @ [4.0, 4.0])], rs.Box(-1, 1, 2))
    assert len(found) == 5
    assert found.finding().claim == "EXACT"


def test_a_lead_below_the_resolution_of_scores_is_decided_in_fractions():
    # Class 1 wins beyond y = 3 by 1/256, where the largest score is 1e12: floats compare them as equal.
    net = rs.load([([[0.0, -1.0], [0.0, -1e12]], [3.0, 2e12]), ([[-1.0, 1.0]], [1 / 256])])
    found = rs.decision_boundary(rs.partition(net, rs.Box([0, 1], [1, 4])))
    assert len(found) == 2
    assert found.finding().interval is None or found.finding().interval[0] <= 2 <= found.finding().interval[1]
    assert found.length == pytest.approx(2)
