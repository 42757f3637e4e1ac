"""Codes in rational arithmetic: published values, exact polygons, elimination over all codes, other methods."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import nn

import reluscope as rs
from oracles.fractions_plane import rectangle
from oracles.six_definitions import six_counts
from reluscope.analyses.counting.by_rational_tree import count_by_rational_tree
from reluscope.analyses.counting.by_tree import count_by_tree
from reluscope.analyses.counting.rational_codes import RationalCodes
from reluscope.budget import Budget
from reluscope.effort import Effort
from reluscope.errors import DegenerateGeometryError, InputError
from reluscope.findings import Claim
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.partitions.driver.walk import walk
from reluscope.stopping import words_of
from reluscope.testing import degenerate_networks, generic_networks, pseudo_random_network, reference_networks
from reluscope_studies.bounds import serra_upper

ABSOLUTE = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]


def exactly(network, domain):
    found, stopped = count_by_rational_tree(rs.load(network) if isinstance(network, list) else network, domain)
    assert (found.claim, found.num_undecided, words_of(stopped)) == (Claim.EXACT, 0, "")
    assert found.interval is None
    return int(found)


def has_point(rows, dim):
    """Eliminate coordinates one by one (Fourier and Motzkin) from rows of coefficients, constant and strictness."""
    for axis in range(dim):
        above = [row for row in rows if row[0][axis] > 0]
        below = [row for row in rows if row[0][axis] < 0]
        rows = [row for row in rows if row[0][axis] == 0]
        for (a, s), (b, t) in itertools.product(above, below):
            joined = tuple(-b[axis] * one + a[axis] * other for one, other in zip(a, b, strict=True))
            rows.append((joined, s or t))
        rows = list(dict.fromkeys(rows))
    return all(row[-1] > 0 or (row[-1] == 0 and not strict) for row, strict in rows)


def codes_by_elimination(parameters, half):
    """Ask for each code of a ReLU network of whole weights whether a point of a box has it."""
    dim, codes = np.asarray(parameters[0][0]).shape[1], 0
    box = [
        ((*(side * int(axis == other) for other in range(dim)), half), False) for axis in range(dim) for side in (1, -1)
    ]
    for code in itertools.product((0, 1), repeat=sum(len(bias) for _, bias in parameters[:-1])):
        rows, left = list(box), list(code)
        values = [[int(axis == other) for other in range(dim)] + [0] for axis in range(dim)]
        for weight, bias in parameters[:-1]:
            seen = []
            for row, constant in zip(np.asarray(weight).tolist(), np.asarray(bias).tolist(), strict=True):
                form = [
                    sum(Fraction(w) * value[k] for w, value in zip(row, values, strict=True)) for k in range(dim + 1)
                ]
                form[-1] += Fraction(constant)
                on = left.pop(0)
                rows.append((tuple(form) if on else tuple(-entry for entry in form), bool(on)))
                seen.append(form if on else [0] * (dim + 1))
            values = seen
        codes += has_point(rows, dim)
    return codes


@st.composite
def whole_networks(draw):
    """Three inputs, up to three units, up to two more; small whole weights, so that much is degenerate."""
    layers, width = [], 3
    for most in (3, 2, 1):
        row = st.lists(st.integers(-2, 2), min_size=width + 1, max_size=width + 1)
        rows = draw(st.lists(row, min_size=1, max_size=most))
        layers.append((np.array(rows, dtype=float)[:, :-1], np.array(rows, dtype=float)[:, -1]))
        width = len(rows)
    return layers


@pytest.mark.parametrize("method", ["auto", "tree"])
def test_units_nearer_to_each_other_than_a_solver_sees(method):
    rows = np.array([[1.0, 0, 0], [1, 0, 0]])
    net = rs.load([(rows, np.array([0.0, -1e-7])), (np.ones((1, 2)), np.zeros(1))])
    found = rs.count(net, rs.Box(-1, 1, 3), definition="activation", method=method)
    assert (int(found), found.claim, found.tolerance) == (3, Claim.EXACT, 0.0)


@pytest.mark.parametrize(
    "reference", [one for one in reference_networks() if "activation" in one.counts], ids=lambda one: one.name
)
def test_published_counts(reference):
    box = rs.Box(max(reference.lo, -8), min(reference.hi, 8), reference.num_inputs)
    assert exactly(reference.parameters, box) == reference.counts["activation"]


@pytest.mark.parametrize(
    ("num_inputs", "widths", "number"), [(1, [3, 3], 6), (2, [4], 6), (2, [3, 3], 10), (3, [3, 3], 12)]
)
def test_pseudo_random_networks_in_the_unit_box(num_inputs, widths, number):
    assert exactly(pseudo_random_network(num_inputs, widths), rs.Box(-1, 1, num_inputs)) == number


@settings(max_examples=25)
@example(parameters=[(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))], half=1)
@given(parameters=degenerate_networks(2, 2, 4), half=st.integers(1, 3))
def test_planes_are_counted_as_by_exact_polygons(parameters, half):
    assert exactly(parameters, rs.Box(-half, half, 2)) == six_counts(parameters, rectangle(-half, half))["activation"]


@settings(max_examples=25)
@given(parameters=degenerate_networks(1, 2, 5), half=st.integers(1, 3))
def test_lines_are_counted_as_by_exact_intervals(parameters, half):
    assert exactly(parameters, rs.Box(-half, half, 1)) == six_counts(parameters, (-half, half))["activation"]


@settings(max_examples=25)
@example(parameters=[(np.eye(3), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
@example(parameters=[(np.ones((3, 3)), np.array([-3.0, 3, 0])), (np.ones((1, 3)), np.zeros(1))])
@given(parameters=whole_networks())
def test_thin_regions_in_space_are_counted_as_by_elimination(parameters):
    assert exactly(parameters, rs.Box(-1, 1, 3)) == codes_by_elimination(parameters, 1)


@settings(max_examples=10)
@given(parameters=generic_networks(st.integers(3, 4), 2, 4))
def test_generic_networks_are_counted_as_by_the_tree_and_never_above_bounds(parameters):
    net = rs.load(parameters)
    for domain in (rs.Box(-1, 1, net.num_inputs), rs.Space(net.num_inputs)):
        number = exactly(net, domain)
        assert number == int(count_by_tree(net, domain).finding)
        assert number <= int(serra_upper(net))


class Maxout(nn.Module):
    def __init__(self, num_inputs, width, rank):
        super().__init__()
        self.linear, self.rank = nn.Linear(num_inputs, width * rank), rank

    def forward(self, x):
        return self.linear(x).reshape(len(x), -1, self.rank).amax(dim=-1)


MODELS = {
    "leaky": lambda: nn.Sequential(nn.Linear(2, 4), nn.LeakyReLU(0.25), nn.Linear(4, 3), nn.PReLU(3), nn.Linear(3, 1)),
    "clamps": lambda: nn.Sequential(
        nn.Linear(2, 3), nn.Hardtanh(-0.25, 0.5), nn.Linear(3, 3), nn.ReLU6(), nn.Linear(3, 1)
    ),
    "pool": lambda: nn.Sequential(
        nn.Linear(2, 5), nn.ReLU(), nn.Unflatten(1, (1, 5)), nn.MaxPool1d(3, 2, 1), nn.Flatten(), nn.Linear(3, 1)
    ),
    "maxout": lambda: nn.Sequential(Maxout(2, 2, 3), Maxout(2, 2, 2), nn.Linear(2, 1)),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("is_rounded", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_all_gates_are_counted_as_by_the_partition(name, is_rounded):
    torch.manual_seed(1)
    model = MODELS[name]().double()
    if is_rounded:
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.copy_((4 * parameter).round() / 4)
    net, box = rs.load(model, input_shape=(2,)), rs.Box(-1, 1, 2)
    assert exactly(net, box) == int(rs.count(net, box, definition="activation"))


@pytest.mark.parametrize("name", MODELS)
def test_every_code_is_that_of_its_point(name):
    torch.manual_seed(2)
    net = rs.load(MODELS[name]().double(), input_shape=(2,))
    exact, seen = RationalNetwork(net), set()
    codes = RationalCodes(net, rs.Box(-1, 1, 2))
    for (node,) in walk([codes.first], codes.step, finish=lambda node: [node], effort=Effort()).parts:
        assert [list(pieces) for pieces in node.before] == exact.pieces(node.cell.point)
        assert all(-1 <= entry <= 1 for entry in node.cell.point)
        seen.add(node.before)
    points = 2 * torch.rand(300, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) - 1
    sampled = {tuple(map(tuple, exact.pieces([Fraction(x) for x in point]))) for point in points.tolist()}
    assert sampled <= seen


def test_polyhedra_are_their_inequalities():
    net = rs.load([(np.array([[-0.25, -2.0]]), np.array([-2.0])), (np.ones((1, 1)), np.zeros(1))])
    sliver = rs.Polyhedron([[0, 1], [-1, -1], [1, 0]], [3, 1, 0])  # the unit touches it in a corner
    assert exactly(net, sliver) == int(rs.count(net, sliver, definition="activation")) == 1
    net = rs.load([(np.array([[1.0, 2.0, -1.0]]), np.array([0.1])), (np.ones((1, 1)), np.zeros(1))])
    tetrahedron = rs.Polyhedron([[0, -1, 0], [0, 0, -2], [2, 1, 0], [-2, 0, 1]], [0, 1, 0, 2])
    assert exactly(net, tetrahedron) == 2
    thirds = rs.Polyhedron([[3.0, 0], [-3, 0], [0, 1], [0, -1]], [1.0, 1, 1, 1])
    edge = rs.load([(np.array([[3.0, 0.0]]), np.array([-1.0])), (np.ones((1, 1)), np.zeros(1))])
    assert exactly(edge, thirds) == 1
    half_space = rs.Polyhedron([[1.0, 1.0]], [0.0])
    assert exactly(ABSOLUTE_SUM, half_space) == int(
        rs.count(rs.load(ABSOLUTE_SUM), half_space, definition="activation")
    )


ABSOLUTE_SUM = [([[1.0, 1.0], [-1.0, -1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]


def test_slices_are_lifted_exactly():
    net = rs.load(pseudo_random_network(3, [4, 3]))
    window = rs.Polyhedron([[1.0, 1], [-1, 0], [0, -1]], [2.0, 2, 2])
    plane = rs.Slice([0.1, 0.2, -0.3], [[1, 0, 0.5], [0, 1, -1]], window)
    assert exactly(net, plane) == int(rs.count(net, plane))
    # The sum of 0.1 and 0.2 is not 0.3, and a tie in the restricted network is none in truth.
    unit = rs.load([(np.array([[1.0, 1.0, -1.0]]), np.zeros(1)), (np.ones((1, 1)), np.zeros(1))])
    diagonal = rs.Slice([0.0, 0.0, 0.0], [[0.1, 0.2, 0.3]], rs.Box(0, 1, 1))
    truth = 1 + (Fraction(0.1) + Fraction(0.2) > Fraction(0.3))
    assert exactly(unit, diagonal) == truth


def test_regions_that_only_touch_the_domain_count():
    edge = [([[1.0, 1.0]], [-2.0]), ([[1.0]], [0.0])]
    assert exactly(edge, rs.Box(-1, 1, 2)) == 1  # x + y > 2 nowhere
    opposite = [([[-1.0, -1.0]], [2.0]), ([[1.0]], [0.0])]
    assert exactly(opposite, rs.Box(-1, 1, 2)) == 2  # 2 - x - y > 0 but in one corner


@pytest.mark.parametrize("exponent", [-1000, -12, 12, 900])
def test_units_of_any_scale(exponent):
    (first, bias), *others = pseudo_random_network(2, [4, 3])
    scaled = [(first * 2.0**exponent, bias * 2.0**exponent), *others]
    scaled[1] = (others[0][0] * 2.0**-exponent, others[0][1])
    assert exactly(scaled, rs.Box(-1, 1, 2)) == exactly([(first, bias), *others], rs.Box(-1, 1, 2))


def test_breakpoints_that_no_float_tells_apart():
    """0.1 is more than 1 / 10 in floats: between the two kinks both units are active."""
    parameters = [(np.array([[10.0], [-1.0]]), np.array([-1.0, 0.1])), (np.ones((1, 2)), np.zeros(1))]
    assert exactly(parameters, rs.Box(-1, 1, 1)) == six_counts(parameters, (-1, 1))["activation"] == 3


@pytest.mark.parametrize(
    ("budget", "most", "reason"),
    [
        (Budget(regions=0), 1, "budget of 0 regions"),
        (Budget(regions=5), 5, "budget of 5 regions"),
        (Budget(seconds=0.0), 1, "budget of 0 s"),
    ],
)
def test_budgets(budget, most, reason):
    net = rs.load(pseudo_random_network(2, [3, 3]))
    found, stopped = count_by_rational_tree(net, rs.Box(-1, 1, 2), Effort(budget))
    assert (int(found), found.claim, found.interval) == (most, Claim.LOWER, (most, float("inf")))
    assert words_of(stopped) == reason


@pytest.mark.parametrize("after", [0, 12])
def test_an_interruption_keeps_what_was_found(monkeypatch, after):
    calls, children = itertools.count(), RationalCodes._children

    def interrupted(self, node):
        if next(calls) == after:
            raise KeyboardInterrupt
        return children(self, node)

    monkeypatch.setattr(RationalCodes, "_children", interrupted)
    found, stopped = count_by_rational_tree(rs.load(pseudo_random_network(2, [3, 3])), rs.Box(-1, 1, 2))
    assert 1 <= int(found) < 10
    assert (found.interval, found.claim, words_of(stopped)) == ((int(found), np.inf), Claim.LOWER, "interrupted")


def test_what_cannot_be_asked():
    net = rs.load(pseudo_random_network(2, [3]))
    for flat in (([1.0, -1.0], None, None), ([1.0, -2.0], None, None), ([1.0, 1.0], [[1.0, 1.0]], [0.0])):
        rows = rs.Polyhedron([[1.0, 0], [-1, 0], [0, 1], [0, -1]], [*flat[0], 1.0, 1.0], flat[1], flat[2])
        with pytest.raises(DegenerateGeometryError, match="must have an interior"):
            count_by_rational_tree(net, rows)
    with pytest.raises(InputError, match="takes no checkpoint"):
        rs.count(net, rs.Box(-1, 1, 2), definition="activation", method="tree", checkpoint="there")
