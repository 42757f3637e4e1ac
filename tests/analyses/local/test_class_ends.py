"""Ends of classes along segments against closed forms and dense samples; targets and adversaries."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import reluscope as rs
from reluscope.analyses.classification.class_predictions import predicted_classes
from reluscope.analyses.local import (
    class_ends,
    class_means,
    last_of_class,
    other_means,
    other_points,
    pgd,
    pieces_along,
)
from reluscope.analyses.local.along import PiecesAlong
from reluscope.datasets.demo import demo_network
from reluscope.datasets.digits import digits
from reluscope.errors import InputError, ShapeError
from reluscope.testing import default_network, strategies

DATA = digits("test")
X = DATA.points.reshape(len(DATA), -1)
NET = rs.load(demo_network(), input_shape=(1, 8, 8))
# Class 1 where the distance of |x| from 2 is below 1: two outputs 0 and 1 - ||x| - 2|.
BANDS = rs.load(
    [
        (np.array([[1.0], [-1.0]]), np.zeros(2)),
        (np.array([[1.0, 1.0], [-1.0, -1.0]]), np.array([-2.0, 2.0])),
        (np.array([[0.0, 0.0], [-1.0, -1.0]]), np.array([0.0, 1.0])),
    ]
)


def pool_net():
    torch.manual_seed(3)
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 6, 3),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(24, 3),
    )


POOL = rs.load(pool_net(), input_shape=(1, 8, 8))


def sampled_ends(net, start, end, number):
    """Return the first and the last share at which dense samples have another class, up to one step."""
    shares = np.linspace(0.0, 1.0, number)
    classes = predicted_classes(net, start + shares[:, None] * (end - start))
    same = classes == classes[0]
    first = shares[np.flatnonzero(~same)[0]] if not same.all() else 1.0
    return classes, first, shares[np.flatnonzero(same)[-1]]


@pytest.mark.parametrize(
    ("start", "end", "first", "last", "after_first", "after_last"),
    [
        (0.0, 4.0, 0.25, 1.0, 1, -1),  # class 0, then 1 up to 3, then 0 again
        (-2.0, 3.5, 1 / 5.5, 5.0 / 5.5, 0, 0),
        (2.0, 0.0, 0.5, 0.5, 0, 0),
        (0.0, 0.5, 1.0, 1.0, -1, -1),
        (0.5, 2.0, 1 / 3, 1 / 3, 1, 1),
        (-4.0, 4.0, 0.125, 1.0, 1, -1),
    ],
)
def test_ends_in_closed_form(start, end, first, last, after_first, after_last):
    found = last_of_class(BANDS, [[start]], [[end]])
    assert found.first.alphas[0] == pytest.approx(first, abs=1e-14)
    assert found.last.alphas[0] == pytest.approx(last, abs=1e-14)
    assert (found.first.after[0], found.last.after[0]) == (after_first, after_last)
    assert found.classes[0] == predicted_classes(BANDS, [[start]])[0]
    assert found.first.points[0, 0] == pytest.approx(start + first * (end - start), abs=1e-14)
    assert found.is_exact[0]


def test_ties_go_to_the_lowest_class():
    same = rs.load([(np.eye(1), np.zeros(1)), (np.array([[1.0], [1.0], [0.0]]), np.array([0.0, 0.0, 1.0]))])
    found = last_of_class(same, [[2.0], [0.0]], [[0.0], [2.0]])  # outputs x, x, 1
    assert found.classes.tolist() == [0, 2]
    assert found.first.after.tolist() == [2, 0]
    assert found.first.alphas.tolist() == [0.5, 0.5]
    # At a tie the lowest class has the start, and loses it at once to what grows.
    cross = rs.load([(np.eye(1), np.zeros(1)), (np.array([[0.0], [1.0]]), np.array([1.0, 0.0]))])
    found = last_of_class(cross, [[1.0], [1.0]], [[2.0], [0.5]])
    assert found.classes.tolist() == [0, 0]
    assert found.last.alphas.tolist() == [0.0, 1.0]
    assert found.first.after.tolist() == [1, -1]


def test_a_class_lost_at_a_single_point_is_not_left():
    touch = rs.load(  # outputs 0 and |x|: class 0 at the origin alone
        [(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[0.0, 0.0], [1.0, 1.0]]), np.zeros(2))]
    )
    found = last_of_class(touch, [[-1.0]], [[3.0]])
    assert (found.classes[0], found.first.alphas[0], found.first.after[0]) == (1, 1.0, -1)


@pytest.mark.few(1)
@pytest.mark.parametrize(("net", "width"), [(NET, 1.0), (POOL, 40.0)], ids=["mlp", "conv and max"])
def test_ends_are_those_of_dense_samples(net, width):
    starts, ends = width * X[:8], width * X[20:28]
    found = last_of_class(net, starts, ends)
    assert (found.last.alphas >= found.first.alphas).all()
    assert found.first.is_boundary.any()
    for row in range(len(found)):
        classes, first, last = sampled_ends(net, starts[row], ends[row], 1001)
        assert found.classes[row] == classes[0]
        # Samples see no interval shorter than a step.
        assert found.first.alphas[row] <= first
        assert found.last.alphas[row] >= last
        assert first - found.first.alphas[row] <= 1 / 1000
        assert found.last.alphas[row] - last <= 1 / 1000
        if found.last.is_boundary[row]:
            outputs = net(found.last.points[row : row + 1]).flatten().numpy()
            pair = outputs[[found.classes[row], found.last.after[row]]]
            assert np.ptp(pair) <= 1e-12 * np.abs(outputs).max()
            assert outputs.max() - pair.max() <= 1e-12 * np.abs(outputs).max()
        near = 1e-9
        shares = found.first.alphas[row] + np.array([-near, near])
        around = predicted_classes(net, (1 - shares)[:, None] * starts[row] + shares[:, None] * ends[row])
        if found.first.is_boundary[row]:
            assert around.tolist() == [found.classes[row], found.first.after[row]]


@pytest.mark.slow
def test_the_middle_of_the_piece_is_in_the_region_of_the_point():
    found = last_of_class(NET, X[:12], X[20:32])
    for row in np.flatnonzero(found.last.is_boundary)[:4]:
        (region,) = rs.regions(NET, found.last.within[row])
        assert region.polyhedron.contains(found.last.points[row], 1e-9)
        np.testing.assert_array_equal(region.witness, found.last.within[row])


@settings(max_examples=25)
@given(st.data())
def test_degenerate_networks(data):
    layers = data.draw(strategies.degenerate_networks(num_inputs=2))
    net = rs.load(layers)
    ends = np.array(data.draw(st.lists(st.tuples(strategies.dyadics(), strategies.dyadics()), min_size=2, max_size=2)))
    found = last_of_class(net, ends[:1], ends[1:])
    classes, _, _ = sampled_ends(net, ends[0], ends[1], 1025)
    start = predicted_classes(net, ends[:1])[0]
    assert found.classes[0] == start
    if found.first.alphas[0] > 0:
        before = np.linspace(0.0, 1.0, 1025)[1:] < found.first.alphas[0]
        # Single points may be of another class: ties at kinks.
        assert (classes[1:][before] != start).sum() <= 2 * net.num_units
    after = np.linspace(0.0, 1.0, 1025) > found.last.alphas[0]
    assert (classes[after] == start).sum() <= 2 * net.num_units
    assert found.first.alphas[0] <= found.last.alphas[0]


def test_no_way_to_go_and_other_shapes():
    found = last_of_class(NET, X[:2].reshape(2, 1, 8, 8), np.stack([X[0], X[5]]))
    assert (found.first.alphas[0], found.first.after[0], found.num_regions[0]) == (1.0, -1, 0)
    assert found.num_regions[1] > 1
    with pytest.raises(ShapeError, match="one target per start"):
        last_of_class(NET, X[:2], X[:3])


def test_ends_that_are_no_points():
    with pytest.raises(InputError, match="point 1 holds NaN"):
        last_of_class(NET, X[:2], np.stack([X[0], np.full(64, np.nan)]))


def test_a_start_on_a_kink_and_a_class_that_is_never_left():
    folded = rs.load([(np.eye(1), np.zeros(1)), (np.array([[1.0], [0.0]]), np.array([0.0, -1.0]))])
    found = last_of_class(folded, [[0.0], [-1.0]], [[2.0], [1.0]])  # outputs max(x, 0) and -1
    assert found.classes.tolist() == [0, 0]
    assert found.last.alphas.tolist() == [1.0, 1.0]
    assert found.last.after.tolist() == [-1, -1]


def test_errors_that_knots_share_cover_those_of_each():
    from reluscope.networks.evaluation.rounded_forward import forward_with_errors, rounded_forward

    for net in (NET, POOL):
        points = 3 * X[:6] + 1.0
        outputs, errors = forward_with_errors(net, points)
        alone = rounded_forward(net, points)
        np.testing.assert_allclose(outputs, alone.outputs, atol=1e-12)
        assert (np.abs(outputs - alone.outputs) <= errors + alone.errors).all()
        assert (errors > 0).all()
        assert (errors <= 2e-11).all()


def test_more_segments_than_a_batch(monkeypatch):
    from reluscope.analyses.local import class_ends

    whole = last_of_class(NET, X[:9], X[20:29])
    monkeypatch.setattr(class_ends, "SEGMENTS", 4)
    monkeypatch.setattr(class_ends, "BUDGET", 5000)
    parts = last_of_class(NET, X[:9], X[20:29])
    np.testing.assert_allclose(parts.first.alphas, whole.first.alphas, atol=1e-12)
    np.testing.assert_array_equal(parts.last.after, whole.last.after)
    np.testing.assert_array_equal(parts.num_regions, whole.num_regions)


def test_pieces_cover_their_segments():
    pieces = pieces_along(POOL, 9 * X[:3], 9 * X[3:6])
    for row in range(3):
        here = slice(pieces.offsets[row], pieces.offsets[row + 1])
        assert pieces.starts[here][0] == 0.0
        assert pieces.stops[here][-1] == 1.0
        np.testing.assert_array_equal(pieces.starts[here][1:], pieces.stops[here][:-1])
        middle = (pieces.starts[here] + pieces.stops[here]) / 2
        points = 9 * X[row] + middle[:, None] * 9 * (X[3 + row] - X[row])
        assert POOL.codes(points) == pieces.codes[here]


def test_targets_of_other_classes():
    labels = DATA.labels
    assert labels is not None
    means = class_means(NET, X, labels)
    np.testing.assert_allclose(means[3], X[labels == 3].mean(axis=0))
    assert np.isnan(class_means(NET, X[labels < 2], labels[labels < 2])[5]).all()
    targets = other_means(NET, X, labels, labels[:50], seed=0)
    which = np.array([np.flatnonzero((means == one).all(axis=1))[0] for one in targets])
    assert (which != labels[:50]).all()
    assert len(set(which)) > 5
    drawn = other_points(NET, X, labels, labels[:50], seed=1)
    rows = [np.flatnonzero((one == X).all(axis=1)) for one in drawn]
    assert all((labels[row] != label).any() for row, label in zip(rows, labels[:50], strict=True))
    np.testing.assert_array_equal(drawn, other_points(NET, X, labels, labels[:50], seed=1))
    with pytest.raises(InputError, match="class other than 1"):
        other_points(NET, X[:2], np.array([1, 1]), np.array([1]), seed=0)
    with pytest.raises(InputError, match="class numbers from 0 to 9"):
        class_means(NET, X[:1], np.array([10]))


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_adversaries_stay_near_and_in_the_box(norm):
    low, high = X.min(), X.max()
    classes = predicted_classes(NET, X[:40])
    radius = 0.3 * (high - low) if norm == "linf" else 2.0 * (high - low)
    found = pgd(NET, X[:40], classes, radius=radius, steps=20, norm=norm, box=rs.Box(low, high, 64))
    away = found - X[:40]
    size = np.abs(away).max(axis=1) if norm == "linf" else np.linalg.norm(away, axis=1)
    assert (size <= radius * (1 + 1e-12)).all()
    assert found.min() >= low
    assert found.max() <= high
    assert (predicted_classes(NET, found) != classes).mean() > 0.8
    walked = last_of_class(NET, X[:40], found)
    assert walked.last.is_boundary.mean() > 0.8


def test_adversaries_of_a_line_in_closed_form():
    net = rs.load([(np.eye(2), np.array([10.0, 10.0])), (np.array([[3.0, 4.0]]), np.array([-70.0]))])
    x = np.array([[1.0, 1.0]])
    np.testing.assert_allclose(pgd(net, x, np.array([0]), radius=1.0, norm="l2"), [[1.6, 1.8]])
    np.testing.assert_allclose(pgd(net, x, np.array([1]), radius=1.0, norm="linf"), [[0.0, 0.0]])
    constant = rs.load([(np.zeros((2, 2)), np.ones(2)), (np.eye(2), np.zeros(2))])
    np.testing.assert_array_equal(pgd(constant, x, np.array([0]), radius=1.0, norm="l2"), x)


def test_bad_input_of_adversaries():
    for wrong in ({"norm": "l1"}, {"radius": 0.0}, {"steps": 0}):
        with pytest.raises(InputError, match="must be"):
            pgd(NET, X[:1], np.array([0]), **{"radius": 1.0, **wrong})
    with pytest.raises(InputError, match="outside the box"):
        pgd(NET, X[:2], np.array([0, 0]), radius=1.0, box=rs.Box(-1e-3, 1e-3, 64))
    with pytest.raises(ShapeError, match="lies in 3 dimensions, but the network has 64"):
        pgd(NET, X[:1], np.array([0]), radius=1.0, box=rs.Box(0, 1, 3))
    with pytest.raises(ShapeError, match="one label"):
        pgd(NET, X[:1], np.array([0, 1]), radius=1.0)
    with pytest.raises(InputError, match="0 to 9"):
        pgd(NET, X[:1], np.array([10]), radius=1.0)


def test_single_output():
    net = rs.load(default_network([64, 20, 20, 1], seed=4))
    starts, ends = 10 * X[:6], -10 * X[6:12]
    found = last_of_class(net, starts, ends)
    for row in range(6):
        classes, first, last = sampled_ends(net, starts[row], ends[row], 2001)
        assert found.classes[row] == classes[0]
        assert abs(found.first.alphas[row] - first) <= 1 / 2000
        assert abs(found.last.alphas[row] - last) <= 1 / 2000


def in_pieces(number):
    """Return one segment in pieces of one length."""
    knots = np.linspace(0.0, 1.0, number + 1)
    codes = BANDS.codes(np.zeros((number, 1)))
    return PiecesAlong(np.array([0, number]), knots[:-1], knots[1:], codes, np.ones(1, dtype=bool))


def test_outputs_as_far_apart_as_their_errors_tie():
    outputs, errors = np.array([[2.0, 1.0, 3.0]]), np.array([[0.5, 0.5, 0.25]])
    leads = class_ends._leads(outputs, errors, np.array([0]))
    assert leads.lead.tolist() == [[1.0, 0.0, -1.0]]
    assert leads.error.tolist() == [[0.0, 1.0, 0.75]]
    assert class_ends._leads(outputs, errors, np.array([2])).lead.tolist() == [[1.0, 2.0, 1.0]]
    assert class_ends._lowest(outputs, np.array([[0.5, 0.0, 0.5]])).tolist() == [0]
    assert class_ends._lowest(outputs, np.array([[0.5, 0.0, 0.25]])).tolist() == [2]
    assert class_ends._lowest(outputs, np.array([[0.25, 0.0, 0.5]])).tolist() == [2]


def test_shares_of_pieces_on_which_a_class_holds():
    """Class 1 is ahead of class 0 by 1, falls behind at a quarter of the second piece, and is back on the fourth."""
    outputs = np.stack([np.zeros(8), [1.0, 1.0, -3.0, -1.0, 3.0, 0.0, -2.0, 0.0]], axis=1)
    errors = np.full((8, 2), 0.125) * np.array([1, 1, 2, 1, 1, 1, 1, 1])[:, None]
    own = class_ends._Shares.of(in_pieces(7), outputs, errors)
    assert own.classes.tolist() == [1]
    # It ties at the end of the fifth piece and of the last, and holds on the fifth alone.
    assert own.left.tolist() == [0.0, 0.0, 1.0, 0.25, 0.0, 1.0, 1.0]
    assert own.right.tolist() == [1.0, 0.25, 0.0, 1.0, 1.0, 0.0, 0.0]
    assert own.unsure.tolist() == [0.0, 0.5 / 4, 0.0, 0.0, 0.0, 0.0, 0.0]


def test_a_share_within_its_rounding_is_none_and_ties_go_to_the_lowest():
    falling = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [0.0, 0.0, -1.0]])
    meeting = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
    for way, label in ((1, 2), (-1, 0)):
        own = class_ends._Shares.of(in_pieces(2), falling[:, ::way], np.zeros((3, 3)))
        assert (own.classes.tolist(), own.left.tolist(), own.right.tolist()) == ([label], [0.0, 1.0], [0.5, 0.0])
        own = class_ends._Shares.of(in_pieces(2), meeting[:, ::way], np.zeros((3, 3)))
        left, right = ([0.0, 1.0], [1.0, 0.0]) if label else ([0.0, 0.0], [1.0, 1.0])
        assert (own.classes.tolist(), own.left.tolist(), own.right.tolist()) == ([label], left, right)
    # It would be back for the last eighth, known to an eighth.
    outputs, errors = np.array([[0.0, 1.0], [0.0, -7.0], [0.0, 1.0]]), np.array([[0.0, 0.0], [0.5, 0.5], [0.0, 0.0]])
    own = class_ends._Shares.of(in_pieces(2), outputs, errors)
    assert (own.left.tolist(), own.right.tolist()) == ([1.0, 1.0], [0.0, 0.0])
    own = class_ends._Shares.of(in_pieces(2), outputs, 0.99 * errors)
    assert (own.left.tolist(), own.right.tolist()) == ([0.0, 0.875], [0.125, 1.0])
    assert own.unsure == pytest.approx([0.99 / 8, 0.0])


def test_right_after_a_tie_the_steepest_wins_and_the_lowest_among_equals():
    outputs = np.array([[2.0, 2.0, 1.0], [0.0, 4.0, 1.0]])
    none = np.zeros((2, 3))
    assert class_ends._just_after(outputs, none, 0, 0.0, 0) == 1
    assert class_ends._just_after(outputs, none, 0, 0.5, 0) == 1
    # Half a unit of error on both sides makes the third one tie, too, but it does not rise.
    assert class_ends._just_after(outputs, np.full((2, 3), 0.5), 0, 0.0, 0) == 1
    assert class_ends._just_after(outputs, np.full((2, 3), 2.0), 0, 0.0, 0) == 0
    assert class_ends._just_after(outputs[:, [1, 0, 2]], np.full((2, 3), 1.5), 0, 0.0, 0) == 0
    assert class_ends._just_after(outputs[:, [2, 0, 1]], np.full((2, 3), 1.5), 0, 0.0, 0) == 0
    assert class_ends._just_after(outputs[:, [2, 0, 1]], np.full((2, 3), 1.25), 0, 0.0, 0) == 2


@pytest.mark.parametrize("way", [1, -1])
def test_outputs_are_as_uncertain_on_a_piece_as_at_the_worse_of_its_knots(way):
    """Right after the start 2 and 1 tie if one of the knots has errors of a half, and then the second one wins."""
    outputs, errors = np.array([[2.0, 1.0], [2.0, 4.0]]), np.array([[0.5, 0.5], [0.0, 0.0]])[::way]
    assert class_ends._just_after(outputs, errors, 0, 0.0, 0) == 1
    assert class_ends._just_after(outputs, np.zeros((2, 2)), 0, 0.0, 0) == 0


def test_what_comes_after_a_later_piece_is_on_the_one_behind_it():
    """Class 0 until x - 1, which a unit cuts off below 0, is above 0; another unit has its kink at 0."""
    net = rs.load([(np.ones((2, 1)), np.array([0.0, -1.0])), (np.array([[0.0, 0.0], [0.0, 1.0]]), np.zeros(2))])
    found = last_of_class(net, [[-1.0], [-3.0]], [[3.0], [5.0]])
    for ends in (found.first, found.last):
        assert ends.after.tolist() == [1, 1]
        assert ends.alphas.tolist() == [0.5, 0.5]
        assert ends.points[:, 0].tolist() == [1.0, 1.0]
    assert found.first.within[:, 0].tolist() == [0.5, 0.5]


def test_a_tie_at_an_end_that_errors_make_leaves_the_piece_its_class():
    """One output is ahead by 1 at a knot without errors, and by a half at one where errors are 1."""
    outputs, errors = np.array([[1.0, 0.0], [0.5, 0.0]]), np.array([[0.0, 0.0], [1.0, 1.0]])
    for way in (1, -1):
        own = class_ends._Shares.of(in_pieces(1), outputs[::way], errors[::way])
        assert (own.classes.tolist(), own.left.tolist(), own.right.tolist()) == ([0], [0.0], [1.0])
        assert own.unsure.tolist() == [0.0]
