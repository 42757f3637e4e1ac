"""Classes of regions against partitions of the plane, where each region and class can be looked at."""

from itertools import pairwise

import numpy as np
import pytest

import reluscope as rs
from reluscope.analyses.local import classes_of_regions as classes
from reluscope.analyses.local import likeliest_in_regions, region_classes, rivals
from reluscope.analyses.local import likeliest_points as likeliest
from reluscope.errors import DegenerateGeometryError, InputError, ShapeError
from reluscope.findings import Claim
from reluscope.geometry.programs import interior_point

THREE = [([[0.0], [0.6], [-10.0]], [0.0, -0.1, -0.1])]
SQUARE = rs.Box(-1, 1, 2)


def network(*sizes: int, seed: int = 0) -> rs.Network:
    """Return a random network."""
    draw = np.random.default_rng(seed)
    return rs.load([(draw.standard_normal((b, a)), draw.standard_normal(b) / 4) for a, b in pairwise(sizes)])


def test_the_maximiser_of_a_probability_may_belong_to_another_class():
    found = region_classes(rs.load(THREE), [[0.5]], domain=rs.Box(0, 1, 1))
    assert found.details["occurs"].tolist() == [[True, True, False]]
    assert found.details["is_at_likeliest"].tolist() == [[False, True, False]]
    assert np.exp(found.details["log_probabilities"][0, 0]) == pytest.approx(0.47065, abs=1e-5)
    assert found.details["distances"][0, 0] == pytest.approx(0.5 - 0.26542, abs=1e-3)
    number, fewer = found.mean("num_classes"), found.mean("num_classes_at_likeliest")
    assert (number.value, number.claim) == (2.0, Claim.EXACT)
    assert (fewer.value, fewer.claim) == (1.0, Claim.EXACT)
    assert found.details["is_at_likeliest_known"].all()
    assert found.mean("distortion").value == pytest.approx(found["distortion"].value[0])


@pytest.mark.slow
def test_against_all_regions_of_a_plane():
    net = network(2, 12, 8, 4, seed=14)
    part = rs.partition(net, SQUARE)
    rows = np.argsort(part.volumes())[-16:]
    found = region_classes(net, part.witnesses[rows], domain=SQUARE)
    offsets, ids = part.region_vertices
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 400)] * 2), axis=-1).reshape(-1, 2)
    place, classes = part.locate(grid), net(grid).numpy().argmax(axis=1)
    counts = set()
    for which, row in enumerate(rows):
        seen = set(classes[place == row].tolist())
        counts.add(len(seen))
        assert seen <= set(np.flatnonzero(found.details["occurs"][which]).tolist())
        # A class that occurs does so at a corner, or where others tie: on the boundary of others it is weakly largest.
        corners = part.vertices[ids[offsets[row] : offsets[row + 1]]]
        weak = corners @ part.maps.weight[row].numpy().T + part.maps.bias[row].numpy()
        for one in np.flatnonzero(~found.details["occurs"][which]):
            mixed = np.random.default_rng(0).dirichlet(np.ones(len(corners)), 400) @ weak
            assert (mixed[:, one] <= np.delete(mixed, one, axis=1).max(axis=1) + 1e-9).all()
    assert len(counts) > 1
    assert found.details["is_known"].all()
    assert (found.details["is_at_likeliest"] <= found.details["occurs"]).all()


@pytest.mark.parametrize("height", [-0.7, 0.0, 0.4])
def test_of_all_points_as_likely_the_nearest(height):
    """On a square, with logits x and 0, a whole side is likeliest for class 0, and the other for class 1."""
    found = region_classes(rs.load([([[1.0, 0.0], [0.0, 0.0]], [0.0, 0.0])]), [[0.2, height]], domain=SQUARE)
    np.testing.assert_allclose(found.details["distances"][0, 1], 1.2, atol=1e-6)
    assert found["distortion"].value[0] == pytest.approx(1.2, abs=1e-6)
    assert found.details["distance_gaps"][0, 1] <= 1e-9


def test_rivals_with_next_to_no_probability_pull_no_farther():
    """With logits 40 x and 0, class 0 is as good as certain from x = 0.5 on, wherever it is likeliest."""
    found = region_classes(rs.load([([[40.0], [0.0]], [0.0, 0.0])]), [[0.9]], domain=rs.Box(-1, 1, 1))
    assert found.details["distances"][0, 0] - found.details["distance_gaps"][0, 0] <= 1e-9
    assert found.details["distances"][0, 1] == pytest.approx(0.9 + np.log(4e7) / 40, abs=0.02)


def test_what_gaps_leave_open_is_not_known(monkeypatch):
    for module in (classes, likeliest):
        monkeypatch.setattr(module, "GAP", 0.5)
    found = region_classes(rs.load(THREE), [[0.5]], domain=rs.Box(0, 1, 1))
    assert not found.details["is_at_likeliest_known"][0, 0]
    fewer = found.mean("num_classes_at_likeliest")
    assert fewer.claim is Claim.LOWER
    assert fewer.interval[1] > fewer.interval[0] == fewer.value
    assert found.details["is_known"].all()


def test_one_output_stands_for_two_classes():
    net = rs.load([([[1.0]], [0.0])])
    found = region_classes(net, [[0.5]], domain=rs.Box(-1, 1, 1))
    assert found.details["occurs"].tolist() == [[True, True]]
    never = region_classes(rs.load([([[1.0]], [-3.0])]), [[0.5]], domain=rs.Box(-1, 1, 1))
    assert never.details["occurs"].tolist() == [[True, False]]


def test_of_classes_that_tie_everywhere_the_lowest_wins():
    net = rs.load([([[1.0], [1.0], [0.0]], [0.0, 0.0, 0.5])])
    found = region_classes(net, [[0.0]], domain=rs.Box(-1, 1, 1))
    assert found.details["occurs"].tolist() == [[True, False, True]]
    assert found.details["is_known"].all()
    assert found.details["is_at_likeliest_known"].all()
    assert (found.mean("num_classes").value, found.mean("num_classes").claim) == (2.0, Claim.EXACT)
    thirds = rs.load([([[0.1 + 0.2], [0.3], [0.0]], [0.0, 0.0, -0.5])])  # equal, but for rounding
    found = region_classes(thirds, [[0.0]], domain=rs.Box(-1, 1, 1))
    assert found.mean("num_classes").claim is Claim.LOWER


@pytest.mark.parametrize("bias", [[0.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -1.0, -1.0]])
def test_outputs_of_dead_units_tie(bias):
    """All that tells the outputs apart is dead on the region: what is left are their biases."""
    net = rs.load([(np.array([[1.0], [1.0]]), np.array([-3.0, -4.0])), (np.arange(6.0).reshape(3, 2), np.array(bias))])
    found = region_classes(net, [[0.0]], domain=rs.Box(-1, 1, 1))
    winner = int(np.argmax(bias))
    assert found.details["occurs"].tolist() == [[one == winner for one in range(3)]]
    assert found.details["is_known"].all()


def test_one_output_that_vanishes_is_class_0():
    dead = rs.load([(np.array([[1.0]]), np.array([-3.0])), (np.ones((1, 1)), np.zeros(1))])
    found = region_classes(dead, [[0.0]], domain=rs.Box(-1, 1, 1))
    assert found.details["occurs"].tolist() == [[True, False]]
    assert found.details["is_known"].all()


def test_equal_outputs_that_win_somewhere_only():
    """Outputs 1 and 2 are one function of a square, and ahead of 0 and 3 in a part of it that likeliest points miss."""
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    net = rs.load([(rows, np.array([0.0, -0.5, -0.5, -5.0]))])
    found = region_classes(net, [[0.0, 0.0]], domain=SQUARE)
    assert found.details["occurs"].tolist() == [[True, True, False, False]]
    assert found.details["is_known"].all()


def test_points_on_the_boundary_of_the_domain_and_on_kinks():
    net = rs.load([(np.eye(2), np.zeros(2)), ([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.1])])
    found = region_classes(net, [[1.0, 1.0], [0.0, 0.5], [-1.0, -1.0]], domain=SQUARE)
    assert found.is_done.all()
    assert found.details["occurs"].tolist() == [[True, True], [False, True], [False, True]]
    both = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0])])
    nowhere = region_classes(both, [[0.0], [0.5]], domain=rs.Box(-1, 1, 1))
    assert [str(status) for status in nowhere.status] == ["undefined", "done"]


def test_time_and_ctrl_c_leave_what_is_done(monkeypatch):
    net = network(3, 6, 3)
    points = np.random.default_rng(0).uniform(-1, 1, (5, 3))
    found = region_classes(net, points, domain=rs.Box(-1, 1, 3), budget=rs.Budget(seconds=0.0))
    assert (int(found.is_done.sum()), found.stopped) == (1, "time")
    # Of the point at work when time ends, what is not known stays so: seen red where it was worked on to its end.
    late, whole = found.rows([0]), region_classes(net, points[:1], domain=rs.Box(-1, 1, 3))
    for name in ("num_classes", "num_classes_at_likeliest", "distortion"):
        assert late[name].lower[0] <= whole[name].value[0] <= late[name].upper[0]
    assert not late["num_classes"].is_exact.all()
    one = region_classes(net, points[:1], domain=rs.Box(-1, 1, 3), budget=rs.Budget(seconds=0.0))
    assert one.stopped == "time"
    original, calls = classes._classes_within, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(classes, "_classes_within", interrupted)
    found = region_classes(net, points, domain=rs.Box(-1, 1, 3))
    assert found.stopped == "interrupted"
    assert found.is_done.tolist() == [True, False, False, False, False]


def test_points_outside_the_domain():
    net = network(3, 6, 3)
    with pytest.raises(InputError, match="point 1 lies outside"):
        region_classes(net, [[0.0, 0.0, 0.1], [0.0, 2.0, 0.0]], domain=rs.Box(-1, 1, 3))
    with pytest.raises(ShapeError, match="3 dimensions"):
        region_classes(net, [[0.0, 0.0, 0.1]], domain=SQUARE)


def test_points_that_are_no_numbers():
    with pytest.raises(InputError, match="point 0 holds NaN"):
        region_classes(network(3, 6, 3), [[0.0, np.nan, 0.1]], domain=rs.Box(-1, 1, 3))


def test_a_domain_without_interior_is_refused():
    with pytest.raises((DegenerateGeometryError, InputError)):
        region_classes(network(3, 6, 3), [[0.0, 0.0, 0.0]], domain=rs.Box([-1, -1, 0], [1, 1, 0]))


def test_a_class_that_never_occurs():
    """Class 2 is behind class 0 by one everywhere: nowhere largest, likeliest where the others are not far ahead."""
    W = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    found = region_classes(rs.load([(W, np.array([0.0, 0.0, -1.0]))]), [[0.2, -0.3]], domain=SQUARE)
    assert found.details["occurs"].tolist() == [[True, True, False]]
    assert found.details["is_known"].all()
    assert found.details["is_at_likeliest_known"].all()
    assert np.exp(found.details["log_probabilities"][0, 2]) == pytest.approx(
        np.exp(-1) / (1 + np.exp(-1) + np.exp(-2)), rel=1e-6
    )


def test_contradictions_are_checked(monkeypatch):
    """What the active-set method calls empty has to follow from its multipliers; else a program is asked."""
    from dataclasses import replace

    original = rivals.nearest_point

    def wrong(*arguments, **options):
        found = original(*arguments, **options)
        return replace(found, point=found.point * np.nan, distance=np.inf, lower=np.inf)

    monkeypatch.setattr(rivals, "nearest_point", wrong)
    net = network(2, 12, 8, 4, seed=14)
    points = np.random.default_rng(0).uniform(-1, 1, (6, 2))
    found = region_classes(net, points, domain=SQUARE)
    monkeypatch.undo()
    np.testing.assert_array_equal(found.details["occurs"], region_classes(net, points, domain=SQUARE).details["occurs"])


def test_rows_of_the_region_bound_how_far_a_class_is_ahead():
    # The second logit is x - 0.6 and the region ends at 0.5: it is behind by 0.1 there.
    rows, offsets = np.array([[1.0]]), np.array([0.5])
    weight, bias = np.array([[0.0], [1.0]]), np.array([0.0, -0.6])
    own = rivals.Rivals(rows, offsets, weight, bias, np.array([0.2]), rs.Box(0, 1, 1))
    assert own.most_ahead(1) == pytest.approx(-0.1, abs=1e-9)


class Clock:
    """A second for every Newton step and every nearest point, and none for all else."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(classes.time, "perf_counter", lambda: self.now)
        for module, name in ((interior_point, "NewtonEquations"), (rivals, "nearest_point")):
            monkeypatch.setattr(module, name, self.slow(getattr(module, name)))

    def slow(self, function):
        def slowly(*arguments, **options):
            self.now += 1.0
            return function(*arguments, **options)

        return slowly


@pytest.mark.few(1)
@pytest.mark.parametrize("ask", [region_classes, likeliest_in_regions])
def test_limits_are_kept_within_one_region(monkeypatch, ask):
    """Seen red without a limit in the search for nearest points, and in that for likeliest ones."""
    net = network(3, 6, 12, seed=1)
    points, box = np.random.default_rng(0).uniform(-1, 1, (4, 3)), rs.Box(-1, 1, 3)
    clock = Clock(monkeypatch)
    ask(net, points[:1], domain=box)
    alone, clock.now = clock.now, 0.0
    for seconds in np.linspace(0.0, 1.5 * alone, 12):
        before = clock.now
        ask(net, points[:1], domain=box, budget=rs.Budget(seconds=float(seconds)))
        # The rough ball, of six steps, and the step at work are ended.
        assert clock.now - before <= seconds + 7


def test_likeliest_points_that_were_not_found_in_time_are_left_out(monkeypatch):
    net = network(3, 6, 3)
    points, box = np.random.default_rng(0).uniform(-1, 1, (4, 3)), rs.Box(-1, 1, 3)
    whole = likeliest_in_regions(net, points, domain=box)
    assert whole.rows.tolist() == [0, 1, 2, 3]
    clock = Clock(monkeypatch)
    likeliest_in_regions(net, points[:2], domain=box)
    few = likeliest_in_regions(net, points, domain=box, budget=rs.Budget(seconds=1.2 * clock.now))
    assert 1 <= len(few.rows) < 4
    assert few.rows.tolist() == list(range(len(few.rows)))
    assert np.allclose(few.points, whole.points[: len(few.rows)], atol=1e-5)
    assert (few.classes == whole.classes[: len(few.rows)]).all()
    none = likeliest_in_regions(net, points, domain=box, budget=rs.Budget(seconds=0))
    assert none.points.shape == (0, 3, 3)
