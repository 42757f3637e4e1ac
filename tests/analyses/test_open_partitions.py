"""What a partition leaves open reaches every number that is made from it, and so do rounding and slivers.

Truths are those of fractions along an interval (`oracles.fractions_line`).
"""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reluscope as rs
from oracles import fractions_line as line
from reluscope import Claim
from reluscope.partitions.left_open import LeftOpen, left_open
from reluscope.testing import default_network

Case, Property = rs.verification.Case, rs.verification.Property


def held(finding, truth) -> bool:
    """Whether a finding is true: its interval, or its value up to its tolerance, holds the truth."""
    truth = Fraction(truth)
    if finding.claim is Claim.EXACT:
        error = Fraction(float(finding.tolerance or 0.0))
        return abs(Fraction(float(finding.value)) - truth) <= error + abs(truth) * Fraction(2) ** -50
    low, high = finding.interval or {Claim.LOWER: (finding.value, np.inf), Claim.UPPER: (-np.inf, finding.value)}.get(
        finding.claim, (-np.inf, np.inf)
    )
    return (low == -np.inf or Fraction(float(low)) <= truth) and (high == np.inf or truth <= Fraction(float(high)))


def hidden_kink(e):
    """relu(x - 1 / 2) + x + 2, behind a sum that cancels: floats do not see where it bends."""
    return [
        (np.ones((3, 1)), np.full(3, 2.0)),
        (np.array([[1.0, -1.0, e], [0, 0, 1.0]]), np.array([-2.5 * e, 0.0])),
        (np.array([[1 / e, 1.0]]), np.zeros(1)),
    ]


def tent(center, half):
    """A tent of height 1."""
    biases = np.array([-(center - half), -center, -(center + half)])
    return [(np.ones((3, 1)), biases), (np.array([[1 / half, -2 / half, 1 / half]]), np.zeros(1))]


def at_least(value):
    return rs.Polyhedron([[-1.0]], [-value])


def of_partition(part):
    """Every number that is made of a partition of a line and that a budget or an undecided sign can spoil."""
    net = part.network
    yield "of_polytope", rs.preimages.of(net, at_least(0.7), domain=part).volume()
    yield "of_class", rs.preimages.of(net, 1, domain=part).volume()
    yield "image.maximum", rs.image(net, part).maximum([1.0])
    yield "image.volume", rs.image(net, part).volume()
    yield "distance", rs.preimages.distance_to_range(net, [5.0], domain=part).finding("distance_to_image")
    elsewhere = rs.preimages.reached_from_elsewhere(net, part.witnesses[0], 0.1, domain=part)
    yield "elsewhere", elsewhere.finding("is_reached_from_elsewhere")
    yield "decision_boundary", rs.decision_boundary(part).finding()
    yield "regions", part.finding()
    yield "pairs", part.adjacency_finding()
    yield "bounded", part.boundedness_finding()
    for row in range(len(part)):
        yield f"volume of region {row}", rs.region_volumes(part).finding("region_volume", row)
    if not part.num_open:
        merged = rs.compression.merge_regions(part)
        yield "pieces", merged.num_pieces
        yield "merged error", merged.max_error


@pytest.mark.parametrize("e", [1e-17, 1e-15, 1e-14])
def test_undecided_signs_reach_every_number(e):
    part = rs.partition(rs.load(hidden_kink(e)), rs.Box(-1, 1, 1))
    assert part.num_undecided
    assert left_open(part).claim is Claim.ESTIMATE
    assert {name for name, finding in of_partition(part) if finding.claim is Claim.EXACT} <= {"bounded"}


@pytest.mark.parametrize("half", [1e-12, 1e-14])
def test_a_tent_below_the_resolution_reaches_every_number(half):
    part = rs.partition(rs.load(tent(1 / 3, half)), rs.Box(-1, 1, 1))
    assert part.num_undecided
    assert not {name for name, finding in of_partition(part) if finding.claim is Claim.EXACT}
    truth = line.pieces_of(tent(1 / 3, half), -1, 1)
    found = dict(of_partition(part))
    assert held(found["of_polytope"], line.length_below(truth, [[-1.0]], [-0.7]))
    assert held(found["of_class"], line.length_below(truth, [[-1.0]], [0.0]))
    assert held(found["image.maximum"], line.largest(truth, [1.0]))
    assert held(found["image.volume"], line.image_length(truth))
    assert held(found["pieces"], line.different_maps_in_a_row(truth))
    assert held(found["merged error"], 1)


def test_a_budget_reaches_every_number():
    net = rs.load(default_network([1, 30, 20, 1], seed=3))
    part = rs.partition(net, rs.Box(-8, 8, 1), budget=rs.Budget(regions=8))
    assert part.num_open
    assert left_open(part).claim is Claim.LOWER
    assert {name for name, finding in of_partition(part) if finding.claim is Claim.EXACT} <= {
        f"volume of region {row}" for row in range(len(part))
    }


def of_plane(part):
    """Every number of a partition of a plane that a budget or an undecided sign can spoil."""
    measured = rs.planes.plane_measures(part, rs.decision_boundary(part))
    for name in ("num_regions_in_plane", "num_facets_in_plane", "decision_boundary_length"):
        yield name, measured.finding(name)
    shares = rs.planes.area_shares(part, rs.planes.class_areas(part))
    for row in range(len(shares)):
        yield f"share {row}", shares.finding("share_of_window", row)
    yield "of_class", rs.preimages.of(part.network, 0, domain=part).volume()
    yield "image.volume", rs.image(part.network, part).volume()


@pytest.mark.parametrize("budget", [None, rs.Budget(regions=20)])
def test_planes_that_are_not_whole(budget):
    layers = default_network([2, 20, 12, 2], seed=2)
    if budget is None:  # the first input, where floats do not see a bend
        (one, one_bias), *_ = hidden_kink(1e-15)
        layers = [(np.hstack([one, 0 * one]), one_bias), *hidden_kink(1e-15)[1:]]
        layers[-1] = (np.vstack([layers[-1][0], [[0.0, 1.5]]]), np.array([0.0, -0.3]))
    part = rs.partition(rs.load(layers), rs.Box(-1, 1, 2), budget=budget)
    assert bool(part.num_open) == (budget is not None)
    assert not left_open(part).is_nothing
    assert not {name for name, finding in of_plane(part) if finding.claim is Claim.EXACT}


def test_ends_of_a_number_that_grows_with_the_regions():
    assert LeftOpen().claim is Claim.EXACT
    assert LeftOpen(num_unfinished=1).ends(1.0, 1.5) == (1.0, np.inf)
    assert LeftOpen(num_undecided=1).ends(1.0, 1.5) == (-np.inf, np.inf)
    assert LeftOpen(num_unconfirmed=1, num_unfinished=1).ends(1.0, 1.5, least=0.0, most=1.25) == (0.0, 1.5)


@pytest.mark.few(2)
@pytest.mark.parametrize("e", [1e-17, 1e-15, 1e-14])
def test_violations_are_those_of_verify_where_floats_are_undecided(e):
    net = rs.load(hidden_kink(e))
    safe = Property([Case([-1.0], [1.0], [at_least(3.25)])])
    truth = line.length_below(line.pieces_of(hidden_kink(e), -1, 1), [[-1.0]], [-3.25])
    assert rs.verify(net, safe).verdict == "VIOLATED"
    for found in (
        rs.violations(net, safe),
        rs.preimages.of(net, at_least(3.25), domain=rs.Box(-1, 1, 1), method="boxes"),
    ):
        assert held(found.volume(), truth)
        assert float(found.volume().value) == pytest.approx(0.125)  # by fractions


def test_where_fractions_take_too_long_boxes_are_halved_and_stay_open(monkeypatch):
    monkeypatch.setattr("reluscope.analyses.verification.unsafe_regions.MOST_MULTIPLICATIONS", 0)
    net, safe = rs.load(hidden_kink(1e-15)), Property([Case([-1.0], [1.0], [at_least(3.25)])])
    assert held(rs.violations(net, safe).volume(), Fraction(1, 8))
    monkeypatch.setattr("reluscope.analyses.verification.violation_search.LEAST_UNDECIDED", 1.0)
    found = rs.violations(net, safe)
    assert len(found.open_boxes)
    assert found.claim is not Claim.EXACT
    assert held(found.volume(), Fraction(1, 8))


@pytest.mark.slow
def test_slivers_are_added_up():
    number, half = 100, 1.5e-9
    centers = (np.arange(number) + 0.5) / number
    layers = [
        (np.ones((3 * number, 1)), np.concatenate([[-(x - half), -x, -(x + half)] for x in centers])),
        (np.tile([1 / half, -2 / half, 1 / half], number)[None], np.zeros(1)),
    ]
    net, target = rs.load(layers), at_least(0.4)
    truth = line.length_below(line.pieces_of(layers, 0, 1), target.A, target.b)
    assert 1.7e-7 < truth < 1.9e-7
    box = rs.Box(0, 1, 1)
    for found in (rs.preimages.of(net, target, domain=box, method="boxes"), rs.preimages.of(net, target, domain=box)):
        assert held(found.volume(), truth)


@pytest.mark.parametrize("side", [1e-8, 2e-9, 1e-12, 1e-30])
def test_thin_boxes_are_measured_by_each_of_their_sides(side):
    net = rs.load([(np.eye(2), np.ones(2)), (np.array([[1.0, 0.0]]), np.array([-1.0]))])  # the first input
    safe = Property([Case([0.0, 0.0], [1.0, side], [at_least(0.5)])])
    assert held(rs.violations(net, safe).share(), Fraction(1, 2))
    assert rs.violations(net, safe).share().claim is Claim.EXACT
    found = rs.preimages.of(net, at_least(0.5), domain=rs.Box([0.0, 0.0], [1.0, side]))
    assert held(found.volume(), Fraction(side) / 2)


@pytest.mark.parametrize("offset", [1e6, 1e8, 1e11, 1e12, 1e13])
def test_boxes_far_from_the_origin(offset):
    layers = [(np.eye(1), np.zeros(1)), (np.eye(1), np.zeros(1))]
    net, low, high, target = rs.load(layers), offset, offset + 0.9, at_least(offset + 0.45)
    truth = line.length_below(line.pieces_of(layers, low, high), target.A, target.b)
    box = rs.Box(low, high, 1)
    assert held(rs.violations(net, Property([Case([low], [high], [target])])).volume(), truth)
    assert held(rs.preimages.of(net, target, domain=box).volume(), truth)
    assert held(rs.image(net, box).maximum([1.0]), Fraction(high))


@pytest.mark.parametrize("offset", [1e6, 1e8, 1e9])
def test_half_of_a_square_far_from_the_origin(offset):
    net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    target, box = at_least(2 * offset + 1), rs.Box(offset, offset + 1, 2)
    safe = Property([Case([offset] * 2, [offset + 1] * 2, [target])])
    assert held(rs.violations(net, safe).volume(), Fraction(1, 2))
    assert held(rs.preimages.of(net, target, domain=box).volume(), Fraction(1, 2))


@pytest.mark.few(1)
@pytest.mark.parametrize("half", [1e-7, 1e-8, 1e-9, 1e-10])
def test_corners_of_steep_images_are_rounded(half):
    layers = tent(1 / 3, half)
    net, truth = rs.load(layers), line.largest(line.pieces_of(layers, -1, 1), [1.0])
    found = rs.image(net, rs.Box(-1, 1, 1))
    assert held(found.maximum([1.0]), truth)
    assert held(found.volume(), truth)  # from 0
    loop = rs.reach(net, rs.reachability.Plant([[0.0]], [[1.0]]), rs.Box(-1, 1, 1), 1)
    for end in (found.maximum([1.0]).value + 3e-9, float(truth) * (1 + 1e-3), float(truth) * (1 - 1e-3)):
        assert loop.within(rs.Polyhedron([[1.0]], [end]))[1] in (None, truth <= Fraction(end))


@pytest.mark.few(2)
@pytest.mark.parametrize("miss", [0.0, 1e-15, 2.5e-14, 1e-12, 1e-10, -2.5e-14])
def test_constant_outputs_lie_in_a_target_or_not(miss):
    net = rs.load([(np.eye(2), np.zeros(2)), (np.zeros((2, 2)), np.array([2.0, -2.0]))])
    box, target = rs.Box(0, 1, 2), rs.Polyhedron([[1.0, 0.0]], [2.0 - miss])
    truth = 1 if Fraction(2.0 - miss) >= 2 else 0
    safe = Property([Case([0.0, 0.0], [1.0, 1.0], [target])])
    found = [
        rs.preimages.of(net, target, domain=box),
        rs.preimages.of(net, target, domain=box, method="boxes"),
        rs.preimages.of(net, target, domain=box, method="approximate"),
        rs.violations(net, safe),
    ]
    assert all(held(one.volume(), truth) for one in found)
    assert (rs.verify(net, safe).verdict == "VIOLATED") <= truth


@pytest.mark.parametrize("miss", [5e-10, 1e-13, 2.0**-52])
def test_targets_that_constant_parts_miss(miss):
    net, box = rs.load([(np.eye(1), np.zeros(1)), (np.eye(1), np.array([miss]))]), rs.Box(-1, 1, 1)  # relu(x) + miss
    below = rs.Polyhedron([[1.0]], [0.0])
    for found in (
        rs.preimages.of(net, below, domain=box),
        rs.preimages.of(net, below, domain=box, method="boxes"),
        rs.preimages.of(net, [0.0], domain=box),
        rs.preimages.of(net, below, domain=box, budget=rs.Budget(regions=20), method="approximate"),
    ):
        assert held(found.volume(), 0)
    ahead = rs.load([(np.eye(1), np.zeros(1)), (np.array([[1.0], [0.0]]), np.array([miss, 0.0]))])
    assert held(rs.preimages.of(ahead, 1, domain=box).volume(), 0)
    assert held(rs.preimages.of(ahead, 0, domain=box).volume(), 2)


@st.composite
def lines(draw):
    """Layers of one input and one output, with entries of a few digits and scales that are far apart, and a domain."""
    small = st.integers(-6, 6)
    scale = st.sampled_from([1.0, 1.0, 1.0, 2.0**-20, 3e-7, 1e5])
    widths = [1, draw(st.integers(1, 4)), *draw(st.lists(st.integers(1, 3), max_size=1)), 1]
    layers = []
    for before, after in itertools.pairwise(widths):
        weight = [[draw(small) / 4 * draw(scale) for _ in range(before)] for _ in range(after)]
        layers.append((np.array(weight), np.array([draw(small) / 3 * draw(scale) for _ in range(after)])))
    width, start = draw(st.sampled_from([1.0, 2.0**-26, 1e4, 1e-9])), draw(st.sampled_from([0.0, 0.0, -0.5, 1.0, 1e6]))
    return layers, start, start + width


@settings(max_examples=40)
@given(lines(), st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.sampled_from([0.0, 0.0, 1e-12, -1e-9]))
def test_functions_agree_with_fractions_and_with_each_other(case, share, shift):
    layers, low, high = case
    assume(low < high)
    net, box, truth = rs.load(layers), rs.Box(low, high, 1), line.pieces_of(layers, low, high)
    least, most = -line.largest(truth, [-1.0]), line.largest(truth, [1.0])
    level = float(least + (most - least) * Fraction(share)) + shift
    target = at_least(level)
    safe = Property([Case([low], [high], [target])])
    length = line.length_below(truth, target.A, target.b)
    found = rs.violations(net, safe)
    assert held(found.volume(), length)
    assert held(found.share(), length / (Fraction(high) - Fraction(low)))
    assert held(rs.preimages.of(net, target, domain=box, method="boxes").volume(), length)
    assert held(rs.preimages.of(net, target, domain=box).volume(), length)
    maximum = rs.image(net, box).maximum([1.0])
    assert held(maximum, most)
    assert held(rs.image(net, box).volume(), most - least)
    verdict = rs.verify(net, safe).verdict
    assert (verdict == "HOLDS") <= (most < Fraction(level))
    assert (verdict == "VIOLATED") <= (most >= Fraction(level))
    classes = [rs.preimages.of(net, label, domain=box).volume() for label in (0, 1)]
    for label, one in enumerate(classes):
        assert held(one, line.length_below(truth, [[1.0 - 2.0 * label]], [0.0]))
