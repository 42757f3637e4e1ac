"""Verdicts against exact partitions and dense samples; no verdict may ever be wrong."""

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from reluscope.analyses.verification import box_search as searching
from reluscope.errors import InputError, ShapeError
from reluscope.testing import default_network, networks

Case, Property = rs.verification.Case, rs.verification.Property
ABSOLUTE = rs.load([(np.array([[1.0], [-1.0]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])  # |x|
VERIFYING = import_module("reluscope.analyses.verification.deciding")
BOXES = rs.Budget(regions=3_000)


def reaching(lower, upper, *polyhedra):
    """Return the property that no output lies in any of some polyhedra (A, b)."""
    return Property([Case(np.array(lower), np.array(upper), [rs.Polyhedron(A, b) for A, b in polyhedra])])


def above(lower, upper, row, level):
    """Return the property that a linear function of the outputs stays below a level."""
    return reaching(lower, upper, ([-np.array(row)], [-level]))


def check(net, safe, found):
    """Check that a counterexample is one, by evaluation and by comparison alone."""
    if found.verdict == "VIOLATED":
        one = found.counterexample
        case = safe.cases[one.case]
        assert ((one.point >= case.lower) & (one.point <= case.upper)).all()
        outputs = net(one.point[None]).numpy().ravel()
        np.testing.assert_allclose(outputs, one.outputs, rtol=1e-12, atol=1e-12)
        # One in fractions is only near the point, and touches what the nearest point may miss by rounding.
        # One in floats is as good as their rounding.
        rounding = (4e-16 if one.exact is None else 4e-15) * (1 + np.abs(outputs))
        assert any((unsafe.A @ outputs <= unsafe.b + np.abs(unsafe.A) @ rounding).all() for unsafe in case.unsafe)
        assert found.undecided.value == 0
    else:
        assert found.counterexample is None
        assert (found.verdict == "HOLDS") == (found.undecided.value == 0)
        assert (found.undecided.claim == "EXACT") == (found.verdict == "HOLDS")
    return found.verdict


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(6))
def test_the_partition_decides_the_same(seed):
    net = rs.load(default_network([2, 7, 6, 3], seed=seed))
    rng = np.random.default_rng(seed)
    low, high = np.array([-2.0, -1.0]), np.array([1.0, 2.0])
    values = rs.partition(net, rs.Box(low, high)).outputs  # at all vertices: the extremes are among them
    for _ in range(3):
        row = rng.normal(size=3)
        most = float((values @ row).max())
        for excess in (1e-1, 1e-3, 1e-6):
            safe = above(low, high, row, most + excess)
            assert check(net, safe, rs.verify(net, safe)) == "HOLDS"
            safe = above(low, high, row, most - excess)
            assert check(net, safe, rs.verify(net, safe)) == "VIOLATED"


def test_what_is_reached_with_equality_alone_is_violated():
    safe = above([-1.0], [1.0], [1.0], 1.0)
    assert check(ABSOLUTE, safe, rs.verify(ABSOLUTE, safe, budget=BOXES)) == "VIOLATED"
    third = above([-1.0 / 3], [1.0 / 3], [3.0], 1.0)  # three times the float64 is less than 1
    assert check(ABSOLUTE, third, rs.verify(ABSOLUTE, third, budget=BOXES)) == "HOLDS"


@settings(max_examples=40, deadline=None)
@given(layers=networks(), seed=st.integers(0, 10**6))
def test_no_verdict_contradicts_dense_samples(layers, seed):
    net, rng = rs.load(layers), np.random.default_rng(seed)
    lower = rng.uniform(-2, 0, net.num_inputs)
    upper = lower + rng.uniform(0, 3, net.num_inputs) * (rng.random(net.num_inputs) < 0.8)
    points = np.concatenate([rng.uniform(lower, upper, (4_000, len(lower))), [lower, upper]])
    outputs = net(points).numpy().reshape(len(points), -1)
    polyhedra = []
    for _ in range(rng.integers(1, 3)):
        A = np.round(rng.normal(size=(rng.integers(1, 4), net.num_outputs)) * 4) / 4
        polyhedra.append((A, np.quantile(outputs @ A.T, rng.choice([0.0, 0.02, 0.5]), axis=0) - rng.choice([0, 0.1])))
    safe = reaching(lower, upper, *polyhedra)
    verdict = check(net, safe, rs.verify(net, safe, budget=rs.Budget(regions=300)))
    if any((outputs @ A.T <= b - 1e-9).all(axis=1).any() for A, b in polyhedra):
        assert verdict != "HOLDS"


def test_the_samples_would_see_a_search_that_forgets_boxes(monkeypatch):
    monkeypatch.setattr(searching.BoxSearch, "bound", lambda self, parts: None)
    net = rs.load(default_network([2, 7, 6, 3], seed=0))
    safe = above([-2.0, -1.0], [1.0, 2.0], [1.0, 0, 0], -100.0)
    monkeypatch.setattr(VERIFYING, "_attacked", lambda *of: None)
    with pytest.raises(AssertionError):
        assert check(net, safe, rs.verify(net, safe)) != "HOLDS"


def test_the_search_finds_what_the_attack_does_not(monkeypatch):
    monkeypatch.setattr(VERIFYING, "_attacked", lambda *of: None)
    net = rs.load(default_network([2, 7, 6, 3], seed=1))
    values = rs.partition(net, rs.Box(-1, 1, 2)).outputs
    safe = above([-1.0, -1.0], [1.0, 1.0], [1.0, 0, 0], float(values[:, 0].max()) - 1e-3)
    found = rs.verify(net, safe)
    assert check(net, safe, found) == "VIOLATED"
    assert found.undecided.work["boxes"] > 0


@pytest.mark.parametrize("excess", [-0.01, 0.01])
def test_verdicts_do_not_depend_on_how_boxes_are_split_into_cases(excess):
    net = rs.load(default_network([2, 7, 6, 3], seed=2))
    low, high = np.array([-1.0, -1.0]), np.array([1.0, 1.0])
    level = float(rs.partition(net, rs.Box(low, high)).outputs[:, 1].max()) + excess
    middle = np.array([0.2, 1.0]), np.array([0.2, -1.0])
    unsafe = [rs.Polyhedron([[0.0, -1.0, 0.0]], [-level])]
    whole = Property([Case(low, high, unsafe)])
    parts = Property([Case(low, middle[0], unsafe), Case(middle[1], high, unsafe)])
    assert check(net, whole, rs.verify(net, whole)) == check(net, parts, rs.verify(net, parts))


def test_flat_boxes_and_points():
    safe = above([0.5], [0.5], [1.0], 0.6)
    assert check(ABSOLUTE, safe, rs.verify(ABSOLUTE, safe)) == "HOLDS"
    safe = above([0.5], [0.5], [1.0], 0.4)
    assert check(ABSOLUTE, safe, rs.verify(ABSOLUTE, safe)) == "VIOLATED"


def test_all_or_no_outputs_are_unsafe():
    everything = reaching([-1.0], [1.0], (np.zeros((0, 1)), np.zeros(0)))
    assert check(ABSOLUTE, everything, rs.verify(ABSOLUTE, everything)) == "VIOLATED"
    nothing = reaching([-1.0], [1.0], ([[0.0]], [-1.0]))
    assert check(ABSOLUTE, nothing, rs.verify(ABSOLUTE, nothing)) == "HOLDS"


def test_equations_can_be_proved_and_violated():
    level = rs.Polyhedron(np.zeros((0, 1)), np.zeros(0), [[1.0]], [2.0])  # |x| = 2
    safe = Property([Case([-1.0], [1.0], [level])])
    assert check(ABSOLUTE, safe, rs.verify(ABSOLUTE, safe)) == "HOLDS"
    safe = Property([Case([-3.0], [3.0], [level])])
    found = rs.verify(ABSOLUTE, safe, budget=rs.Budget(regions=100))
    assert check(ABSOLUTE, safe, found) == "VIOLATED"
    assert abs(found.counterexample.point[0]) == 2.0


def test_a_budget_leaves_a_share_open():
    net = rs.load(default_network([3, 20, 20, 2], seed=3))
    rng = np.random.default_rng(0)
    values = net(rng.uniform(-1, 1, (2_000, 3))).numpy()[:, 0]
    safe = above(-np.ones(3), np.ones(3), [1.0, 0.0], float(values.max()) + 0.2 * float(np.ptp(values)))
    found = rs.verify(net, safe, budget=rs.Budget(regions=3))
    assert check(net, safe, found) == "OPEN"
    assert 0 < found.undecided.value <= 1
    assert found.stopped == "budget of 3 regions"
    assert check(net, safe, rs.verify(net, safe)) == "HOLDS"
    assert check(net, safe, rs.verify(net, safe, budget=rs.Budget(seconds=0.0))) in ("OPEN", "HOLDS")


def test_forged_counterexamples_are_refused():
    safe = above([-1.0], [1.0], [1.0], 0.5)
    for forged in ([0.25], [1.5], [-1.5], [np.nextafter(0.5, 0)]):
        assert rs.verification.replay(ABSOLUTE, safe, [forged]) is None
    assert rs.verification.replay(ABSOLUTE, safe, [[0.75]]).outputs == pytest.approx([0.75])
    # Equal, which rounding of the outputs hides, and rational arithmetic shows.
    assert rs.verification.replay(ABSOLUTE, above([0.1], [1.0], [1.0], 0.1), [[0.1]]).outputs == [0.1]
    tenths = rs.load(
        [(np.array([[0.1]]), np.zeros(1)), (np.ones((1, 1)), np.array([0.2]))]
    )  # 0.1 x + 0.2 < 0.3 as floats are
    assert rs.verification.replay(tenths, above([0.0], [1.0], [1.0], 0.1 + 0.2), [[1.0]]) is None


def test_what_does_not_fit():
    with pytest.raises(ShapeError, match="the network has, 1 and 1, got 2 and 1"):
        rs.verify(ABSOLUTE, above([0.0, 0.0], [1.0, 1.0], [1.0], 1.0))
    with pytest.raises(ShapeError, match="got 1 and 2"):
        rs.verify(ABSOLUTE, above([0.0], [1.0], [1.0, 0.0], 1.0))
    with pytest.raises(InputError, match="must not be empty"):
        above([1.0], [0.0], [1.0], 1.0)
    with pytest.raises(InputError, match="at least one polyhedron"):
        Case([0.0], [1.0], [])
    with pytest.raises(InputError, match="at least one case"):
        Property([])
    with pytest.raises(ShapeError, match="equally many inputs"):
        Property([*above([0.0], [1.0], [1.0], 1.0).cases, *above([0.0] * 2, [1.0] * 2, [1.0], 1.0).cases])
    with pytest.raises(ShapeError, match="equally many"):
        reaching([0.0], [1.0], ([[1.0]], [1.0]), ([[1.0, 1.0]], [1.0]))


@pytest.mark.parametrize(("level", "verdict"), [(0.0, "VIOLATED"), (-0.05, "HOLDS")])
def test_outputs_that_touch_what_is_unsafe_on_whole_regions_are_decided_in_rational_arithmetic(level, verdict):
    # relu(x - y), behind rows whose sum rounds: unsafe where it is at most the level, which it is with equality.
    layers = [
        (np.array([[1.0, -1.0], [0.1, 0.2]]), np.array([0.0, 0.3])),
        (np.array([[1.0, 0.0], [3.0, -3.0]]), np.array([0.0, 0.1])),
        (np.array([[1.0, 0.0]]), np.zeros(1)),
    ]
    safe = Property([Case([-1.0, -1.0], [1.0, 1.0], [rs.Polyhedron([[1.0]], [level])])])
    found = rs.verify(rs.load(layers), safe, budget=rs.Budget(regions=2000))
    assert str(found) == verdict
    if verdict == "VIOLATED":
        assert found.counterexample.outputs[0] == 0.0


def test_equations_are_decided_in_rational_arithmetic():
    net = rs.load([(np.array([[1.0]]), np.array([-0.5])), (np.array([[2.0], [1.0]]), np.array([0.1, 0.1]))])
    line = rs.Polyhedron(np.zeros((0, 2)), np.zeros(0), [[1.0, -1.0]], [0.0])  # outputs are equal where the unit is off
    found = rs.verification.replay(net, Property([Case([0.0], [1.0], [line])]), [[0.9], [0.25]])
    assert found is not None
    assert found.point.tolist() == [0.25]
    never = rs.Polyhedron(np.zeros((0, 2)), np.zeros(0), [[1.0, -1.0]], [1e-17])
    assert rs.verification.replay(net, Property([Case([0.0], [1.0], [never])]), [[0.25]]) is None


@pytest.mark.parametrize("split", ["inputs", "units"])
def test_outputs_that_touch_without_any_rounding_are_unsafe(split, monkeypatch):
    monkeypatch.setattr(VERIFYING, "_attacked", lambda *of: None)
    zero = rs.load([(np.eye(1), np.zeros(1)), (np.zeros((1, 1)), np.zeros(1))])
    touched = above([-1.0], [1.0], [1.0], 0.0)
    assert check(zero, touched, rs.verify(zero, touched, split=split)) == "VIOLATED"
    assert rs.verify(zero, above([-1.0], [1.0], [1.0], 1e-300), split=split).verdict == "HOLDS"


class Sign(torch.nn.Module):
    def forward(self, x):
        return torch.sign(x)


@pytest.mark.parametrize("seed", range(6))
def test_networks_that_jump_are_violated_where_an_exact_partition_says_so(seed):
    """No verdict VIOLATED is wrong; attacks find most of what there is to find."""
    torch.manual_seed(seed)
    module = torch.nn.Sequential(
        torch.nn.Linear(2, 6), Sign(), torch.nn.Linear(6, 5), torch.nn.ReLU(), torch.nn.Linear(5, 2)
    )
    net = rs.load(module.double(), input_shape=(2,))
    part = rs.partition(net, rs.Box(-1, 1, 2))
    values = net(part.witnesses).numpy()[:, 0]  # constant on regions
    most, likely = float(values.max()), float(values[part.volumes() > 0.01].max())
    low, high = -np.ones(2), np.ones(2)
    safe = above(low, high, [1.0, 0.0], likely - 1e-6)
    found = rs.verify(net, safe)
    assert str(found) == "VIOLATED"
    assert net(found.counterexample.point[None])[0, 0] >= likely - 1e-6
    assert rs.verification.replay(net, safe, found.counterexample.point[None])
    beyond = rs.verify(net, above(low, high, [1.0, 0.0], most + 1e-6), budget=rs.Budget(regions=3))
    assert (str(beyond), beyond.undecided.value, beyond.undecided.work) == ("OPEN", 1.0, {"attacks": 3})


def test_networks_that_jump_have_no_proofs():
    net = rs.load(torch.nn.Sequential(torch.nn.Linear(2, 3), Sign(), torch.nn.Linear(3, 1)).double(), input_shape=(2,))
    safe = above(-np.ones(2), np.ones(2), [1.0], 100.0)
    with pytest.raises(InputError, match="without jumps"):
        rs.verify(net, safe, certify=True)
    found = rs.verify(net, safe)
    assert str(found) == "OPEN"
    assert found.stopped.startswith("unproved: bounds end at gates that jump")


@pytest.mark.parametrize("is_decided", [True, False])
def test_boxes_that_cannot_be_halved_are_left_undecided_unless_their_regions_decide(is_decided, monkeypatch):
    safe = above([-1.0], [1.0], [1.0], 0.75)
    search = searching.BoxSearch(ABSOLUTE, safe, None)
    monkeypatch.setattr(search, "halve", lambda *_: False)
    monkeypatch.setattr(search, "_is_leaf", lambda *_, is_last=False: is_last and is_decided)
    monkeypatch.setattr(search._replays, "likely", lambda points: None)
    search.begin()
    assert (search.has_passed, search.is_proved, search.undecided) == (not is_decided, is_decided, 1.0 - is_decided)


@pytest.mark.parametrize("certify", [False, True])
def test_what_is_touched_is_not_ruled_out_and_what_is_missed_by_the_least_is(certify, monkeypatch):
    """Rows that are missed by just the margin, or by the next number."""
    safe = reaching([-1.0], [1.0], ([[-1.0], [0.0]], [-3.0, 1.0]))
    monkeypatch.setattr(searching.BoxSearch, "_margin", lambda *of: 0.125 if certify else 0.0)
    for excess in (0.0, 0.125, np.nextafter(0.125, 1.0), 5e-324):
        search = searching.BoxSearch(ABSOLUTE, safe, None, certify=certify)
        monkeypatch.setattr(searching, "MAX_ROWS", 0)
        found = searching.Reach(excess, np.zeros(1), np.array([1.0, 0.0]))
        monkeypatch.setattr(searching, "reach", lambda box, unsafe, found=found: found)
        monkeypatch.setattr(search, "_is_leaf", lambda *_, **__: False)
        search.begin()
        assert search.is_proved == (excess > (0.125 if certify else 0.0))
        assert len(search.queue) == 1 - search.is_proved


def test_the_seed_decides_where_attacks_start(monkeypatch):
    """That of the first one itself; of later ones, of networks that jump, the seed and their number."""
    drawn = []
    monkeypatch.setattr(VERIFYING, "_attacked", lambda network, safe, rng, until: drawn.append(rng.random()))
    for seed in (0, 5):
        drawn.clear()
        rs.verify(ABSOLUTE, above([-1.0], [1.0], [1.0], 3.0), seed=seed)
        assert drawn == [np.random.default_rng(seed).random()]
    net = rs.load(torch.nn.Sequential(torch.nn.Linear(1, 1), Sign()).double(), input_shape=(1,))
    drawn.clear()
    found = rs.verify(net, above([-1.0], [1.0], [1.0], 3.0), seed=5, budget=rs.Budget(regions=2))
    assert drawn == [np.random.default_rng(one).random() for one in (5, [5, 1], [5, 2])]
    assert str(found) == "OPEN"


@pytest.mark.parametrize("certify", [False, True])
def test_the_search_and_the_check_of_its_proof_have_the_time_that_the_attack_leaves(certify, monkeypatch):
    clock = SimpleNamespace(perf_counter=lambda: now[0])
    now, allowed = [5.0], []

    def attacked(*of):
        now[0] += 12.0

    def searched(search, limit, tell):
        allowed.append(limit.seconds)
        return run(search, rs.Budget(seconds=1e6), tell)

    run = searching.BoxSearch.run
    monkeypatch.setattr(VERIFYING, "time", clock)
    monkeypatch.setattr(VERIFYING, "if_in_time", lambda ask, otherwise: ask())
    monkeypatch.setattr(VERIFYING, "_attacked", attacked)
    monkeypatch.setattr(searching.BoxSearch, "run", searched)
    monkeypatch.setattr(VERIFYING, "check_proof", lambda *of, budget: allowed.append(budget.seconds))
    for seconds, left in ((100.0, 88.0), (12.5, 0.5), (11.0, 0.0)):
        allowed.clear()
        safe = above([-1.0], [1.0], [1.0], 3.0)
        assert str(rs.verify(ABSOLUTE, safe, budget=rs.Budget(seconds=seconds), certify=certify)) == "HOLDS"
        assert allowed == [left] * (1 + certify)


def test_what_is_proved_is_missed_by_more_than_other_arithmetic_loses():
    """A share of all terms of a row, and so much for each output that it reads; the largest of all rows."""
    net = rs.load(default_network([2, 5, 3], seed=1))
    A, b = np.array([[1.0, -2.0, 0.0], [0.0, 0.0, 3.0]]), np.array([-50.0, -60.0])
    plain, proving = (
        searching.BoxSearch(net, reaching([-1.0, -1.0], [1.0, 1.0], (A, b)), None, certify=certify)
        for certify in (False, True)
    )
    for search in (plain, proving):
        search.start()
    box = proving._bounds.on(-np.ones((1, 2)), np.ones((1, 2)))[0]
    sizes = np.abs(np.stack(box.range(np.eye(3)))).max(axis=0)
    for lost in (0.0, 1e-9, 1.0):
        proving._lost = lost
        expected = max(
            1e-9 * (sizes[0] + 2 * sizes[1] + 50) + 3 * lost,
            1e-9 * (3 * sizes[2] + 60) + 3 * lost,
        )
        assert proving._margin(box, 0) == pytest.approx(expected, rel=1e-12)
    assert plain._margin(box, 0) == 0.0
