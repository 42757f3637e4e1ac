"""Verdicts by units against exact partitions, dense samples, and a program with a binary variable for each unit."""

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.optimize
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reluscope as rs
from analyses.verification.test_verify import ABSOLUTE, above, check, reaching
from reluscope.analyses.verification import program_search, set_search
from reluscope.analyses.verification.checkable_bounds import CheckableBounds, shortened
from reluscope.analyses.verification.set_search import HeldUnits, Mixtures
from reluscope.analyses.verification.unit_leaves import least_on_leaf
from reluscope.errors import InputError
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus
from reluscope.networks.bounds.backward_bounds import BackwardBounds, is_suited
from reluscope.testing import default_network, networks

VERIFYING = import_module("reluscope.analyses.verification.deciding")


@pytest.fixture(scope="module", params=["programs", "lines"], autouse=True)
def bounded_by(request):
    """Bound sets by linear programs, or along lines however small the network is."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "lines":
            patch.setattr(program_search, "is_small", lambda bounds, most=0: False)
        yield


@pytest.fixture
def without_attack(monkeypatch):
    monkeypatch.setattr(VERIFYING, "_attacked", lambda *of: None)


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(4))
def test_the_partition_decides_the_same(seed, without_attack):
    net = rs.load(default_network([2, 7, 6, 3], seed=seed))
    rng = np.random.default_rng(seed)
    low, high = np.array([-2.0, -1.0]), np.array([1.0, 2.0])
    values = rs.partition(net, rs.Box(low, high)).outputs
    row = rng.normal(size=3)
    most = float((values @ row).max())
    for excess in (1e-1, 1e-5):
        for sign, verdict in ((1, "HOLDS"), (-1, "VIOLATED")):
            safe = above(low, high, row, most + sign * excess)
            assert check(net, safe, rs.verify(net, safe, split="units")) == verdict


def largest(net, lower, upper, row):
    """Return the largest value of a function of the outputs, by a program with a binary variable for each ReLU."""
    layers = [(node.weight.numpy(), node.bias.numpy()) for node in net.nodes if hasattr(node, "weight")]
    dim = len(lower)
    count = dim + 2 * sum(len(bias) for _, bias in layers[:-1])
    rows, low, high, bounds, whole = [], [], [], [(a, b) for a, b in zip(lower, upper, strict=True)], [0] * dim
    before, lo, hi = np.arange(dim), lower, upper
    for weight, bias in layers[:-1]:
        least = weight.clip(0) @ lo + weight.clip(max=0) @ hi + bias
        most = weight.clip(0) @ hi + weight.clip(max=0) @ lo + bias
        start = len(bounds)
        for unit in range(len(bias)):
            value, on = start + 2 * unit, start + 2 * unit + 1
            bounds += [(0.0, max(most[unit], 0.0)), (0, 1)]
            whole += [0, 1]
            for part, bound in (
                ((1, 0), bias[unit]),
                ((1, -least[unit]), bias[unit] - least[unit]),
                ((1, -max(most[unit], 0)), 0.0),
            ):
                entries = np.zeros(count)
                if bound != 0.0 or part == (1, 0) or part[1] == -least[unit]:
                    entries[before] = -weight[unit] if (part == (1, 0) or bound == bias[unit] - least[unit]) else 0.0
                entries[value], entries[on] = 1, part[1]
                rows.append(entries)
                low.append(bias[unit] if part == (1, 0) else -np.inf)
                high.append(np.inf if part == (1, 0) else bound)
        before, lo, hi = start + 2 * np.arange(len(bias)), np.maximum(least, 0), np.maximum(most, 0)
    weight, bias = layers[-1]
    gain = np.zeros(count)
    gain[before] = row @ weight
    constraints = scipy.optimize.LinearConstraint(np.array(rows), low, high)
    box = scipy.optimize.Bounds(*np.array(bounds, dtype=float).T)
    found = scipy.optimize.milp(-gain, constraints=constraints, bounds=box, integrality=np.array(whole))
    assert found.status == 0
    return -found.fun + float(row @ bias)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_program_with_binary_variables_decides_the_same(seed):
    net = rs.load(default_network([12, 10, 8, 2], seed=seed))
    rng = np.random.default_rng(seed)
    lower = rng.uniform(-1, 0, 12)
    upper, row = lower + 0.6, rng.normal(size=2)
    most = largest(net, lower, upper, row)
    points = rng.uniform(lower, upper, (2_000, 12))
    assert (net(points).numpy() @ row).max() <= most + 1e-6  # the oracle itself
    for excess, verdict in ((1e-3, "HOLDS"), (-1e-3, "VIOLATED")):
        safe = above(lower, upper, row, most + excess)
        assert check(net, safe, rs.verify(net, safe)) == verdict  # by units: twelve inputs


@settings(max_examples=30, deadline=None)
@given(layers=networks(), seed=st.integers(0, 10**6))
def test_no_verdict_contradicts_dense_samples(layers, seed):
    net, rng = rs.load(layers), np.random.default_rng(seed)
    assume(is_suited(net))
    lower = rng.uniform(-2, 0, net.num_inputs)
    upper = lower + rng.uniform(0, 3, net.num_inputs) * (rng.random(net.num_inputs) < 0.8)
    points = np.concatenate([rng.uniform(lower, upper, (4_000, len(lower))), [lower, upper]])
    outputs = net(points).numpy().reshape(len(points), -1)
    polyhedra = []
    for _ in range(rng.integers(1, 3)):
        A = np.round(rng.normal(size=(rng.integers(1, 4), net.num_outputs)) * 4) / 4
        polyhedra.append((A, np.quantile(outputs @ A.T, rng.choice([0.0, 0.02, 0.5]), axis=0) - rng.choice([0, 0.1])))
    safe = reaching(lower, upper, *polyhedra)
    verdict = check(net, safe, rs.verify(net, safe, split="units", budget=rs.Budget(regions=200)))
    if any((outputs @ A.T <= b - 1e-9).all(axis=1).any() for A, b in polyhedra):
        assert verdict != "HOLDS"


def test_the_samples_would_see_a_search_that_forgets_sets(monkeypatch, without_attack):
    monkeypatch.setattr(program_search.ProgramSearch, "_first", lambda self, bounds, sets: None)
    net = rs.load(default_network([2, 7, 6, 3], seed=0))
    safe = above([-2.0, -1.0], [1.0, 2.0], [1.0, 0, 0], -100.0)
    with pytest.raises(AssertionError):
        assert check(net, safe, rs.verify(net, safe, split="units")) != "HOLDS"


def test_rows_that_only_hold_apart_are_decided_on_leaves(without_attack):
    """|x| at most 0.25 and at least 0.75, as two outputs: neither row is missed alone, on no set of regions."""
    net = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((2, 2)), np.zeros(2))])
    rows = [[1.0, 0.0], [0.0, -1.0]]
    apart, together = reaching([-1.0], [1.0], (rows, [0.25, -0.75])), reaching([-1.0], [1.0], (rows, [0.75, -0.25]))
    assert check(net, apart, rs.verify(net, apart, split="units")) == "HOLDS"
    assert check(net, together, rs.verify(net, together, split="units")) == "VIOLATED"


def test_equality_is_never_proved_away_and_equations_can_be_proved():
    safe = above([-1.0], [1.0], [1.0], 1.0)
    assert check(ABSOLUTE, safe, rs.verify(ABSOLUTE, safe, split="units")) == "VIOLATED"  # at a corner, in fractions
    level = reaching([-1.0], [1.0], (np.zeros((0, 1)), np.zeros(0)))
    assert check(ABSOLUTE, level, rs.verify(ABSOLUTE, level, split="units")) == "VIOLATED"
    beyond = rs.verification.Property(
        [rs.verification.Case([-1.0], [1.0], [rs.Polyhedron(np.zeros((0, 1)), np.zeros(0), [[1.0]], [2.0])])]
    )
    assert check(ABSOLUTE, beyond, rs.verify(ABSOLUTE, beyond, split="units")) == "HOLDS"


@pytest.mark.slow
@pytest.mark.parametrize("excess", [-0.01, 0.01])
def test_verdicts_do_not_depend_on_scales_of_units_and_order_of_outputs(excess):
    layers = default_network([12, 10, 8, 3], seed=2)
    net, rng = rs.load(layers), np.random.default_rng(0)
    low, high = -0.3 * np.ones(12), 0.3 * np.ones(12)
    level = largest(net, low, high, np.array([0.0, 1.0, 0.0])) + excess
    verdicts = [rs.verify(net, above(low, high, [0.0, 1.0, 0.0], level)).verdict]
    factors = 2.0 ** rng.integers(-4, 5, 10)
    (first, start), (second, middle), (third, end) = layers
    scaled = rs.load(
        [(first * factors[:, None], start * factors), (second / factors, middle), (third[::-1], end[::-1])]
    )
    verdicts.append(rs.verify(scaled, above(low, high, [0.0, 1.0, 0.0], level)).verdict)
    half = high.copy()
    half[3], other = 0.1, low.copy()
    other[3] = 0.1
    unsafe = [rs.Polyhedron([[0.0, -1.0, 0.0]], [-level])]
    cases = [rs.verification.Case(low, half, unsafe), rs.verification.Case(other, high, unsafe)]
    verdicts.append(rs.verify(net, rs.verification.Property(cases)).verdict)
    assert {*verdicts} == {"HOLDS" if excess > 0 else "VIOLATED"}


@pytest.mark.slow
def test_a_budget_leaves_cases_open(without_attack):
    net = rs.load(default_network([30, 60, 60, 2], seed=3))
    low, high = -np.ones(30), np.ones(30)
    values = net(np.random.default_rng(0).uniform(-1, 1, (2_000, 30))).numpy()[:, 0]
    safe = above(low, high, [1.0, 0.0], float(values.max()) + 2 * float(np.ptp(values)))
    found = rs.verify(net, safe, budget=rs.Budget(regions=3))
    assert (str(found), found.undecided.value, found.stopped) == ("OPEN", 1.0, "budget of 3 regions")
    assert rs.verify(net, safe, budget=rs.Budget(seconds=0.0)).undecided.value == 1.0


@pytest.mark.slow
def test_sets_that_wait_take_no_more_memory_than_they_may(without_attack, monkeypatch):
    monkeypatch.setattr(set_search, "MOST_BYTES", 8 * 120 * set_search.UNIT_BYTES)
    net = rs.load(default_network([30, 60, 60, 2], seed=3))
    low, high = -np.ones(30), np.ones(30)
    values = net(np.random.default_rng(0).uniform(-1, 1, (2_000, 30))).numpy()[:, 0]
    safe = above(low, high, [1.0, 0.0], float(values.max()) + 1.2 * float(np.ptp(values)))
    found = rs.verify(net, safe)
    assert (str(found), found.stopped) == ("OPEN", "out of memory")
    assert 0 < found.undecided.value <= 1
    assert found.undecided.work["sets"] > 8


def test_networks_that_cannot_be_carried_back():
    net = rs.load(
        torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.MaxPool2d(2), torch.nn.Flatten()), input_shape=(1, 6, 6)
    )
    safe = above(np.zeros(36), np.ones(36), np.eye(8)[0], 100.0)
    with pytest.raises(InputError, match="pointwise gates"):
        rs.verify(net, safe, split="units")
    assert str(rs.verify(net, safe)) == "HOLDS"  # by boxes
    conv = rs.load(
        torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten()), input_shape=(1, 6, 6)
    )
    safe = above(np.zeros(36), np.ones(36), np.eye(32)[0], 100.0)
    assert str(rs.verify(conv, safe, split="units")) == "HOLDS"


@pytest.mark.parametrize(("end", "truth"), [(-7.0, "VIOLATED"), (-7.25, "HOLDS")])
def test_networks_without_gates_have_one_region(end, truth):
    net = rs.load([(np.ones((1, 12)), np.array([5.0]))])  # 12 inputs: units are split by default
    case = rs.verification.Case(-np.ones(12), np.ones(12), [rs.Polyhedron([[1.0]], [end])])
    assert str(rs.verify(net, rs.verification.Property([case]))) == truth


def test_nothing_is_proved_while_a_set_waits_or_was_passed_or_an_input_is_found():
    for change in ({}, {"queue": [None]}, {"_passed": {0}}, {"counterexample": object()}, {"is_broken": True}):
        search = program_search.ProgramSearch(ABSOLUTE, above([-1.0], [1.0], [1.0], 3.0), None)
        assert not search.is_proved
        search.begin()
        assert search.is_proved
        for name, value in change.items():
            setattr(search, name, value)
        assert search.is_proved == (not change)
        assert search.has_passed == ("_passed" in change)


@pytest.mark.parametrize("key", [0.125, 7.0])
@pytest.mark.parametrize("together", [1, 2, 5])
def test_all_that_is_left_is_missed_by_the_least_that_any_set_is(key, together):
    """By what duals prove, of rows whose weights add up to one, less some rounding; other sets by their bounds."""
    search = program_search.ProgramSearch(ABSOLUTE, above([-1.0], [1.0], [1.0], 3.0), None)
    search.begin()
    missed = {(0, 0): 4.0, (0, 1): 1.0, (0, 2): 8.0, (1, 3): 2.0, (1, 4): 6.0}

    def proved(bounds, some):
        told = torch.tensor([missed[one.what] for one in some], dtype=torch.float64)
        half = torch.full_like(told, 0.25)
        return Mixtures(torch.ones((len(some), 1)), half, half), SimpleNamespace(values=told + 0.5)

    search._together, search._bounds = together, {0: None, 1: None}
    search._case, search._proved = lambda what: what[0], proved
    sets = [program_search._Solved(what, SimpleNamespace(mix=np.array([1.5, 0.5]))) for what in missed]
    for order in (sets, sets[::-1]):
        search.queue = [SimpleNamespace(key=key, what=one) for one in order]
        assert search.least_key == min(key, 0.5 * (1 - 4 * 2.0**-52))
    search.queue[0].what = sets[0]._replace(relaxed=SimpleNamespace(mix=np.zeros(2)))
    assert search.least_key == -np.inf


def test_mixtures_are_missed_by_more_than_the_rounding_of_their_rows():
    net = rs.load(default_network([2, 4, 2], seed=0))
    bounds = BackwardBounds(net, -np.ones(2), np.ones(2))
    rows, one = torch.ones((2, 2), dtype=torch.float64), torch.ones(2, dtype=torch.float64)
    found = bounds.lower_bounds(rows, bounds.unheld(2))
    mixed = Mixtures(rows, found.values - torch.tensor([0.5, 1.5]), one)
    search = program_search.ProgramSearch(net, above([-1, -1], [1, 1], [1.0, 0.0], 9.0), None)
    assert search._ruled_out(bounds, [], mixed, found, bounds.unheld(2)).tolist() == [False, True]
    touching = Mixtures(rows, torch.zeros(2, dtype=torch.float64), found.values)
    assert search._ruled_out(bounds, [], touching, found, bounds.unheld(2)).tolist() == [False, False]


def test_mixtures_are_ruled_out_by_their_short_duals_and_those_are_kept():
    """Of equal bounds beside offsets half a rounding, one and a half, and three quarters below; long duals say more."""
    net = rs.load(default_network([2, 4, 2], seed=0))
    bounds = CheckableBounds(net, -np.ones(2), np.ones(2))
    held, rows = bounds.unheld(3), torch.ones((3, 2), dtype=torch.float64)
    found = bounds.lower_bounds(rows, held)
    values = bounds.by_duals(rows, shortened(found.duals), held).values
    search = program_search.ProgramSearch(net, above([-1, -1], [1, 1], [1.0, 0.0], 9.0), None, certify=True)
    search._trees.append({})
    sets = [HeldUnits(0, bounds.unheld(1).row(0), torch.ones(1), [], path=path) for path in ("00", "01", "1")]
    mixed = Mixtures(rows, values - torch.tensor([0.5, 1.5, 0.75]), torch.ones(3, dtype=torch.float64))
    better = found._replace(values=found.values + 100.0)
    assert search._ruled_out(bounds, sets, mixed, better, held).tolist() == [False, True, False]
    ((path, kept),) = search._trees[0].items()
    assert (path, kept.multipliers) == ("01", (1.0,))
    for one, short in zip(kept.duals, shortened(found.duals), strict=True):
        assert one.tolist() == short[1:2].tolist()
    touching = Mixtures(rows, torch.zeros(3, dtype=torch.float64), values)
    assert not search._ruled_out(bounds, sets, touching, better, held).any()


def test_leaves_are_missed_least_as_another_program_says():
    """Rows of the outputs and cuts of all units, on boxes far from 0; multipliers prove what is missed."""
    pulled = 0
    for seed in range(12):
        draw = np.random.default_rng(seed)
        weights = [draw.normal(size=size) for size in ((4, 3), (3, 4), (2, 3))]
        biases = [draw.normal(size=size) for size in (4, 3, 2)]
        lower = draw.uniform(-3, 3, 3)
        upper = lower + draw.uniform(0.5, 2, 3)
        net = rs.load(list(zip(weights, biases, strict=True)))
        bounds, held = (found := BackwardBounds(net, lower, upper)), found.unheld(1)
        table, limits, pieces = [], [], []
        through, constant, seen = np.eye(3), np.zeros(3), draw.uniform(lower, upper)
        for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
            through, constant = weight @ through, weight @ constant + bias
            is_on = through @ seen + constant > 0
            sign = np.where(is_on, -1.0, 1.0)
            pieces.append(torch.tensor(is_on[None]).long())
            table.append(sign[:, None] * through)
            limits.append(-sign * constant)
            through, constant = is_on[:, None] * through, is_on * constant
        A = draw.normal(size=(2, 2))
        b = A @ (weights[-1] @ (through @ seen + constant) + biases[-1]) + draw.uniform(-1, 3, 2)
        table.insert(0, A @ weights[-1] @ through)
        limits.insert(0, b - A @ (weights[-1] @ constant + biases[-1]))
        table, limits = np.concatenate(table), np.concatenate(limits)
        leaf = least_on_leaf(bounds, held._replace(first=pieces, last=pieces), torch.tensor(A), torch.tensor(b))
        sides = [*zip(lower, upper, strict=True), (None, None)]
        truth = scipy.optimize.linprog([0, 0, 0, 1], np.column_stack([table, -np.ones(9)]), limits, bounds=sides)
        assert (table @ leaf.point - limits).max() == pytest.approx(truth.fun, abs=1e-7)
        assert ((lower <= leaf.point) & (leaf.point <= upper)).all()
        cuts = np.concatenate([one.numpy()[0] for one in leaf.multipliers])
        signs = np.concatenate([np.where(one[0] > 0, -1.0, 1.0) for one in pieces])
        assert (cuts * signs >= 0).all()
        duals = np.concatenate([leaf.mix.numpy(), np.abs(cuts)])
        assert duals.sum() == pytest.approx(1.0)
        row = duals @ table
        assert np.minimum(row * lower, row * upper).sum() - duals @ limits == pytest.approx(truth.fun, abs=1e-7)
        pulled += (cuts != 0).any()
    assert pulled > 2


def one_leaf(rows, offsets):
    """Return the leaf of an affine network with the outputs 100 x - 50 y and x, on a box whose middle is (2, 3)."""
    bounds = BackwardBounds(
        rs.load([([[100.0, -50.0], [1.0, 0.0]], [0.0, 0.0])]), np.array([1.0, 1]), np.array([3.0, 5])
    )
    rows, offsets = torch.tensor(rows, dtype=torch.float64), torch.tensor(offsets, dtype=torch.float64)
    return least_on_leaf(bounds, bounds.unheld(1), rows.reshape(-1, 2), offsets)


def test_a_row_without_cuts_is_missed_least_in_a_corner_however_steep():
    leaf = one_leaf([[1.0, 0.0]], [50.0])  # met in the middle
    assert leaf.point == pytest.approx([1.0, 5.0])
    assert leaf.mix.tolist() == pytest.approx([1.0])


@pytest.mark.parametrize(("rows", "offsets"), [([], []), ([[1.0, 0.0]], [np.inf])])
def test_leaves_without_rows_or_with_endless_ones_are_left_to_others(rows, offsets):
    leaf = one_leaf(rows, offsets)
    assert leaf.mix is None
    assert leaf.point.tolist() == [2.0, 3.0]


def test_answers_that_prove_nothing_are_left_to_others_and_wrong_signs_count_as_none(monkeypatch):
    answers = iter([("OPTIMAL", 1), ("UNBOUNDED", 2), ("OPTIMAL", 2), ("OPTIMAL", 2)])
    multipliers = iter([[0.5], [0.5, 0.5], [-0.5, np.nan], [0.5, 0.25]])

    def maximize(program, gain):
        status, number = next(answers)
        found = np.array(next(multipliers))
        assert len(found) == number
        return SimpleNamespace(status=ProgramStatus[status], duals=found, point=np.array([9.0, -9.0, 0.0]))

    monkeypatch.setattr(LinearProgram, "maximize", maximize)
    leaves = [one_leaf(np.eye(2).tolist(), [1.0, 1.0]) for _ in range(4)]
    assert [None if one.mix is None else one.mix.tolist() for one in leaves] == [None, None, [0.0, 0.0], [0.5, 0.25]]
    assert leaves[3].point.tolist() == [3.0, 1.0]


@pytest.mark.parametrize("split", ["units", "inputs"])
def test_ctrl_c_during_the_attack_leaves_all_open(split, monkeypatch):
    def struck(*of):
        raise KeyboardInterrupt

    monkeypatch.setattr(VERIFYING, "_attacked", struck)
    found = rs.verify(ABSOLUTE, above([-1.0], [1.0], [1.0], 2.0), split=split, budget=rs.Budget(seconds=100))
    assert (str(found), found.undecided.value, found.stopped) == ("OPEN", 1.0, "interrupted")


def test_sets_whose_proofs_float32_does_not_hold_are_counted():
    net = rs.load(
        [(np.array([[1e30], [-1e30]]), np.zeros(2)), (np.full((2, 2), 1e30), np.zeros(2)), ([[1.0, 1.0]], [0.0])]
    )
    safe = reaching([-1.0], [1.0], ([[1.0]], [-1.0]), ([[1.0]], [-2.0]))
    search = set_search.SetSearch.__subclasses__()[0](net, safe, None, certify=True)
    search.begin()
    assert search.num_branches == 2


@pytest.mark.parametrize(("level", "truth"), [(0.75, "VIOLATED"), (1.25, "HOLDS")])
def test_units_that_see_one_number_alone_leave_no_set_empty(level, truth, without_attack):
    """Of |x|, and of units whose weights are zero, at their breakpoint and beside it."""
    first = np.array([[1.0], [-1.0], [0.0], [0.0]]), np.array([0.0, 0.0, 0.0, 0.25])
    net = rs.load([first, (np.array([[1.0, 1.0, 3.0, 0.0]]), np.zeros(1))])
    safe = above([-1.0], [1.0], [1.0], level)
    assert check(net, safe, rs.verify(net, safe, split="units")) == truth
