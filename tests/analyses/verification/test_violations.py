"""All violations against one whole partition, and against dense samples; pieces must not overlap and miss nothing."""

from dataclasses import replace
from fractions import Fraction
from inspect import unwrap
from itertools import pairwise
from math import prod
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import reluscope as rs
from fuzzer.modules import linear
from reluscope.analyses.boxes.halved_boxes import Part
from reluscope.analyses.verification import unsafe_regions as listing
from reluscope.analyses.verification import violation_search as searching
from reluscope.analyses.verification.disjoint_boxes import disjoint_boxes
from reluscope.analyses.verification.unsafe_regions import _UnsafeParts
from reluscope.errors import InputError, ShapeError
from reluscope.geometry.polyhedra.interior import Ball
from reluscope.geometry.unions.set_differences import Difference
from reluscope.testing import default_network, networks

Case, Property = rs.verification.Case, rs.verification.Property
ABSOLUTE = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])  # |x|


def is_unsafe(net, safe, points, slack=0.0):
    """Return which points violate a property, each row missed by a slack."""
    outputs = net(points).numpy().reshape(len(points), -1)
    found = np.zeros(len(points), dtype=bool)
    for case in safe.cases:
        inside = ((points >= case.lower) & (points <= case.upper)).all(axis=1)
        for one in case.unsafe:
            found |= inside & (outputs @ one.A.T <= one.b + slack).all(axis=1)
    return found


def check(net, safe, found, seed=0, count=4_000):
    """Check pieces against samples of the property's boxes, and volumes against the boxes around them."""
    rng = np.random.default_rng(seed)
    low, high = found.inputs
    points = rng.uniform(low, high, (count, len(low)))
    held = found.contains(points)
    sure, may = is_unsafe(net, safe, points, -1e-7), is_unsafe(net, safe, points, 1e-7)
    assert not (held & ~may).any()
    opened = np.zeros(count, dtype=bool)
    for ends in found.open_boxes:
        opened |= ((points >= ends[0]) & (points <= ends[1])).all(axis=1)
    assert not (sure & ~held & ~opened).any()
    inside = np.array([piece.contains(points) for piece in found.pieces]).reshape(-1, count)
    # Interiors do not meet: random points are in at most one.
    assert inside.sum(axis=0).max(initial=0) <= 1
    for piece, witness, volume, ends in zip(found.pieces, found.witnesses, found.volumes, found.ends, strict=True):
        assert piece.contains(witness)
        assert is_unsafe(net, safe, witness[None], 1e-9).all()
        assert volume == pytest.approx(piece.volume(), rel=1e-6, abs=1e-12)
        free = low < high
        assert volume <= np.prod((ends[1] - ends[0])[free]) * (1 + 1e-9)
        assert (ends[0] <= witness).all()
        assert (witness <= ends[1]).all()
    return held.mean()


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(4))
def test_volumes_are_those_of_one_partition(seed):
    net = rs.load(default_network([2, 9, 8, 3], seed=seed))
    low, high = np.array([-2.0, -1.0]), np.array([1.0, 2.0])
    target = rs.Polyhedron([[1.0, -1.0, 0.0], [1.0, 0.0, -1.0]], [0.0, 0.1])
    whole = rs.preimages.of(net, target, domain=rs.Box(low, high))
    safe = Property([Case(low, high, [target])])
    found = rs.violations(net, safe)
    check(net, safe, found, seed)
    assert found.claim == "EXACT"
    assert found.volume().value == pytest.approx(whole.volume().value, rel=1e-7)


@pytest.mark.slow
def test_boxes_change_nothing_about_the_volume(monkeypatch):
    net = rs.load(default_network([3, 12, 10, 2], seed=1))
    safe = Property([Case(-np.ones(3), np.ones(3), [rs.Polyhedron([[1.0, -1.0]], [-0.1])])])
    at_once = rs.violations(net, safe)
    monkeypatch.setattr(searching, "MAX_OPEN", 6)
    by_boxes = rs.violations(net, safe)
    check(net, safe, at_once)
    check(net, safe, by_boxes)
    assert by_boxes.work["boxes"] > 10 * at_once.work["boxes"]
    assert by_boxes.volume().value == pytest.approx(at_once.volume().value, rel=1e-7)
    assert at_once.claim == by_boxes.claim == "EXACT"


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(layers=networks(), seed=st.integers(0, 10**6))
def test_nothing_is_missed_or_counted_twice(layers, seed):
    net, rng = rs.load(layers), np.random.default_rng(seed)
    cases = []
    for _ in range(rng.integers(1, 3)):
        lower = rng.uniform(-2, 0, net.num_inputs)
        upper = lower + rng.uniform(0.5, 3, net.num_inputs)
        points = rng.uniform(lower, upper, (500, len(lower)))
        outputs = net(points).numpy().reshape(len(points), -1)
        polyhedra = []
        for _ in range(rng.integers(1, 3)):
            A = np.round(rng.normal(size=(rng.integers(1, 3), net.num_outputs)) * 4) / 4
            polyhedra.append(rs.Polyhedron(A, np.quantile(outputs @ A.T, 0.4, axis=0)))
        cases.append(Case(lower, upper, polyhedra))
    safe = Property(cases)
    found = rs.violations(net, safe, budget=rs.Budget(regions=500))
    check(net, safe, found, seed, 1_000)
    assert found.volume().value <= found.total * (1 + 1e-9)


def test_the_samples_would_see_a_part_that_is_forgotten(monkeypatch):
    monkeypatch.setattr(listing, "without", lambda body, cut, thin: Difference([], []))
    with pytest.raises(AssertionError):
        test_overlapping_kinds_and_cases_are_counted_once()


def test_the_samples_would_see_regions_that_are_forgotten(monkeypatch):
    monkeypatch.setattr(listing._UnsafeParts, "_keep", lambda *of: None)
    with pytest.raises(AssertionError):
        test_volumes_are_those_of_one_partition(0)


def test_overlapping_kinds_and_cases_are_counted_once():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])  # relu, entry by entry
    right, top = rs.Polyhedron([[-1.0, 0.0]], [-0.5]), rs.Polyhedron([[0.0, -1.0]], [-0.5])
    safe = Property([Case([0.0, 0.0], [1.0, 1.0], [right, top])])
    found = rs.violations(net, safe)
    check(net, safe, found)
    assert found.volume().value == pytest.approx(0.75)
    twice = Property([*safe.cases, Case([-1.0, 0.75], [1.0, 1.0], [top, right])])
    found = rs.violations(net, twice)
    check(net, twice, found)
    assert found.volume().value == pytest.approx(0.75 + 0.25)


def test_boxes_that_are_flat_where_others_are_not_have_no_volume():
    """Two cases, a flat one and a point; and an input that is fixed in all cases."""
    ends = [([0.0, 0.0, 7.0], [1.0, 2.0, 7.0]), ([3.0, 0.0, 7.0], [3.0, 2.0, 7.0]), ([5.0] * 3, [5.0] * 3)]
    net, unsafe = rs.load([(np.ones((1, 3)), np.zeros(1))]), [rs.Polyhedron([[1.0]], [0.0])]
    cases = [rs.verification.Case(lower, upper, unsafe) for lower, upper in ends]
    for chosen, free, total in (
        ([0, 1], [True, True, False], 2.0),
        ([1], [False, True, False], 2.0),
        ([2], [False] * 3, 1.0),
    ):
        search = searching.ViolationSearch(net, rs.verification.Property([cases[one] for one in chosen]))
        assert search.free.tolist() == free
        assert [box.lower.tolist() for box in search._boxes] == [ends[chosen[0]][0]]
        assert search.total == total


def test_disjoint_boxes_cover_all_cases():
    rng = np.random.default_rng(0)
    some = [rs.Polyhedron([[1.0]], [0.0])]
    for _ in range(20):
        ends = np.sort(rng.integers(0, 6, (4, 2, 3)).astype(float), axis=1)
        boxes = disjoint_boxes([Case(*one, some) for one in ends])
        points = rng.uniform(0, 5, (2_000, 3))
        number = np.zeros(len(points), dtype=int)
        for box in boxes:
            inside = ((points > box.lower) & (points < box.upper)).all(axis=1)
            number += inside
            names = {one.case for one in box.unsafe}
            for case, (low, high) in enumerate(ends):
                assert ((points[inside] >= low) & (points[inside] <= high)).all() == (case in names) or not inside.any()
        covered = np.any([((points >= low) & (points <= high)).all(axis=1) for low, high in ends], axis=0)
        np.testing.assert_array_equal(number, covered)


def test_fixed_inputs_fulfil_equations():
    net = rs.load(default_network([3, 8, 2], seed=5))
    low, high = np.array([-1.0, 0.25, -1.0]), np.array([1.0, 0.25, 1.0])
    ahead = net(np.random.default_rng(0).uniform(low, high, (100, 3))).numpy() @ [1.0, -1.0]
    safe = Property([Case(low, high, [rs.Polyhedron([[1.0, -1.0]], [np.median(ahead)])])])
    found = rs.violations(net, safe)
    check(net, safe, found)
    assert len(found)
    assert found.total == pytest.approx(4.0)
    assert all(piece.C.tolist() == [[0.0, 1.0, 0.0]] and piece.d.tolist() == [0.25] for piece in found.pieces)
    assert any(len(piece.A) != 4 for piece in found.pieces)  # of regions, and not a box
    with pytest.raises(InputError, match="lets some input vary"):
        rs.violations(ABSOLUTE, Property([Case([1.0], [1.0], [rs.Polyhedron([[1.0]], [0.0])])]))


def test_what_is_touched_has_no_volume():
    touched = Property([Case([-1.0], [1.0], [rs.Polyhedron([[-1.0]], [-1.0]), rs.Polyhedron([[1.0]], [0.0])])])
    found = rs.violations(ABSOLUTE, touched)
    assert (len(found), found.volume().value, str(found.claim)) == (0, 0.0, "EXACT")
    level = rs.Polyhedron(np.zeros((0, 1)), np.zeros(0), [[1.0]], [0.5])  # |x| = 0.5
    assert len(rs.violations(ABSOLUTE, Property([Case([-1.0], [1.0], [level])]))) == 0
    assert rs.violations(ABSOLUTE, Property([Case([-1.0], [1.0], [rs.Polyhedron([[0.0]], [1.0])])])).share().value == 1


def test_parts_too_thin_for_a_piece_may_take_what_their_largest_ball_allows():
    net, box = rs.load([(np.eye(2), np.full(2, 5.0)), (np.eye(2), np.full(2, -5.0))]), rs.Box(0, 2, 2)
    cutting, middle = _UnsafeParts(rs.partition(net, box), box, []), np.full(2, 0.5)
    assert [_UnsafeParts(rs.partition(net, one), one, []).largest.tolist() for one in (box, rs.Box(-2, 1, 2))] == [
        [2, 2]
    ] * 2
    # In the unit square a strip with a ball of radius r has an area of 2 r; the box has four times that.
    assert 8e-10 <= cutting._thin(Ball(middle, 1e-10, 0.0), 0.0) <= 8e-9
    assert 8e-10 <= cutting._thin(Ball(middle, 0.0, 1e-10), 0.0) <= 8e-9
    assert cutting._thin(Ball(middle, -1e-3, 1e-6), 0.0) == 0.0
    assert cutting._thin(Ball(middle, -1e-3, 2e-3), 0.0) >= 8e-3  # that there is no ball is not proved
    assert cutting._thin(Ball(middle, 0.0, 0.0), 1e-10) >= 8e-10  # rows may have been shifted


def test_a_budget_leaves_boxes_open():
    net = rs.load(default_network([3, 60, 60, 2], seed=3))
    safe = Property([Case(-np.ones(3), np.ones(3), [rs.Polyhedron([[1.0, -1.0]], [0.0])])])
    found = rs.violations(net, safe, budget=rs.Budget(regions=20))
    check(net, safe, found)
    assert found.claim == "LOWER"
    assert len(found.open_boxes)
    sides = found.open_boxes[:, 1] - found.open_boxes[:, 0]
    interval = found.volume().interval
    assert interval is not None
    low, high = interval
    assert high - low == pytest.approx(np.prod(sides, axis=1).sum())
    share = is_unsafe(net, safe, np.random.default_rng(0).uniform(-1, 1, (20_000, 3))).mean()
    assert low - 0.1 <= share * 8 <= high + 0.1
    nothing = rs.violations(net, safe, budget=rs.Budget(seconds=0.0))
    assert nothing.volume().interval[1] == pytest.approx(8.0)


def test_the_table_and_the_file(tmp_path):
    net = rs.load(default_network([3, 8, 2], seed=5))
    safe = Property([Case([-1.0, 0.5, -1.0], [1.0, 0.5, 1.0], [rs.Polyhedron([[1.0, -1.0]], [0.0])])])
    found = rs.violations(net, safe)
    table = found.to_table()
    assert table.num_rows == len(found)
    assert sum(table["volume"].to_pylist()) == pytest.approx(found.volume().value)
    assert table["lower_1"].to_pylist() == [0.5] * len(found)
    assert replace(found, errors=found.errors + 9.0).volume().interval == (0.0, found.total)  # no more than there is
    found.save(tmp_path / "found.arrow")
    again = rs.verification.Violations.load(tmp_path / "found.arrow")
    assert again.to_table().equals(table)
    assert str(again.share()) == str(found.share())
    for one, other in zip(found.pieces, again.pieces, strict=True):
        for name in ("A", "b", "C", "d"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    none = Property([Case([-1.0], [1.0], [rs.Polyhedron([[1.0]], [-1.0])])])
    rs.violations(ABSOLUTE, none).save(tmp_path / "none.arrow")
    assert len(rs.verification.Violations.load(tmp_path / "none.arrow")) == 0
    (tmp_path / "found.arrow").write_bytes((tmp_path / "found.arrow").read_bytes()[:-40])
    with pytest.raises(InputError, match="is not a file of kind 'violations'"):
        rs.verification.Violations.load(tmp_path / "found.arrow")


def test_pictures_of_two_and_of_three_inputs():
    for dim in (2, 3):
        net = rs.load(default_network([dim, 8, 2], seed=5))
        safe = Property([Case(-np.ones(dim), np.ones(dim), [rs.Polyhedron([[1.0, -1.0]], [0.0])])])
        found = rs.violations(net, safe)
        figure = rs.plots.violations(found, inputs=(dim - 1, 0))
        assert figure.axes[0].get_xlabel() == f"input {dim - 1}"
        paths = figure.axes[0].collections[0].get_paths()
        assert len(paths) == len(found)
        if dim == 2:
            area = sum(abs(np.linalg.det(np.array([b - a, c - a]))) / 2 for a, b, c in _triangles(paths))
            assert area == pytest.approx(found.volume().value)
    with pytest.raises(InputError, match="two different"):
        rs.plots.violations(found, inputs=(1, 1))
    cases = [Case([low, low], [low + 1, low + 1], [rs.Polyhedron([[1.0, 1.0]], [1.0])]) for low in (0.0, 2.0)]
    apart = rs.violations(rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))]), Property(cases))
    assert apart.inputs.tolist() == [[0.0, 0.0], [3.0, 3.0]]
    (axes,) = rs.plots.violations(apart).axes
    asked = [path.get_extents().bounds for path in axes.collections[0].get_paths()]
    assert asked == [(0.0, 0.0, 1.0, 1.0), (2.0, 2.0, 1.0, 1.0)]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["asked about: 2 boxes", "violated: 1 piece"]
    line = rs.violations(ABSOLUTE, Property([Case([0.0], [1.0], [rs.Polyhedron([[1.0]], [0.5])])]))
    with pytest.raises(InputError, match="two inputs as the axes of a picture, got a network with 1"):
        rs.plots.violations(line)


def _triangles(paths):
    for path in paths:
        corners = path.vertices[:-1]
        for second, third in pairwise(corners[1:]):
            yield corners[0], second, third


def test_what_does_not_fit():
    with pytest.raises(ShapeError, match="the network has, 1 and 1, got 2 and 1"):
        rs.violations(ABSOLUTE, Property([Case([0.0, 0.0], [1.0, 1.0], [rs.Polyhedron([[1.0]], [0.0])])]))
    num_inputs, anything = 4, [rs.Polyhedron([[1.0]], [5.0])]
    net = rs.load([(np.eye(num_inputs), np.zeros(num_inputs)), (np.ones((1, num_inputs)), np.zeros(1))])
    sides, zeros = np.eye(num_inputs), np.zeros(num_inputs)
    flat = [Case(zeros, side, anything) for side in sides]  # each lets another input vary
    for cases, total in ((flat, "0"), ([Case(zeros, 1e100 + zeros, anything)], "inf")):
        with pytest.raises(InputError, match=f"inputs with a volume, .* got {total}: ask about each case alone"):
            rs.violations(net, Property(cases))


@pytest.mark.parametrize(("row", "volume"), [([3.0, -1.0], 0.0), ([-3.0, 1.0], 1.0)])
def test_constant_outputs_within_rounding_of_a_row_are_decided_by_fractions(monkeypatch, row, volume):
    # The outputs are 0.1 and 0.3: as floats, three times the first is more than the second, by less than rounding.
    constant = rs.load([(np.eye(1), np.array([-5.0])), (np.ones((2, 1)), np.array([0.1, 0.3]))])
    case = Case([0.0], [1.0], [rs.Polyhedron([row], [0.0])])
    found = rs.violations(constant, Property([case])).volume()
    assert (float(found), str(found.claim)) == (volume, "EXACT")
    monkeypatch.setattr("reluscope.analyses.preimages.rows_of_inputs.MOST_MULTIPLICATIONS", 0)
    real = searching._sides
    monkeypatch.setattr(searching, "_sides", lambda *of: real(*of)._replace(is_inside=np.zeros(len(of[0]), bool)))
    unknown = rs.violations(constant, Property([case])).volume()
    assert (unknown.interval, str(unknown.claim)) == ((0.0, 1.0), "LOWER")


def test_a_row_that_changes_sign_by_less_than_rounding_is_made_again_in_fractions():
    # 1 + 2^-52 x - 1 on [-1, 1]: zero in floats, and of both signs.
    level = rs.load([(np.eye(1), np.array([2.0])), (np.array([[2.0**-52]]), np.array([1.0 - 2.0**-51]))])
    case = Case([-1.0], [1.0], [rs.Polyhedron([[1.0]], [1.0])])
    found = rs.violations(level, Property([case]))
    assert (found.volume().value, found.claim) == (1.0, "EXACT")
    assert found.contains([[-0.5], [0.5]]).tolist() == [True, False]


@pytest.mark.parametrize("end", [3.0, 2.9999999, 3.0 + 2.0**-51])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_terms_of_maps_that_cancel_are_not_left_to_rounding(sign, end):
    large = np.full((3, 1), 2.0**53 - 1)  # times 3, less twice, less once: 0, and in floats 1 or so
    net = rs.load([(large, np.array([1.0, 0.0, 0.0])), (np.array([[3.0, -2.0, -1.0]]), np.zeros(1))])  # 3 from 0 on
    found = rs.violations(net, Property([Case([0.5], [1.0], [rs.Polyhedron([[sign]], [sign * end])])])).volume()
    assert (found.value, found.claim) == (0.5 if sign * 3.0 <= sign * end else 0.0, "EXACT")


@pytest.mark.parametrize(("end", "volume"), [(-1e-10, 1.0), (0.0, 2.0), (1e-10, 2.0)])
def test_small_ends_of_rows_are_not_taken_for_rounding(end, volume):
    net = rs.load([(np.eye(1), np.zeros(1)), (-np.eye(1), np.zeros(1))])  # -relu(x), 0 on half of the box
    case = Case([-1.0], [1.0], [rs.Polyhedron([[1.0]], [end])])
    found = rs.violations(net, Property([case])).volume()
    assert found.claim == "EXACT"
    np.testing.assert_allclose(found.value, volume, atol=1e-8)


@pytest.mark.parametrize(("end", "volume"), [(-1e-6, 0.0), (-1e-13, 0.9), (1e-6, 1.5)])
def test_rounding_of_large_outputs_elsewhere_is_not_that_of_small_ones(end, volume):
    weights = np.array([[1.0], [1.0], [-1.0]]), np.array([-0.5, 0.0, 0.0])
    net = rs.load([weights, (np.array([[1e9, 1e-12, -1e-12]]), np.zeros(1))])  # 1e9 relu(x - 1/2) + 1e-12 x
    case = Case([-1.0], [1.0], [rs.Polyhedron([[1.0]], [end])])
    np.testing.assert_allclose(rs.violations(net, Property([case])).volume().value, volume, atol=1e-8)


FAR = rs.Box([-766101629378.7329], [-766088515302.0095])


SLOPE, BIAS = 3.050157540153846e-07, 233671.06613736897


def clamp_far_out(copies):
    """A clamp between kinks 1.3e7 apart, the ends of a box at 7.7e11."""
    layers = (
        linear([[SLOPE]] * copies, [BIAS] * copies),
        nn.Hardtanh(-2.0, 2.0),
        linear([[1.0] + [0.0] * (copies - 1)], [0.0]),
    )
    return rs.load(nn.Sequential(*layers))


@pytest.mark.parametrize("copies", [1, 2])
def test_rounding_of_rows_and_corners_far_from_the_origin_is_part_of_the_volume(copies):
    found = rs.preimages.of(clamp_far_out(copies), rs.Polyhedron([[-1.0]], [1.0]), domain=FAR, method="boxes")
    low, high = (Fraction(float(end[0])) for end in (FAR.lo, FAR.hi))
    truth = high - max(low, (-1 - Fraction(BIAS)) / Fraction(SLOPE))
    volume = found.volume()
    assert volume.claim == "EXACT"
    assert abs(Fraction(volume.value) - truth) <= Fraction(volume.tolerance)


def test_walls_of_the_box_are_those_of_pieces():
    found = rs.preimages.of(clamp_far_out(1), rs.Polyhedron([[-1.0]], [1.0]), domain=FAR, method="boxes")
    assert found.contains(FAR.hi)


def test_units_whose_slopes_are_below_rounding_bound_regions():
    # h - h + e (h + y) - 3.51 e for e = 1e-15: floats see a constant, fractions a kink at x + y = 0.51.
    first = (np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0]]), np.full(3, 3.0))
    second = (np.array([[1.0, -1.0, 1e-15], [0.0, 0.0, 1.0]]), np.array([-3.51e-15, 0.0]))
    net = rs.load([first, second, (np.array([[1e15, 1.0]]), np.array([-0.375]))])
    square = rs.Box(0, 1, 2)
    body = rs.region(net, [0.9, 0.9], domain=square).polyhedron
    assert body.volume() == pytest.approx(1 - 0.51**2 / 2)
    found = rs.preimages.of(net, rs.Polyhedron([[1.0]], [4.616599016714329]), domain=square, method="boxes").volume()
    assert (found.value, found.claim) == (pytest.approx(0.7193493116610667), "EXACT")


@pytest.mark.parametrize("has_equation", [False, True])
def test_boxes_are_missed_beyond_an_end_and_inside_up_to_it(has_equation):
    """Bounds from below of two rows, and of their opposites; an equation is missed on either side, and never inside."""
    A, b = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 2.0])
    equation = ([[1.0, 1.0]], [3.0]) if has_equation else (np.zeros((0, 2)), np.zeros(0))
    rows, ends = rs.Polyhedron(A, b, *equation).inequalities()
    values = np.array([[0.5, 2.0], [1.0, 2.0], [1.0, 2.5], [1.5, 2.0], [0.5, 2.5], [0.5, 1.0], [3.0, 5.0]])
    table = np.concatenate([values @ rows.T, -values @ rows.T], axis=1)
    found = SimpleNamespace(half=None, below=lambda asked: SimpleNamespace(least=lambda half: table))
    sides = unwrap(searching._sides)(found, rs.Polyhedron(A, b, *equation))
    at = values @ rows.T
    assert sides.is_missed.tolist() == [any(one > end for one, end in zip(row, ends, strict=True)) for row in at]
    expected = [not has_equation and all(one <= end for one, end in zip(row, ends, strict=True)) for row in at]
    assert sides.is_inside.tolist() == expected


@pytest.mark.parametrize("seed", range(10))
def test_volumes_of_whole_boxes_are_within_their_errors(seed):
    """Of sides that round, in up to six dimensions, some of them fixed."""
    generator = np.random.default_rng(seed)
    for dim in range(1, 7):
        lower = generator.normal(size=dim) * 10.0 ** generator.integers(-3, 4, dim)
        upper = lower + generator.random(dim) * 10.0 ** generator.integers(-3, 4, dim)
        free = np.arange(dim) >= dim - max(1, dim // 2 + 1)
        search = SimpleNamespace(free=free)
        search._volume = lambda box, search=search: searching.ViolationSearch._volume(search, box)
        piece = searching.ViolationSearch._as_piece(search, Part(lower, upper, 0.0, 1.0, None), None)
        sides = [Fraction(b) - Fraction(a) for a, b in zip(lower[free].tolist(), upper[free].tolist(), strict=True)]
        assert abs(Fraction(piece.volume) - prod(sides)) <= Fraction(piece.error)


def test_boxes_of_cases_that_miss_each_other_in_one_direction_alone_stay_as_they_are():
    """Nothing is the other way around; seen red: a part between the two, turned inside out."""
    some = [rs.Polyhedron([[1.0]], [0.0])]
    cases = [Case([0, 0], [1, 1], some), Case([2, 0], [3, 1], some), Case([0, 5], [3, 6], some)]
    found = disjoint_boxes(cases)
    assert [(one.lower.tolist(), one.upper.tolist()) for one in found] == [
        (case.lower.tolist(), case.upper.tolist()) for case in cases
    ]


def test_boxes_that_are_flat_in_one_direction_overlap_there_too():
    some = [rs.Polyhedron([[1.0]], [0.0])]
    found = disjoint_boxes([Case([0, 1], [2, 1], some), Case([1, 1], [3, 1], some)])
    known = {(*one.lower.tolist(), *one.upper.tolist()): [kind.case for kind in one.unsafe] for one in found}
    assert known == {(0, 1, 1, 1): [0], (1, 1, 2, 1): [0, 1], (2, 1, 3, 1): [1]}
