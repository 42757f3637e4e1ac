"""Areas and intervals of classes against rational arithmetic; planes and lines against the network itself."""

from importlib import import_module
from inspect import unwrap
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reluscope as rs
from empty_partitions import empty_partition
from fuzzer.fuzz_runs import run_case
from oracles.fractions_plane import rectangle, relu_layers, split
from reluscope.analyses.classification.class_predictions import predicted_classes
from reluscope.analyses.planes import area_shares, class_areas, class_intervals, plane_measures
from reluscope.datasets.demo import demo_network
from reluscope.datasets.digits import digits
from reluscope.errors import InputError
from reluscope.partitions.decisions import open_ties
from reluscope.partitions.region_numbers import map_norms
from reluscope.testing import default_network, strategies

DATA = digits("test")
X = DATA.points.reshape(len(DATA), -1)
NET = rs.load(demo_network(), input_shape=(1, 8, 8))
BOX = rs.Box(-1, 1, 2)

class_intervals_module = import_module("reluscope.analyses.planes.class_intervals")

PLANE = rs.Plane(*X[[0, 1, 2]], margin=0.25)


@pytest.fixture(scope="module")
def part():
    return rs.partition(NET, PLANE)


@pytest.fixture(scope="module")
def areas(part):
    return class_areas(part)


def exact_areas(parameters, num_outputs):
    """Areas of classes in [-1, 1]^2: the winning candidate of one more max gate, in rational arithmetic."""
    layers = [*relu_layers(parameters), ("max", [list(range(num_outputs))])]
    areas = np.zeros(num_outputs)
    for piece in split(layers, rectangle(-1, 1)):
        areas[piece.code[-1]] += float(piece.measure)
    return areas


@given(st.data(), st.integers(2, 4))
def test_areas_of_classes_are_those_of_rational_arithmetic(data, num_outputs):
    parameters = data.draw(strategies.networks(num_inputs=2, max_layers=2, max_width=4, num_outputs=num_outputs))
    areas = class_areas(rs.partition(rs.load(parameters), BOX)).by_class(num_outputs)
    assert np.allclose(areas, exact_areas(parameters, num_outputs), atol=1e-9)


def test_a_class_that_wins_only_inside_a_region():
    # On one region: two outputs with opposite slopes, and a third above both around their tie and at no corner.
    affine = rs.load([(np.array([[4.0, 0.0], [-4.0, 0.0], [0.0, 0.0]]), np.array([0.0, 0.0, 1.0]))])
    areas = class_areas(rs.partition(affine, BOX))
    assert areas.by_class(3) == pytest.approx([1.5, 1.5, 1.0])
    assert len(areas) == 3


def test_of_equal_outputs_the_lowest_has_the_part():
    net = rs.load([(np.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]]), np.zeros(3))])
    assert class_areas(rs.partition(net, BOX)).by_class(3) == pytest.approx([2.0, 0.0, 2.0])
    line = rs.partition(net, rs.Segment([-1, 0], [1, 0]))
    assert class_intervals(line).by_class(3) == pytest.approx([1.0, 0.0, 1.0])


def test_a_class_that_wins_in_the_middle_of_a_region_of_a_line():
    net = rs.load([(np.array([[4.0], [-4.0], [0.0]]), np.array([0.0, 0.0, 1.0]))])
    found = class_intervals(rs.partition(net, rs.Box(-1, 1, 1)))
    assert found.classes.tolist() == [1, 2, 0]
    assert found.ends == pytest.approx(np.array([[-1, -0.25], [-0.25, 0.25], [0.25, 1]]))


def test_polygons_hold_their_class_and_fill_the_window(part, areas):
    assert areas.areas().sum() == pytest.approx(PLANE.window.volume(), rel=1e-12)
    assert (areas.areas() > 0).all()
    middles = np.add.reduceat(areas.corners, areas.offsets[:-1], axis=0) / np.diff(areas.offsets)[:, None]
    assert (predicted_classes(NET, PLANE.lift(middles)) == areas.classes).all()
    assert (part.locate(middles) == areas.regions).mean() > 0.999


def test_many_regions_are_cut_as_one_by_one():
    # More parts than the kernel's first arrays hold.
    net = rs.load(default_network([2, 32, 32, 6], seed=3))
    part = rs.partition(net, rs.Box(-3, 3, 2))
    areas = class_areas(part)
    assert np.bincount(areas.regions)[np.bincount(areas.regions) > 1].sum() > 64
    inside = np.bincount(areas.regions, weights=areas.areas())
    assert inside == pytest.approx(part.volumes(), rel=1e-9)


def test_shares_sum_to_one(part, areas):
    shares = area_shares(part, areas)["share_of_window"]
    assert shares.value.sum() == pytest.approx(1.0)
    assert shares.is_exact.all()


def test_a_single_output_has_two_classes():
    net = rs.load([(np.eye(2), np.full(2, 5.0)), (np.array([[1.0, 0.0]]), np.array([-5.5]))])
    assert class_areas(rs.partition(net, BOX)).by_class(2) == pytest.approx([3.0, 1.0])


def test_the_numbers_of_a_plane(part):
    boundary = rs.decision_boundary(part)
    found = plane_measures(part, boundary)
    assert [found[name].value[0] for name in found] == [len(part), len(part.facets), boundary.length]
    assert all(found[name].is_exact.all() for name in found)


def test_the_boundary_is_where_polygons_of_other_classes_meet(part, areas):
    # The decision boundary is half the perimeter of all classes, the window's own sides left out.
    following = np.arange(1, len(areas.corners) + 1)
    following[areas.offsets[1:] - 1] = areas.offsets[:-1]
    middles = (areas.corners + areas.corners[following]) / 2
    sides = np.linalg.norm(areas.corners - areas.corners[following], axis=1)
    outputs = NET(PLANE.lift(middles)).numpy()
    two = np.sort(outputs, axis=1)[:, -2:]
    tied = two[:, 1] - two[:, 0] < 1e-9
    assert sides[tied].sum() / 2 == pytest.approx(rs.decision_boundary(part).length, rel=1e-6)


def test_a_spent_budget_gives_lower_bounds(part):
    some = rs.partition(NET, PLANE, budget=rs.Budget(regions=500))
    few, all_of_it = (plane_measures(one, rs.decision_boundary(one)) for one in (some, part))
    for name in few:
        assert few.finding(name).claim == "LOWER"
        assert few[name].lower[0] <= all_of_it[name].value[0] <= few[name].upper[0]
    shares, truth = (area_shares(one, class_areas(one)) for one in (some, part))
    assert not shares["share_of_window"].is_exact.any()
    for row, kind in enumerate(shares.keys["class"]):
        true = truth.where(**{"class": kind})["share_of_window"].value[0]
        assert shares["share_of_window"].lower[row] <= true <= shares["share_of_window"].upper[row]


def test_empty_partitions():
    plane, line = empty_partition(NET, PLANE), empty_partition(NET, rs.Segment(X[0], X[1]))
    assert len(class_areas(plane)) == len(class_intervals(line)) == len(map_norms.of(plane)) == 0


def test_areas_need_a_plane_and_intervals_a_line(part):
    line = rs.partition(NET, rs.Segment(X[0], X[1]))
    with pytest.raises(InputError, match="need a partition of a bounded plane"):
        class_areas(line)
    with pytest.raises(InputError, match="need a partition of a line"):
        class_intervals(part)


@given(st.data(), st.integers(1, 4))
def test_intervals_of_classes_are_where_each_output_wins(data, num_outputs):
    parameters = data.draw(strategies.networks(num_inputs=1, max_layers=2, max_width=4, num_outputs=num_outputs))
    net = rs.load(parameters)
    part = rs.partition(net, rs.Box(-1, 1, 1))
    found = class_intervals(part)
    assert found.ends[0, 0] == -1
    assert found.ends[-1, 1] == 1
    assert np.array_equal(found.ends[1:, 0], found.ends[:-1, 1])
    inside = found.ends[:, :1] + np.linspace(0.1, 0.9, 5) * np.diff(found.ends)
    outputs = net(inside.reshape(-1, 1)).numpy().reshape(*inside.shape, num_outputs)
    if num_outputs == 1:
        outputs = np.concatenate([np.zeros_like(outputs), outputs], axis=-1)
    best = outputs.max(axis=-1)
    won = np.take_along_axis(outputs, found.classes[:, None, None], axis=-1)[..., 0]
    assert np.allclose(won, best, atol=1e-9)
    # Along a tie the lowest class has it.
    tied = np.isclose(outputs, best[..., None], atol=1e-12).all(axis=1)
    assert (found.classes <= tied.argmax(axis=-1))[tied.any(axis=-1)].all()


def test_intervals_agree_with_areas_of_a_thin_plane():
    line = rs.Segment(X[0], X[2])
    found = class_intervals(rs.partition(NET, line)).by_class(10)
    middles = NET(line.lift(np.linspace(0, line.window.hi[0], 20_001)[:, None])).argmax(1).numpy()
    assert found / found.sum() == pytest.approx(np.bincount(middles, minlength=10) / 20_001, abs=2e-4)


def test_norms_of_maps_are_their_largest_singular_values(part):
    weights = part.maps.weight.numpy()
    assert map_norms.of(part) == pytest.approx([np.linalg.norm(weight, 2) for weight in weights])


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_tie_at_a_kink_cuts_no_region(way):
    """``x`` and ``2 x`` beside 0 tie at 0, where the unit has its kink, and nowhere else."""
    net = rs.load([(np.array([[way], [-way]]), np.zeros(2)), (np.array([[1.0, -1.0], [0.0, 0.0]]), np.zeros(2))])
    found = class_intervals(rs.partition(net, rs.Box(-1, 1, 1)))
    assert found.ends.tolist() == [[-1.0, 0.0], [0.0, 1.0]]
    assert found.classes.tolist() == ([1, 0] if way > 0 else [0, 1])
    assert found.by_class(2).tolist() == [1.0, 1.0]


def test_pieces_of_a_line_whose_region_is_not_listed_have_none():
    class WithoutTheFirst:
        """A partition of a line, but for one of its regions."""

        def __init__(self, part):
            self.codes, self._part = part.codes[1:], part

        def __len__(self):
            return len(self.codes)

        def __getattr__(self, name):
            return getattr(self._part, name)

    part = rs.partition(rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.eye(2), np.zeros(2))]), rs.Space(1))
    whole = class_intervals(part)
    found = unwrap(class_intervals_module._without_end)(WithoutTheFirst(part))
    assert found.ends.tolist() == whole.ends.tolist()
    assert sorted(whole.regions.tolist()) == [0, 1]
    assert found.regions.tolist() == [one - 1 for one in whole.regions.tolist()]


def test_ties_at_ends_of_regions_cut_nothing(monkeypatch):
    """Regions from -1 to 0 and from 0 to 1, of |x| beside 1/4; ties at all their ends are told, too."""
    net = rs.load(
        [(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([0.0, 0.25]))]
    )
    part = rs.partition(net, rs.Box(-1, 1, 1))
    left, right = np.argsort(part.witnesses[:, 0])
    cuts = {left: (-1.0, -0.25, 0.0), right: (1.0, 0.25, 0.0)}
    told = SimpleNamespace(
        ends=np.array([[[cut]] for each in cuts.values() for cut in each]), regions=np.repeat(list(cuts), 3)
    )
    monkeypatch.setattr(class_intervals_module, "decision_boundary", lambda given: told)
    monkeypatch.setattr(class_intervals_module, "needs_fractions", lambda given: False)
    found = class_intervals(part)
    order = np.argsort(found.ends[:, 0])
    assert found.ends[order].tolist() == [[-1.0, -0.25], [-0.25, 0.0], [0.0, 0.25], [0.25, 1.0]]
    assert found.classes[order].tolist() == [0, 1, 1, 0]
    assert found.regions[order].tolist() == [left, left, right, right]


@pytest.mark.parametrize("number", [29, 79, 180, 243])
def test_classes_hold_the_truth_where_rounding_decides(number, monkeypatch):
    """Cases of the fuzzer in which outputs tie within rounding on a part of the domain, without fractions to tell."""
    monkeypatch.setattr(open_ties, "MOST_MULTIPLICATIONS", 0)
    assert not run_case(41, number, ("boundaries",)).failures


def test_classes_whose_parts_are_lines_in_floats_are_listed():
    """Seen red: a class on tents that are narrower than floats can show, far from the origin, was left out."""
    assert not run_case(9101, 34, ("boundaries",)).failures


def test_a_region_whose_corners_are_one_point_in_floats():
    assert not run_case(20261129, 1374, ("boundaries",)).failures


@pytest.mark.parametrize("is_small", [True, False])
def test_outputs_that_rounding_cannot_tell_apart(is_small, monkeypatch):
    """Fractions tell which one is larger by a last bit; without them they tie, and either may have all of a plane."""
    if not is_small:
        monkeypatch.setattr(open_ties, "MOST_MULTIPLICATIONS", 0)
    weight = np.array([[0.3, 0.0], [0.1 + 0.2, 0.0]])
    for box, wins in (((1, 2), 1), ((-2, -1), 0)):
        line = rs.partition(rs.load([(weight[:, :1], np.zeros(2))]), rs.Box(*box, 1))
        plane = rs.partition(rs.load([(weight, np.zeros(2))]), rs.Box(*box, 2))
        areas = class_areas(plane)
        assert class_intervals(line).classes.tolist() == areas.classes.tolist() == [wins if is_small else 0]
        shares = area_shares(plane, areas)["share_of_window"]
        assert [str(claim) for claim in shares.claims] == (["EXACT"] if is_small else ["UPPER", "LOWER"])
        assert shares.lower == pytest.approx([1.0] if is_small else [0.0, 0.0])
        assert shares.upper == pytest.approx([1.0] if is_small else [1.0, 1.0])
