"""Laws that tie functions to each other: of one property, of one point, and of changes that change no answer."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import reluscope as rs
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.testing import dyadics, networks

NORMS = ("l1", "l2", "linf")
# Of numbers in two tables, relative to what is asked about.
SLACK = 1e-9
SQUARE = rs.Box(-2, 2, 2)
AROUND = np.stack(np.meshgrid(*[np.linspace(-2, 2, 41)] * 2), axis=-1).reshape(-1, 2)
LEVELS = st.one_of(dyadics(4.0), st.floats(-3, 3))
POINTS = st.lists(st.floats(-1.9, 1.9), min_size=2, max_size=2).map(np.array)


def ends(finding):
    """Return between which numbers the truth lies, by the claim of a finding."""
    low, high = finding.interval or (-inf, inf)
    value = float(finding.value)
    error = finding.tolerance or 0.0
    if finding.claim == "EXACT":
        return value - error, value + error
    return (max(low, value) if finding.claim == "LOWER" else low), (
        min(high, value) if finding.claim == "UPPER" else high
    )


def meet(first, second, scale=1.0):
    """Tell whether one truth can lie between the ends of two findings."""
    (low, high), (least, most) = ends(first), ends(second)
    return low <= most + SLACK * scale and least <= high + SLACK * scale


# -- one property, four functions ------------------------------------------------------------------------------------


def below(level, box=SQUARE):
    """Return the property that the first output stays below a level, and its unsafe outputs."""
    unsafe = rs.Polyhedron([[-1.0, 0.0]], [-level])
    return rs.verification.Property([rs.verification.Case(box.lo, box.hi, [unsafe])]), unsafe


@settings(max_examples=30)
@given(networks(2, max_layers=2, max_width=4, num_outputs=2), LEVELS)
def test_verdicts_volumes_and_maxima_of_a_property_agree(parameters, level):
    net = from_arrays(parameters)
    safe, unsafe = below(level)
    budget = rs.Budget(regions=300)
    verdicts = {str(rs.verify(net, safe, budget=budget, certify=certify).verdict) for certify in (False, True)}
    assert not {"HOLDS", "VIOLATED"} <= verdicts
    volumes = [
        rs.violations(net, safe).volume(),
        rs.preimages.of(net, unsafe, domain=SQUARE, method="boxes").volume(),
        rs.preimages.of(net, unsafe, domain=SQUARE).volume(),
    ]
    assert all(meet(one, other, SQUARE.volume()) for one in volumes for other in volumes), volumes
    highest = rs.image(net, SQUARE).maximum([1.0, 0.0])
    low, high = ends(highest)
    if "HOLDS" in verdicts:
        assert low <= level + SLACK * abs(level)
        assert all(ends(volume)[0] <= SLACK * SQUARE.volume() for volume in volumes)
    if "VIOLATED" in verdicts:
        assert high >= level - SLACK * abs(level)
    if low > level + SLACK:
        assert "HOLDS" not in verdicts


# -- one point, four functions ---------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(networks(2, max_layers=2, max_width=4, num_outputs=2), POINTS, st.sampled_from(NORMS))
@example(
    [
        (np.array([[0.19369308, -0.32557075]]), np.array([-0.64916147])),
        (np.array([[-0.96694473], [0.62654048]]), np.array([0.82551115, 0.21327155])),
    ],
    np.array([0.0, 2.2250738585e-313]),
    "l1",
)
def test_distances_radii_and_adversarial_examples_of_a_point_agree(parameters, point, norm):
    net = from_arrays(parameters)
    x = point[None]
    within = rs.robustness.decision_distance(net, x, norm=norm, domain=SQUARE).finding("decision_distance", 0)
    anywhere = rs.robustness.decision_distance(net, x, norm=norm).finding("decision_distance", 0)
    radius = rs.robustness.certified_radius(net, x, norm=norm).finding("decision_distance", 0)
    assert ends(radius)[0] <= ends(anywhere)[1] + SLACK
    assert ends(anywhere)[0] <= ends(within)[1] + SLACK
    own = rs.robustness.decision_distance_within(net, x, norm=norm, domain=SQUARE).finding(
        "decision_distance_within", 0
    )
    # Outputs that tie and do not cross are a distance within the region, and no change of class.
    assert ends(within)[0] <= ends(own)[1] + SLACK or (class_of(net, AROUND) == class_of(net, x)).all()
    if norm != "l1":
        label = np.atleast_1d(class_of(net, x))
        found = rs.local.pgd(net, x, label, radius=1.0, norm=norm)
        if class_of(net, found) != label:
            moved = np.linalg.norm(found - x, ord=2 if norm == "l2" else inf)
            assert ends(anywhere)[0] <= moved + SLACK


def class_of(net, x):
    return net.scores(x).numpy().argmax(1)


@settings(max_examples=25)
@given(networks(2, max_layers=2, max_width=4, num_outputs=2), POINTS)
def test_the_boundary_of_the_plane_is_no_nearer_than_the_distance(parameters, point):
    net = from_arrays(parameters)
    distance = rs.robustness.decision_distance(net, point[None], norm="l2", domain=SQUARE).finding(
        "decision_distance", 0
    )
    boundary = rs.decision_boundary(rs.partition(net, SQUARE))
    # Segments on which classes only touch are farther or nearer, as it falls out: a change of class beside them counts.
    nearest = min((to_segment(point, *piece) for piece in boundary.ends), default=inf)
    if distance.claim == "EXACT" and not np.isfinite(distance.value):
        assert all(not is_crossing(net, piece) for piece in boundary.ends)
    else:
        assert nearest <= ends(distance)[1] + 1e-8


def to_segment(point, start, stop):
    way = stop - start
    share = np.clip(((point - start) @ way) / max(way @ way, 1e-300), 0, 1)
    return float(np.linalg.norm(start + share * way - point))


def is_crossing(net, piece):
    """Tell whether the class differs on the two sides of the middle of a segment."""
    start, stop = piece
    across = np.array([start[1] - stop[1], stop[0] - start[0]])
    sides = (start + stop) / 2 + 1e-6 * across[None] / max(np.linalg.norm(across), 1e-300) * [[1.0], [-1.0]]
    first, second = class_of(net, sides)
    return first != second


# -- changes that change no answer -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """A change of inputs ``x -> (factor x + shift)[order]``: the network and all that is asked of it go along."""

    factor: float = 1.0
    shift: tuple[float, float] = (0.0, 0.0)
    order: tuple[int, int] = (0, 1)

    def point(self, x):
        return (self.factor * x + self.shift)[list(self.order)]

    def box(self, box):
        low, high = self.point(box.lo), self.point(box.hi)
        return rs.Box(low, high)

    def network(self, parameters):
        """Return the network that gives at a changed point what the given one gives at the point."""
        (weight, bias), *others = parameters
        scaled = weight / self.factor
        return from_arrays([(scaled[:, list(self.order)], bias - scaled @ np.array(self.shift)), *others])


CHANGES = {
    "the same": Change(),
    "moved": Change(shift=(4.0, -2.5)),
    "moved far": Change(shift=(2.0**20, -(2.0**18))),
    "tiny": Change(factor=2.0**-26),
    "huge": Change(factor=2.0**36),
    "other order": Change(order=(1, 0)),
    "all of it": Change(factor=2.0**10, shift=(2.0**14, 0.0), order=(1, 0)),
}


def distance(name, norm):
    def ask(net, box, x):
        return getattr(rs.robustness, name)(net, x[None], norm=norm, domain=box).finding(name, 0)

    return ask


# What is asked, and the power of a length that its number has.
NUMBERS: dict[str, tuple[Callable, int]] = {
    "regions": (lambda net, box, x: rs.partition(net, box).finding(), 0),
    "volume of a property": (lambda net, box, x: rs.violations(net, below(0.25, box)[0]).volume(), 2),
    "share of a property": (lambda net, box, x: rs.violations(net, below(0.25, box)[0]).share(), 0),
    "volume of a class": (lambda net, box, x: rs.preimages.of(net, 0, domain=box).volume(), 2),
    "largest output": (lambda net, box, x: rs.image(net, box).maximum([1.0, -1.0]), 0),
    "pieces": (lambda net, box, x: rs.compression.merge_regions(rs.partition(net, box)).num_pieces, 0),
    "components": (lambda net, box, x: betti(net, box, 0), 0),
    "tunnels": (lambda net, box, x: betti(net, box, 1), 0),
    "decision boundary": (lambda net, box, x: rs.decision_boundary(rs.partition(net, box)).finding(), 1),
    **{f"decision distance in {norm}": (distance("decision_distance", norm), 1) for norm in NORMS},
    **{f"boundary distance in {norm}": (distance("boundary_distance", norm), 1) for norm in NORMS},
}


def betti(net, box, dimension):
    return rs.topology.betti(rs.partition(net, box), of="superlevel", level=0.25).finding("betti_number", dimension)


@pytest.mark.few(2)
@pytest.mark.parametrize("what", NUMBERS)
@settings(max_examples=20)
@given(networks(2, max_layers=2, max_width=4, num_outputs=2), st.sampled_from(list(CHANGES)), POINTS)
def test_units_place_and_order_of_inputs_change_no_answer(what, parameters, name, point):
    ask, power = NUMBERS[what]
    change = CHANGES[name]
    point = np.round(point * 256) / 256  # moved without rounding
    ours = ask(from_arrays(parameters), SQUARE, point)
    theirs = ask(change.network(parameters), change.box(SQUARE), change.point(point))
    unit = change.factor**power
    low, high = ends(ours)
    least, most = (end / unit for end in ends(theirs))
    scale = SLACK * max(1.0, abs(ours.value) if np.isfinite(ours.value) else 1.0)
    scale *= 1.0 + np.abs(change.shift).max() / change.factor * 2.0**-10  # coordinates far away have fewer digits
    assert low <= most + scale, (ours, theirs)
    assert least <= high + scale, (ours, theirs)
    assert isinstance(ours.value, int) <= (ours.claim != theirs.claim or ours.value == theirs.value)


@pytest.mark.few(1)
@pytest.mark.parametrize("norm", NORMS)
@settings(max_examples=20)
@given(networks(2, max_layers=2, max_width=4, num_outputs=2), POINTS, st.sampled_from([2.0**4, 2.0**17, 2.0**33]))
def test_a_larger_domain_changes_no_distance_inside_the_smaller_one(norm, parameters, point, size):
    net = from_arrays(parameters)
    small, large = (
        rs.robustness.decision_distance(net, point[None], norm=norm, domain=rs.Box(-side, side, 2)).finding(
            "decision_distance", 0
        )
        for side in (8.0, size)
    )
    reach = 8.0 - np.abs(point).max()
    if ends(small)[1] < reach and size > 8.0:
        assert meet(small, large), (small, large)
    assert ends(large)[0] <= ends(small)[1] + SLACK


# -- certificates ----------------------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(networks(2, max_layers=3, max_width=4))
def test_certified_counts_are_the_exact_ones(parameters):
    net = from_arrays(parameters)
    plain = rs.partition(net, SQUARE)
    certified = rs.certify(plain)
    assert certified.claim == "EXACT"
    assert plain.claim != "EXACT" or len(plain) == len(certified)
    assert meet(plain.finding(), certified.finding())


@pytest.mark.parametrize("definition", ["activation", "open_connected", "closed_connected", "affine"])
@settings(max_examples=10)
@given(networks(2, max_layers=2, max_width=4))
def test_certified_counts_of_all_definitions_are_the_exact_ones(definition, parameters):
    net = from_arrays(parameters)
    plain, certified = (rs.count(net, SQUARE, definition=definition, certify=certify) for certify in (False, True))
    assert meet(plain, certified), (plain, certified)
