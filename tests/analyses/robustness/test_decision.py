"""Distances to decision boundaries against exact partitions of the plane, mixed-integer programs and closed forms."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from signal import SIGINT, raise_signal

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import reluscope as rs
from networks.models import layers
from oracles.nearest_change import by_milp, in_the_plane, to_segment
from reluscope.analyses.robustness import distance_search as searching
from reluscope.analyses.robustness.distance_quantities import DECISION_DISTANCE
from reluscope.findings import Status
from reluscope.geometry.numbers.norms import LINF, Norm
from reluscope.networks.graph.choosing_gates import Max
from reluscope.testing import networks

NORMS = ("l1", "l2", "linf")
# A budget of regions, however large, leaves each point a search of its own.
SEARCHED = rs.Budget(regions=10**9)


def check(net, domain, x, norm):
    """Compare with all polygons of the exact partition, by a partition of its own, and by a search for each point."""
    searched = rs.robustness.decision_distance(net, x, norm=norm, domain=domain, budget=SEARCHED)
    listed = searched
    if not any(isinstance(stage.gate, Max) for stage in net.stages):  # of these there is no other way
        listed = rs.robustness.decision_distance(net, x, norm=norm, domain=domain)
    part = rs.partition(net, domain)
    for row, point in enumerate(x):
        truth = in_the_plane(part, point, listed.details["classes"][row], norm)
        for found in (listed, searched):
            check_row(net, found, row, point)
            assert found[DECISION_DISTANCE].value[row] == pytest.approx(truth, rel=1e-7, abs=1e-8)
    return searched


def check_row(net, found, row, point):
    assert found.finding(DECISION_DISTANCE, row).claim == "EXACT", found
    distance, details = found[DECISION_DISTANCE].value[row], found.details
    if not np.isfinite(distance):
        assert details["adversarial"][row] == -1
        return
    norm = found[DECISION_DISTANCE].given.removeprefix("in ")
    assert Norm(norm).size(details["witnesses"][row] - point) == pytest.approx(distance, abs=1e-9)
    assert LINF.size(details["beyond"][row] - details["witnesses"][row]) < 1e-3
    outputs = net(details["beyond"][row])[0]
    label = int(outputs.argmax()) if len(outputs) > 1 else int(outputs[0] > 0)
    assert label == details["adversarial"][row] != details["classes"][row]


@pytest.mark.few(1)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("sizes", [[2, 8, 6, 3], [2, 9, 1]])
def test_nearest_of_all_regions_in_the_plane(sizes, norm):
    net, domain = rs.load(layers(sizes, seed=3)), rs.Box(-1.5, 1.5, 2)
    check(net, domain, np.random.default_rng(0).uniform(-1.5, 1.5, (2, 2)), norm)


@pytest.mark.slow
@settings(max_examples=12)
@given(networks(num_outputs=2, max_width=4), st.integers(0, 99), st.sampled_from(NORMS))
def test_degenerate_networks_from_generic_points(parameters, seed, norm):
    net, domain = rs.load(parameters), rs.Box(-2, 2, 2)
    check(net, domain, np.random.default_rng(seed).uniform(-2, 2, (1, 2)), norm)


@pytest.mark.slow
@settings(max_examples=9)
@given(
    networks(num_outputs=3, max_width=4),
    st.tuples(st.integers(-4, 4), st.integers(-4, 4)),
    st.sampled_from(NORMS),
)
def test_degenerate_networks_from_points_on_kinks_and_corners(parameters, point, norm):
    net, domain = rs.load(parameters), rs.Box(-2, 2, 2)
    check(net, domain, np.array([point]) / 2, norm)


@pytest.mark.slow
@settings(max_examples=6)
@given(networks(num_outputs=2, max_layers=2, max_width=4), st.integers(0, 99))
def test_least_distance_to_the_pieces_of_the_decision_boundary(parameters, seed):
    net, domain = rs.load(parameters), rs.Box(-2, 2, 2)
    x = np.random.default_rng(seed).uniform(-2, 2, 2)
    ends = rs.decision_boundary(rs.partition(net, domain)).ends
    # Where two outputs touch and the class is the same on both sides, a boundary is no change.
    across = 1e-6 * (ends[:, 1] - ends[:, 0])[:, ::-1] * (1, -1)
    sides = [net(ends.mean(axis=1) + way * across).numpy().argmax(axis=1) for way in (-1, 1)] if len(ends) else [0, 0]
    ends = ends[np.not_equal(*sides)] if len(ends) else ends
    for norm in NORMS:
        truth = min([to_segment(start - x, end - x, norm) for start, end in ends], default=np.inf)
        for budget in (None, SEARCHED):
            found = rs.robustness.decision_distance(net, x, norm=norm, domain=domain, budget=budget)
            assert found[DECISION_DISTANCE].value[0] == pytest.approx(truth, rel=1e-7, abs=1e-8)


def folded(sizes, seed):
    """Return a network with units twice, a dead unit, an opposite pair, and no biases in its hidden layers."""
    parameters = [(W.round(2), 0 * b) for W, b in layers(sizes, seed)]
    (W, b), (V, c) = parameters[:2]
    first = (np.concatenate([W, W[:1], -W[1:2], 0 * W[:1]]), np.zeros(len(b) + 3))
    second = (np.concatenate([V, V[:, :1], -V[:, 1:2], V[:, :1]], axis=1), c)
    return [first, second, *parameters[2:-1], (parameters[-1][0], layers(sizes, seed)[-1][1])]


@pytest.mark.few(1)
@pytest.mark.parametrize("norm", ["l1", "linf"])
@pytest.mark.parametrize(
    "parameters",
    [layers([1, 8, 6, 1], seed=3), layers([3, 5, 4, 3], seed=6), layers([8, 6, 5, 4], seed=2), folded([3, 3, 2, 3], 4)],
    ids=["line", "space", "eight", "folded"],
)
def test_as_far_as_a_mixed_integer_program_says(parameters, norm):
    net, box = rs.load(parameters), rs.Box(-1, 1, parameters[0][0].shape[1])
    x = np.random.default_rng(1).uniform(-0.9, 0.9, (2, net.num_inputs))
    found = rs.robustness.decision_distance(net, x, norm=norm, domain=box)
    truth = [
        by_milp(parameters, point, label, norm, box) for point, label in zip(x, found.details["classes"], strict=True)
    ]
    assert np.isfinite(truth).any()
    for row, point in enumerate(x):
        check_row(net, found, row, point)
    assert np.allclose(found[DECISION_DISTANCE].value, truth, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_l2_lies_between_the_other_norms_and_does_not_need_a_box_that_is_far_away():
    net = rs.load(layers([9, 8, 8, 3], seed=1))
    x = np.random.default_rng(3).uniform(-1, 1, (2, 9))
    l1, l2, linf = (rs.robustness.decision_distance(net, x, norm=norm)[DECISION_DISTANCE].value for norm in NORMS)
    boxed = rs.robustness.decision_distance(net, x, norm="l2", domain=rs.Box(-90, 90, 9))
    assert np.allclose(l2, boxed[DECISION_DISTANCE].value, rtol=1e-9)
    assert ((linf <= l2) & (l2 <= l1) & (l2 <= 3 * linf) & (l1 <= 3 * l2)).all()


@pytest.mark.parametrize("norm", NORMS)
def test_half_space_classifiers_have_their_closed_form(norm):
    rng = np.random.default_rng(1)
    weight, x = rng.normal(size=(2, 20)), rng.normal(size=(4, 20))
    margin = np.abs(x @ (weight[0] - weight[1]) + 0.3)
    truth = margin / Norm(norm).dual.size(weight[0] - weight[1])
    plain = rs.load([(weight, np.array([0.3, 0.0]))])
    assert np.allclose(rs.robustness.decision_distance(plain, x, norm=norm)[DECISION_DISTANCE].value, truth, rtol=1e-9)


@pytest.mark.parametrize("budget", [None, SEARCHED])
def test_the_absolute_value_from_its_kink_and_beside_it(budget):
    net = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [-2.0])])
    found = rs.robustness.decision_distance(net, [[0.0], [0.5], [-3.0], [2.0]], norm="linf", budget=budget)
    assert found[DECISION_DISTANCE].value.tolist() == [2.0, 1.5, 1.0, 0.0]
    assert found.details["adversarial"].tolist() == [1, 1, 0, 1]
    assert found.finding(DECISION_DISTANCE, 1).claim == "EXACT"


@pytest.mark.few(2)
@pytest.mark.parametrize(("domain", "budget"), [(None, None), (rs.Box(-9, 9, 1), None), (rs.Box(-9, 9, 1), SEARCHED)])
def test_outputs_that_touch_do_not_count_and_equal_ones_go_to_the_lower(domain, budget):
    # 0 and -|x|: they touch at 0.
    touching = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[0.0, 0.0], [-1.0, -1.0]], [0.0, 0.0])])
    found = rs.robustness.decision_distance(touching, [[1.0]], norm="l2", domain=domain, budget=budget)
    assert found[DECISION_DISTANCE].value[0] == np.inf
    assert found.finding(DECISION_DISTANCE, 0).claim == "EXACT"
    # 0 and relu(x): equal where x < 0, where the lower wins.
    equal = rs.load([([[1.0]], [0.0]), ([[0.0], [1.0]], [0.0, 0.0])])
    found = rs.robustness.decision_distance(equal, [[3.0], [-3.0]], norm="l2", domain=domain, budget=budget)
    assert found[DECISION_DISTANCE].value == pytest.approx([3.0, 3.0], rel=1e-12)


@pytest.mark.parametrize("norm", NORMS)
def test_outputs_that_touch_right_before_they_cross(norm):
    # -|x - 1| as far as 1 + width, and from there upwards: the crossing is beyond, however near.
    width = 5e-8
    net = rs.load([([[1.0]] * 3, [5.0, -1.0, -1.0 - width]), ([[1.0, -2.0, 11.0]], [-6.0])])
    found = rs.robustness.decision_distance(net, [[0.0]], norm=norm)
    assert found[DECISION_DISTANCE].is_exact[0]
    assert found[DECISION_DISTANCE].value[0] - 1 == pytest.approx(1.1 * width, rel=1e-3)
    assert found[DECISION_DISTANCE].lower[0] <= 1 + 1.1 * width + 1e-12


def test_all_cuts_through_one_point_are_not_told_apart_there():
    rng = np.random.default_rng(0)
    net = rs.load([(rng.normal(size=(8, 3)), np.zeros(8)), (rng.normal(size=(2, 8)), np.array([9.0, 0.0]))])
    found = rs.robustness.decision_distance(net, [[0.1, 0.2, 0.3]], norm="l2")
    assert found.details["num_branches"][0] <= 4 * (2 + 7 * 8)  # all cells of 8 planes through a point of space
    assert found[DECISION_DISTANCE].is_exact[0]


def many_pieces():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 8), nn.Hardtanh(), nn.Unflatten(1, (2, 4)), nn.MaxPool1d(2), nn.Flatten(),
                         nn.Linear(4, 3)).double()  # fmt: skip


@pytest.mark.few(1)
@pytest.mark.parametrize("norm", NORMS)
def test_max_gates_and_many_pieces(norm):
    net = rs.load(many_pieces(), input_shape=(2,))
    found = check(net, rs.Box(-6, 6, 2), np.random.default_rng(0).uniform(-3, 3, (1, 2)), norm)
    assert np.isfinite(found[DECISION_DISTANCE].value).any()


@pytest.mark.slow
def test_polyhedra_and_slices_as_domains():
    net = rs.load(layers([3, 6, 5, 2], seed=4))
    triangle = rs.Polyhedron([[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]], [1.0, 1.0, 1.0])
    plane = rs.Slice([0.1, 0.2, 0.3], [[1.0, 0.0, 1.0], [0.0, 2.0, 1.0]], triangle)
    points = np.array([[0.2, 0.1], [-1.0, -0.5]])  # the second on the window's boundary
    found = check(net.restrict(plane), triangle, points, "l2")
    same = rs.robustness.decision_distance(net, points, norm="l2", domain=plane)
    assert np.allclose(same[DECISION_DISTANCE].value, found[DECISION_DISTANCE].value, rtol=1e-9)
    assert "slice" in same.finding(DECISION_DISTANCE, 0).domain or "plane" in same.finding(DECISION_DISTANCE, 0).domain


@pytest.mark.few(1)
@pytest.mark.parametrize("norm", NORMS)
def test_a_budget_leaves_the_frontier_and_the_attack(norm):
    net = rs.load(layers([6, 12, 10, 3], seed=1))
    x = np.random.default_rng(2).normal(size=(1, 6))
    whole = rs.robustness.decision_distance(net, x, norm=norm)
    truth = whole[DECISION_DISTANCE].value[0]
    assert whole.details["num_branches"][0] > 9
    frontiers = []
    for branches in (0, 1, 5, 9):
        part = rs.robustness.decision_distance(net, x, norm=norm, budget=rs.Budget(regions=branches))
        finding = part.finding(DECISION_DISTANCE, 0)
        assert finding.claim == "LOWER"
        assert finding.interval[0] == finding.value <= truth <= finding.interval[1] < 2 * truth
        assert part.details["stopped"].tolist() == [f"budget of {branches} regions"]
        assert part.details["adversarial"][0] >= 0
        frontiers.append(finding.value)
    assert frontiers == sorted(frontiers)
    assert frontiers[-1] > 0
    at_once = rs.robustness.decision_distance(net, x, norm=norm, budget=rs.Budget(seconds=0.0))
    assert at_once.finding(DECISION_DISTANCE, 0).claim == "LOWER"


@pytest.mark.slow
@pytest.mark.parametrize("after", [0, 9])
def test_an_interruption_leaves_what_is_known(monkeypatch, after):
    net = rs.load(layers([4, 12, 10, 3], seed=1))
    x = np.random.default_rng(2).normal(size=(2, 4))
    whole = rs.robustness.decision_distance(net, x, norm="l2")
    calls, enclose = iter(range(100)), searching.enclose

    def interrupted(*arguments, **settings):
        if next(calls) == after:
            raise KeyboardInterrupt
        return enclose(*arguments, **settings)

    monkeypatch.setattr(searching, "enclose", interrupted)
    found = rs.robustness.decision_distance(net, x, norm="l2")
    assert found.status == (Status.DONE, Status.NOT_REACHED)
    assert found.details["stopped"].tolist() == ["interrupted", ""]
    assert found.stopped == "interrupted"
    assert found.finding(DECISION_DISTANCE, 0).claim == "LOWER"
    assert found[DECISION_DISTANCE].lower[0] <= whole[DECISION_DISTANCE].value[0] <= found[DECISION_DISTANCE].upper[0]


@pytest.mark.slow
@pytest.mark.parametrize(("norm", "domain"), [("l2", None), ("linf", rs.Box(-1, 1, 2))])
def test_without_an_upper_bound_from_the_attack(monkeypatch, norm, domain):
    net = rs.load(layers([2, 4, 3, 2], seed=3))
    x = np.random.default_rng(1).uniform(-1, 1, (2, 2))
    usual = rs.robustness.decision_distance(net, x, norm=norm, domain=domain, budget=SEARCHED)
    monkeypatch.setattr(searching, "nearby_change", lambda view, until: None)
    found = rs.robustness.decision_distance(net, x, norm=norm, domain=domain, budget=SEARCHED)
    assert np.allclose(found[DECISION_DISTANCE].value, usual[DECISION_DISTANCE].value, rtol=1e-7)
    assert found[DECISION_DISTANCE].claims == usual[DECISION_DISTANCE].claims


@pytest.mark.parametrize(("domain", "budget"), [(None, None), (rs.Box(-1, 1, 2), None), (rs.Box(-1, 1, 2), SEARCHED)])
def test_a_class_that_never_wins_is_nowhere(domain, budget):
    (W, b), _ = layers([2, 4, 2], seed=0)
    net = rs.load([(W, b), (np.array([[1.0] * 4, [0.0] * 4]), np.array([1.0, 0.0]))])
    found = rs.robustness.decision_distance(net, [[0.3, 0.2]], norm="l2", domain=domain, budget=budget)
    finding = found.finding(DECISION_DISTANCE)
    if domain is not None:
        assert str(finding) == "inf (EXACT)"
    else:  # that rows contradict each other is proved but for their rounding, which could matter very far away
        assert (finding.claim, finding.interval) == ("LOWER", (finding.value, np.inf))
        assert finding.value > 1e9
    assert found.details["adversarial"][0] == -1


def test_bad_input():
    net = rs.load(layers([2, 3, 2]))
    for bad, message in (
        ({"norm": "l2", "domain": rs.Box(5, 6, 2)}, "outside"),
        ({"norm": "l2", "domain": rs.Box(-1, 1, 3)}, "lies in 3 dimensions"),
        ({"norm": "l2", "domain": rs.Polyhedron([[1.0, 0.0]], [1.0], [[0.0, 1.0]], [0.0])}, "equations"),
    ):
        with pytest.raises(rs.errors.InputError, match=message):
            rs.robustness.decision_distance(net, [[0.0, 0.0]], **bad)
    with pytest.raises(rs.errors.InputError):
        rs.robustness.decision_distance(net, [[np.nan, 0.0]], norm="l2")
    flat = rs.Polyhedron([[1.0, 0.0], [-1.0, 0.0]], [0.0, 0.0])
    with pytest.raises(rs.errors.InputError, match="norm must be"):
        rs.robustness.decision_distance(net, [[0.0, 0.0]], norm="l0")
    with pytest.raises(rs.errors.DegenerateGeometryError, match="interior"):
        rs.robustness.decision_distance(net, [[0.0, 0.0]], norm="l2", domain=flat)


class ThroughBytes(ThreadPoolExecutor):
    """An executor that hands on what survives being written and read, as to processes; the last tasks first."""

    def __init__(self):
        super().__init__(2)
        self.number = 0

    def submit(self, function, /, *arguments):
        self.number += 1
        copied = pickle.loads(pickle.dumps((function, arguments)))
        return super().submit(lambda: pickle.loads(pickle.dumps(copied[0](*copied[1]))))


@pytest.mark.parametrize("ask", [rs.robustness.decision_distance, rs.robustness.decision_distance_within])
def test_points_are_shared_by_an_executor(ask):
    net, domain = rs.load(layers([2, 8, 6, 3], seed=3)), rs.Box(-1.5, 1.5, 2)
    x = np.random.default_rng(0).uniform(-1.5, 1.5, (5, 2))
    alone, told = ask(net, x, norm="l2", domain=domain), []
    with ThroughBytes() as executor:
        found = ask(net, x, norm="l2", domain=domain, executor=executor, progress=told.append)
    assert (executor.number, told[-1]) == (5, 1)
    (name,) = found
    assert found[name].value == pytest.approx(alone[name].value, abs=1e-9)
    assert [str(found.finding(name, row).claim) for row in range(5)] == ["EXACT"] * 5
    assert (found.details["classes"] == alone.details["classes"]).all()


@pytest.mark.slow
def test_ctrl_c_leaves_the_points_before_and_work_goes_on(tmp_path, hears_ctrl_c):
    net = rs.load(layers([2, 8, 6, 3], seed=3))
    x = np.random.default_rng(0).uniform(-1.5, 1.5, (5, 2))
    with ThroughBytes() as executor:
        found = rs.robustness.decision_distance(
            net,
            x,
            norm="l2",
            executor=executor,
            progress=lambda share: share == 0.4 and raise_signal(SIGINT),
            checkpoint=tmp_path,
        )
    assert found.stopped == "interrupted"
    assert list(found.status)[:2] == [Status.DONE] * 2
    assert list(found.status)[2:] == [Status.NOT_REACHED] * 3
    assert len(list(tmp_path.glob("samples-*"))) == 2
    with ThroughBytes() as executor:
        found = rs.robustness.decision_distance(net, x, norm="l2", executor=executor, checkpoint=tmp_path)
        assert executor.number == 3
    alone = rs.robustness.decision_distance(net, x, norm="l2")
    assert found[DECISION_DISTANCE].value == pytest.approx(alone[DECISION_DISTANCE].value, abs=1e-9)
    told = []
    again = rs.robustness.decision_distance(net, x, norm="l2", checkpoint=tmp_path, progress=told.append)
    assert again.details["seconds"].tolist() == found.details["seconds"].tolist()
    for changed in ({"norm": "l1"}, {"norm": "l2", "domain": rs.Box(-2, 2, 2)}):
        other = rs.robustness.decision_distance(net, x[:1], **changed, checkpoint=tmp_path)
        assert other.details["seconds"][0] != found.details["seconds"][0]
