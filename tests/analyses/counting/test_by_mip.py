"""Counts by mixed-integer programs: published values, exact polygons, brute force over all codes, other methods."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from torch import nn

import reluscope as rs
from fuzzer.fuzz_runs import run_case
from oracles.fractions_plane import rectangle
from oracles.six_definitions import six_counts
from reluscope.analyses.counting.by_mip import count_by_mip
from reluscope.analyses.counting.by_tree import count_by_tree
from reluscope.analyses.counting.code_points import CodePoints
from reluscope.analyses.counting.code_search import CodeSearch
from reluscope.budget import Budget
from reluscope.effort import Effort
from reluscope.errors import DegenerateGeometryError, InputError, ShapeError, SolverError
from reluscope.findings import Claim
from reluscope.stopping import words_of
from reluscope.testing import degenerate_networks, generic_networks, pseudo_random_network, reference_networks
from reluscope_studies.bounds import activation_upper, serra_upper

ABSOLUTE = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]


def exactly(network, domain):
    """Return the count, every code of which is to have a point; that there is no other is the solver's word alone."""
    low, high = nearly(network, domain)
    assert low == high
    return low


def nearly(network, domain):
    """Return the codes that have a point, and these with those of which it stayed open."""
    found, stopped = count_by_mip(rs.load(network) if isinstance(network, list) else network, domain)
    assert (found.claim, words_of(stopped)) == (Claim.LOWER, "")
    assert found.interval == (int(found), np.inf)
    assert found.method.endswith("until the solver found no more")
    return int(found), int(found) + found.num_undecided


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


@settings(max_examples=15)
@example(parameters=[(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))], half=1)
@given(parameters=degenerate_networks(2, 2, 4), half=st.integers(1, 3))
def test_planes_are_counted_as_by_exact_polygons(parameters, half):
    low, high = nearly(parameters, rs.Box(-half, half, 2))
    assert low <= six_counts(parameters, rectangle(-half, half))["activation"] <= high


@settings(max_examples=15)
@given(parameters=degenerate_networks(1, 2, 5), half=st.integers(1, 3))
def test_lines_are_counted_as_by_exact_intervals(parameters, half):
    low, high = nearly(parameters, rs.Box(-half, half, 1))
    assert low <= six_counts(parameters, (-half, half))["activation"] <= high


@settings(max_examples=8)
@given(parameters=generic_networks(st.integers(2, 4), 2, 4))
def test_generic_networks_are_counted_as_by_the_tree_and_never_above_bounds(parameters):
    net = rs.load(parameters)
    box = rs.Box(-1, 1, net.num_inputs)
    number = exactly(net, box)
    assert number == int(count_by_tree(net, box).finding)
    assert number <= int(serra_upper(net))
    assert number <= int(activation_upper(net, box))


class Maxout(nn.Module):
    def __init__(self, num_inputs, width, rank):
        super().__init__()
        self.linear, self.rank = nn.Linear(num_inputs, width * rank), rank

    def forward(self, x):
        return self.linear(x).reshape(len(x), -1, self.rank).amax(dim=-1)


def maxout_codes(weight, bias, rank):
    """Count the codes of a layer on [-1, 1]^n, one linear program for each that could be."""
    weight, bias = weight.reshape(-1, rank, weight.shape[1]), bias.reshape(-1, rank)
    number = 0
    for code in itertools.product(range(rank), repeat=len(weight)):
        rows, sides = [], []
        for unit, chosen in enumerate(code):
            for other in set(range(rank)) - {chosen}:
                rows.append([*(weight[unit, other] - weight[unit, chosen]), 1.0 if other < chosen else 0.0])
                sides.append(bias[unit, chosen] - bias[unit, other])
        bounds = [(-1, 1)] * weight.shape[2] + [(None, 1)]
        answer = linprog([*np.zeros(weight.shape[2]), -1.0], A_ub=rows, b_ub=sides, bounds=bounds)
        number += answer.status == 0 and answer.x[-1] > 1e-7
    return number


@pytest.mark.few(1)
@pytest.mark.parametrize("is_rounded", [False, True])
def test_maxout_is_counted_as_by_brute_force(is_rounded):
    torch.manual_seed(3)
    model = nn.Sequential(Maxout(2, 3, 3), nn.Linear(3, 1)).double()
    layer = model[0].linear
    if is_rounded:  # several candidates are largest on common lines
        with torch.no_grad():
            layer.weight.copy_((2 * layer.weight).round() / 2)
            layer.bias.zero_()
    number = maxout_codes(layer.weight.detach().numpy(), layer.bias.detach().numpy(), 3)
    assert exactly(rs.load(model, input_shape=(2,)), rs.Box(-1, 1, 2)) == number


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_slices_and_polyhedra():
    net = rs.load(pseudo_random_network(3, [4, 3]))
    corner = rs.Polyhedron([[1.0, 1, 1], [-1, 0, 0], [0, -1, 0], [0, 0, -1]], [1.0, 0.5, 0.5, 0.5])
    assert exactly(net, corner) == int(count_by_tree(net, corner).finding)
    window = rs.Polyhedron([[1.0, 1], [-1, 0], [0, -1]], [2.0, 2, 2])
    plane = rs.Slice([0.1, 0.2, -0.3], [[1, 0, 0.5], [0, 1, -1]], window)
    assert exactly(net, plane) == exactly(net.restrict(plane), window) == int(rs.count(net, plane))


def test_regions_that_only_touch_the_domain_count():
    edge = [([[1.0, 1.0]], [-2.0]), ([[1.0]], [0.0])]
    assert exactly(edge, rs.Box(-1, 1, 2)) == 1  # x + y > 2 nowhere
    opposite = [([[-1.0, -1.0]], [2.0]), ([[1.0]], [0.0])]
    assert exactly(opposite, rs.Box(-1, 1, 2)) == 2  # 2 - x - y > 0 but in one corner
    triangle = rs.Polyhedron([[1.0, 1], [-1, 0], [0, -1]], [1.0, 0, 0])
    assert exactly([([[-3.0, -3.0]], [3.0]), ([[1.0]], [0.0])], triangle) == 2  # and on one side


@pytest.mark.parametrize("exponent", [-12, 12])
def test_units_and_inputs_of_any_scale(exponent):
    scale = 2.0**exponent
    (first, bias), (second, shift), last = pseudo_random_network(2, [4, 3])
    scaled = [(first * scale / 1024, bias * scale), (second / scale**2, shift / scale), last]
    assert exactly(scaled, rs.Box(-1024, 1024, 2)) == exactly([(first, bias), (second, shift), last], rs.Box(-1, 1, 2))


def test_duplicates_and_dead_units():
    rows, sides = np.array([[1.0, 0], [1, 0], [2, 0], [-1, 0], [0, 0], [0, 0]]), np.array([0.0, 0, 0, 0, -1, 1])
    assert exactly([(rows, sides), (np.ones((1, 6)), np.zeros(1))], rs.Box(-1, 1, 2)) == 3


def test_no_interval_ends_where_a_solver_saw_nothing():
    """The region between 0 and 1e-7 is below the margin that the program asks for."""
    for num_inputs in (1, 3):
        rows = np.eye(1, num_inputs).repeat(2, axis=0)
        net = rs.load([(rows, np.array([0.0, -1e-7])), (np.ones((1, 2)), np.zeros(1))])
        found, stopped = count_by_mip(net, rs.Box(-1, 1, num_inputs))
        assert (found.claim, found.interval, words_of(stopped)) == (Claim.LOWER, (2, np.inf), "")


def test_kinks_that_differ_by_rounding_leave_an_interval():
    """0.1 is more than 1 / 10 in floats, by what no solver sees: both units are active between, and neither nowhere."""
    parameters = [(np.array([[10.0], [-1.0]]), np.array([-1.0, 0.1])), (np.ones((1, 2)), np.zeros(1))]
    assert six_counts(parameters, (-1, 1))["activation"] == 3
    found, stopped = count_by_mip(rs.load(parameters), rs.Box(-1, 1, 1))
    assert (found.interval, found.claim, found.num_undecided, words_of(stopped)) == ((2, np.inf), Claim.LOWER, 1, "")


@pytest.mark.parametrize(
    ("budget", "most", "reason"),
    [
        (Budget(regions=0), 0, "budget of 0 regions"),
        (Budget(regions=1), 1, "budget of 1 regions"),
        (Budget(regions=5), 5, "budget of 5 regions"),
        (Budget(seconds=0.0), 1, "budget of 0 s"),
    ],
)
def test_budgets(budget, most, reason):
    net = rs.load(pseudo_random_network(2, [3, 3]))
    found, stopped = count_by_mip(net, rs.Box(-1, 1, 2), Effort(budget))
    assert (int(found), found.claim, found.interval) == (most, Claim.LOWER, (most, float("inf")))
    assert words_of(stopped) == reason


@pytest.mark.parametrize("after", [0, 3])
def test_an_interruption_keeps_what_was_found(monkeypatch, after):
    calls, next_code = itertools.count(), CodeSearch.next_code

    def interrupted(self, seconds=np.inf):
        if next(calls) == after:
            raise KeyboardInterrupt
        return next_code(self, seconds)

    monkeypatch.setattr(CodeSearch, "next_code", interrupted)
    found, stopped = count_by_mip(rs.load(pseudo_random_network(2, [3, 3])), rs.Box(-1, 1, 2))
    assert (int(found), found.interval, found.claim, words_of(stopped)) == (
        after,
        (after, np.inf),
        Claim.LOWER,
        "interrupted",
    )


def test_codes_without_a_point_are_undecided(monkeypatch):
    monkeypatch.setattr(CodePoints, "point", lambda self, pieces: None if pieces[0].sum() == 0 else [])
    found, stopped = count_by_mip(rs.load(ABSOLUTE), rs.Box(-1, 1, 1))
    assert (int(found), found.interval, found.num_undecided) == (2, (2, np.inf), 1)
    assert (found.claim, words_of(stopped)) == (Claim.LOWER, "")


def test_a_code_twice_is_an_error(monkeypatch):
    search = CodeSearch(rs.load(ABSOLUTE), rs.Box(-1, 1, 1))
    monkeypatch.setattr(type(search.model), "forbid", lambda self, solution: None)
    search.next_code()
    with pytest.raises(SolverError, match="excluded one"):
        search.next_code()


def test_what_cannot_be_asked():
    net = rs.load(pseudo_random_network(2, [3]))
    for domain in (rs.Space(2), rs.Polyhedron([[1.0, 0]], [1.0])):
        with pytest.raises(InputError, match=r"needs a bounded domain, got .*: give a Box"):
            count_by_mip(net, domain)
    with pytest.raises(ShapeError, match="lies in 3 dimensions"):
        count_by_mip(net, rs.Box(-1, 1, 3))
    for flat in (([1.0, -1.0], None, None), ([1.0, -2.0], None, None), ([1.0, 1.0], [[1.0, 1.0]], [0.0])):
        rows = rs.Polyhedron([[1.0, 0], [-1, 0], [0, 1], [0, -1]], [*flat[0], 1.0, 1.0], flat[1], flat[2])
        with pytest.raises(DegenerateGeometryError, match="must have an interior"):
            count_by_mip(net, rows)


def test_work_is_told():
    found = count_by_mip(rs.load(pseudo_random_network(2, [3, 3])), rs.Box(-1, 1, 2)).finding
    assert found.work["programs"] >= int(found) + 1
    assert {"nodes", "simplex_iterations", "seconds"} <= found.work.keys()
    assert found.definition == "activation regions (lower-dimensional ones included)"


def test_a_program_that_ends_without_an_answer_is_solved_from_scratch():
    """Entries from 3e-11 to 5e9: the solver said 'Unknown' after a warm start, and again without presolve."""
    assert not run_case(20261201, 42, ("pictures",)).failures
