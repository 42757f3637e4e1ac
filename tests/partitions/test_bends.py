"""Values as combinations of few rows: the numbers, signs, regions and claims of vertices evaluated one by one."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from importlib import import_module
from inspect import unwrap
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.geometry.cutting.complexes import from_polygon
from reluscope.geometry.polyhedra.window_shapes import RationalCorners
from reluscope.networks.evaluation.measured_rounding import MeasuredRounding
from reluscope.networks.graph.choosing_gates import Max, TopK
from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.wide_numbers import Wide, WideNumbers
from reluscope.partitions.ask.region_search import RegionSearch, cells_found
from reluscope.partitions.complexes import bends, codes_together, incidence, open_bends
from reluscope.partitions.complexes.bends import SharedRanges, combined, fewer_rows, first_rows, taken
from reluscope.partitions.complexes.chunks import Chunk, Resolution
from reluscope.partitions.doubts import shown_regions
from reluscope.partitions.doubts.walk_rounding import rounding_of


class Sum(nn.Module):
    def __init__(self, *branches: nn.Module) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        return sum(branch(x) for branch in self.branches)


@cache
def residual() -> rs.Network:
    """Convolutions, batch norm, a shortcut, a pool that overlaps over many zeros and padding, ReLU6 and leaky units."""
    torch.manual_seed(4)
    body = [nn.Conv2d(2, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.Conv2d(6, 2, 3, padding=1)]
    layers = [Sum(nn.Sequential(*body), nn.Identity()), nn.ReLU(), nn.MaxPool2d(3, 2, 1), nn.Conv2d(2, 4, 2)]
    ends = [nn.ReLU6(), nn.Flatten(), nn.Linear(16, 12), nn.LeakyReLU(0.1), nn.Linear(12, 3)]
    return rs.load(nn.Sequential(*layers, *ends).eval(), input_shape=(2, 6, 6))


@cache
def plane() -> rs.Plane:
    return rs.Plane(*np.random.default_rng(0).random((3, 72)), window=rs.Box(-0.5, 0.5, 2))


@pytest.fixture(scope="module")
def plain() -> rs.Partition:
    """Vertex by vertex."""
    assert not bends.pay(residual())
    return rs.partition(residual(), plane())


@pytest.fixture
def asked(plain, monkeypatch):
    """Let all networks be combined, and return the chunks that were opened."""
    monkeypatch.setattr(bends, "pay", lambda network: True)
    monkeypatch.setattr(import_module("reluscope.partitions.engines.few_dimensions"), "MIN_BYTES", 0)
    monkeypatch.setattr(import_module("reluscope.partitions.engines.few_dimensions"), "OUTPUTS", 0)
    opened, begin = [], incidence.open_bends

    def told(chunk, stage, resolution):
        opened.append((stage, begin(chunk, stage, resolution)))
        return opened[-1][1]

    monkeypatch.setattr(incidence, "open_bends", told)
    return opened


def words_of(part):
    return {word.tobytes() for word in part.codes.words}


@pytest.mark.slow
def test_regions_values_and_outputs_are_those_of_vertices_evaluated_one_by_one(asked, plain):
    part, truth = rs.partition(residual(), plane()), plain
    assert part.claim is truth.claim is rs.Claim.EXACT
    assert len(part) > 100
    assert words_of(part) == words_of(truth)
    np.testing.assert_allclose(np.sort(part.volumes()), np.sort(truth.volumes()), rtol=0, atol=1e-12)
    np.testing.assert_allclose(part.outputs, residual()(plane().lift(part.vertices)), rtol=0, atol=1e-12)
    assert len(asked) == len(residual().gates)
    assert max(chunk.shares.shape[1] for _, chunk in asked) < len(part.vertices) / 3
    for stage, chunk in asked:
        points = residual().points(plane().lift(chunk.points))
        exact = list(carry(residual(), WideNumbers(), Wide.exactly(points)))[stage.index]
        unit, pre = chunk.opened.arrived.units, chunk.opened.pre
        is_there = np.isfinite(pre)
        high, low = (np.where(is_there, one[:, unit].numpy(), 0.0) for one in (exact.high, exact.low))
        away = (high - np.where(is_there, pre, 0.0)) + low
        # What lifting a vertex rounds comes on top.
        assert (np.abs(away).max(axis=0) <= chunk.opened.error + 1e-14).all()
        assert 0 < len(unit) < 0.9 * stage.gate.num_units or isinstance(stage.gate, Max)


@pytest.mark.slow
def test_chunks_that_are_spread_need_fewer_rows(asked, plain, monkeypatch):
    monkeypatch.setattr(incidence, "ROW_BYTES", 2**15)
    part = rs.partition(residual(), plane())
    assert words_of(part) == words_of(plain)
    assert part.claim is rs.Claim.EXACT
    np.testing.assert_allclose(part.volumes().sum(), plain.volumes().sum(), rtol=1e-12)
    last = [chunk for stage, chunk in asked if stage.index == len(residual().gates) - 1]
    assert len(last) > 3
    assert all(chunk.shares.shape[1] <= len(chunk.points) for _, chunk in asked)


@pytest.mark.slow
def test_what_is_measured_is_said_of_combinations_too(asked, monkeypatch):
    """A network whose proofs end: the same gates are proved, the same regions are there."""
    monkeypatch.setattr(shown_regions, "MULTIPLICATIONS", 0)
    draw, layers = np.random.default_rng(0), []
    for before in (2, *[22] * 39):
        layers.append((draw.normal(size=(22, before)) * np.sqrt(2 / before), 0.1 * draw.normal(size=22)))
    net, square = rs.load([*layers, (np.ones((1, 22)), np.zeros(1))]), rs.Box(-0.025, 0.025, 2)
    rounding = rounding_of(net, square, rs.Tolerance())
    part = cells_found(net, square, asked=RegionSearch(rounding=rounding))
    assert len(asked) == 40
    monkeypatch.setattr(import_module("reluscope.partitions.complexes.open_bends"), "FEW_UNPROVED", -1)
    hasty = cells_found(net, square, asked=RegionSearch(rounding=rounding))
    monkeypatch.setattr(bends, "pay", lambda network: False)
    truth = cells_found(net, square, asked=RegionSearch(rounding=rounding))
    assert words_of(part) == words_of(hasty) == words_of(truth)
    assert 10 < truth.work["gates_proved"] < 40
    assert part.work["gates_proved"] == truth.work["gates_proved"]
    assert hasty.work["gates_proved"] <= part.work["gates_proved"]
    assert min(part.num_undecided, hasty.num_undecided, truth.num_undecided) > 0


def rows_and_shares(number=5, size=60, points=9):
    draw = np.random.default_rng(1)
    rows = torch.from_numpy(draw.normal(size=(number, size)) * np.array([1.0, *[0.3] * (number - 1)])[:, None])
    return rows, np.column_stack([np.ones(points), draw.random((points, number - 1))])


def test_units_that_are_not_looked_at_are_on_one_piece():
    rows, shares = rows_and_shares()
    rows[:, 7] = 0.0
    values = combined(rows, shares)
    for gate in gates():
        ranges, error = SharedRanges(gate, rows, shares), np.zeros(gate.candidates(values).shape[1:])
        looked, pieces = ranges.open_units(error, 0.0, 0.0), gate.pieces(gate.candidates(values)).numpy()
        steady = (pieces == ranges.steady()).all(axis=0)
        assert steady[~looked].all()
        assert 0 < (~looked).sum() < len(looked)
        assert (~steady).any()
        assert ranges.open_units(error + 10.0, 0.0, 0.0)[~looked].any()
        assert ranges.open_units(error, 0.0, 1.0)[~looked].any()


def gates():
    builder = rs.load(nn.Sequential(nn.ReLU6(), nn.MaxPool1d(3, 2, 1)), input_shape=(1, 60))
    return [stage.gate for stage in builder.stages]


def test_equal_constants_are_settled_without_a_look():
    rows, shares = rows_and_shares()
    rows[:, 20:40] = 0.0
    pool = gates()[1]
    inside = np.flatnonzero(((pool.index >= 20) & (pool.index < 40)).all(dim=1))
    looked = SharedRanges(pool, rows, shares).open_units(np.zeros(pool.index.shape), 0.0, 1e-6)
    assert len(inside) > 5
    assert not looked[inside].any()
    assert SharedRanges(pool, rows, shares).steady()[inside].max() == 0


def test_first_rows_are_those_of_an_affine_function():
    points = np.random.default_rng(2).normal(size=(7, 2)) * [1.0, 1e-6] + 5
    inputs = torch.from_numpy(points @ np.random.default_rng(3).normal(size=(2, 30)) + 1.0)
    rows, shares, errors = first_rows(inputs, points)
    assert rows.shape == (3, 30)
    assert ((combined(rows, shares) - inputs).abs() <= errors).all()
    assert errors.max() < 1e-14 * float(inputs.abs().max())
    moved = inputs.clone()
    moved[4, 3] += 1e-3
    assert first_rows(moved, points)[2][0, 3] > 1e-5


def test_rows_that_others_make_are_left_out_and_what_is_lost_is_an_error():
    shares = rows_and_shares(3, points=12)[1]
    draw = np.random.default_rng(5)
    made = shares @ draw.normal(size=(3, 6))  # affine on all points, as of units that do not bend
    bent = shares @ draw.normal(size=(3, 1))
    bent = np.maximum(bent - np.median(bent), 0)
    every = np.column_stack([shares, made, bent])
    values = {0: torch.from_numpy(draw.normal(size=(10, 60))), 3: torch.from_numpy(draw.normal(size=(4, 5)))}
    errors = {0: torch.zeros(1, 60).double(), 3: torch.zeros(1, 5).double()}
    known = {at: error + 1.0 for at, error in errors.items()}
    for noise, most in ((0.0, 1e-13), (1e-15, 1e-13)):
        every[:, 5] += noise * draw.normal(size=12)
        fewer, shares_now, off = fewer_rows(values, every, errors)
        assert shares_now.shape == (12, 4)
        for at in (0, 3):
            away = (combined(fewer[at], shares_now) - combined(values[at], every)).abs().amax(0)
            assert (away <= off[at][0]).all()
            assert fewer_rows(values, every, known)[2][at].min() >= 1.0
            assert off[at].max() < most * float(taken(values[at], every).max())
    short = {at: value[:4] for at, value in values.items()}
    assert fewer_rows(short, every[:, [0, 1, 2, 9]], errors)[0] is short


def test_points_go_through_together_unless_their_rows_are_too_many(monkeypatch):
    network, points = rs.load(rs.testing.default_network([2, 30, 30, 1])), np.random.default_rng(7).random((40, 2))
    passed, sizes = codes_together._passed, []
    monkeypatch.setattr(
        codes_together, "_passed", lambda net, group, unit: sizes.append(len(group.rows)) or passed(net, group, unit)
    )
    codes_together.codes_together(network, points)
    assert sizes == [40, 40]
    monkeypatch.setattr(codes_together, "MOST_BYTES", 0)
    sizes.clear()
    codes_together.codes_together(network, points)
    assert sizes == [10] * 8


@pytest.mark.few(1)
@pytest.mark.parametrize("number", [1, 2, 3, 300])
def test_codes_of_many_points_are_those_of_each(number, monkeypatch):
    network, points = residual().restrict(plane()), np.random.default_rng(7).uniform(-0.4, 0.4, size=(number, 2))
    monkeypatch.setattr(codes_together, "MOST_BYTES", 2**15)
    monkeypatch.setattr(codes_together, "MOST_POINTS", 200)
    codes, doubtful = codes_together.codes_together(network, points)
    np.testing.assert_array_equal(codes.words, network.codes(points).words)
    assert not doubtful.any()
    flat = points * [1.0, 0.0]
    found, doubtful = codes_together.codes_together(network, flat)
    np.testing.assert_array_equal(found.words, network.codes(flat).words)
    assert codes_together.codes_together(network, points, tolerance=rs.Tolerance(rounding=1e16))[1].all()


def test_points_on_a_kink_are_in_doubt():
    """One of the points lies on the kink of a unit, up to rounding."""
    network = rs.load([(np.array([[1.0, 0.1], [0.3, 1.0], [0.0, 0.0]]), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
    points = np.random.default_rng(8).uniform(1, 2, size=(20, 2))
    points[3] = [-0.1 * points[3, 1] * (1 + 2**-48), points[3, 1]]
    assert np.flatnonzero(codes_together.codes_together(network, points)[1]).tolist() == [3]


def test_behind_a_gate_rows_are_those_of_the_pieces_that_cells_have():
    """Of three units that were looked at one is on the other piece than at the middle, and one bends."""
    rows, stage = rows_and_shares(3, size=4)[0], rs.load(nn.ReLU(), input_shape=(4,)).stages[0]
    arrived = bends.Arrived(rows, np.array([0, 1, 3]), np.zeros(4, dtype=np.uint8), np.ones(4), np.zeros(4))
    pieces, pre = np.array([[1, 0, 0], [1, 1, 0]], dtype=np.uint8), np.array([[1.0, -2.0, -1.0], [2.0, 3.0, -1.0]])
    found, new = bends.behind(stage, arrived, pieces, pre)
    expected = torch.zeros(4, 4).double()
    expected[:3, 0], expected[3, 1] = rows[:, 0], 1.0
    assert torch.equal(found, expected)
    assert new.tolist() == [[0.0], [3.0]]
    clamp = rs.load(nn.ReLU6(), input_shape=(4,)).stages[0]
    above = bends.Arrived(rows, np.zeros(0, dtype=np.int64), np.full(4, 2, dtype=np.uint8), np.ones(4), np.zeros(4))
    assert bends.behind(clamp, above, np.zeros((1, 0), dtype=np.uint8), np.zeros((2, 0)))[0].tolist() == [
        [6.0] * 4, [0.0] * 4, [0.0] * 4,
    ]  # fmt: skip
    table = bends.table_in_use(stage.gate, arrived, pieces)
    assert [sorted(set(column)) for column in table.T.tolist()] == [[1], [0, 1], [0], [0]]


def test_what_proofs_leave_open_is_seen_where_measured_errors_do_not(monkeypatch):
    """A pre-activation of 0.25, known up to 0.35 by proof and up to 0.175 as measured; and one of 2."""
    box = rs.Box([1.0, 0.0], [1.0001, 0.0001])
    for bias, few, units, number in ((-0.75, 9, [0], 4), (-0.75, -1, [], 4), (1.0, 9, [], 0)):
        monkeypatch.setattr(open_bends, "FEW_UNPROVED", few)
        network = rs.load([(np.array([[1.0, 0.0]]), np.array([bias])), (np.ones((1, 1)), np.zeros(1))])
        corners = RationalCorners.of_box(box)
        measured = MeasuredRounding((0.0,), 0.0, 1.0)
        start = Chunk.start(
            network, from_polygon(4), corners, network.points(corners.points), rounding=measured, combines=True
        )
        chunk = open_bends.open_bends(start, network.stages[0], Resolution(1e-12, 0.1))
        assert chunk.opened.arrived.units.tolist() == units
        assert chunk.opened.num_unproved == number
        assert chunk.is_measured is (number > 0)


@pytest.mark.parametrize("gate", [nn.ReLU(), nn.MaxPool1d(2)])
def test_all_points_are_in_doubt_if_a_unit_is_that_nobody_looked_at(monkeypatch, gate):
    """Errors of early gates grow beyond what counts as clear, whether or not another point was in doubt before."""
    points = np.array([[1.0, 2.0], [3.0, 2.5]])
    for large, doubt in ((2.0**10, False), (2.0**49, True)):  # which cancel but for 1
        weight = np.array([[large, 0.0], [1.0, 0.0], [large, 0.0], [0.0, 0.0]])
        first, second = nn.Linear(2, 4), nn.Linear(4, 2)
        with torch.no_grad():
            first.weight[:], first.bias[:] = torch.from_numpy(weight), torch.tensor([0.0, 1.0, 0.0, 1.0])
            second.weight[:] = torch.tensor([[1.0, 1.0, -1.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
            second.bias[:] = 0.0
        shape = [nn.Unflatten(1, (1, 2)), gate, nn.Flatten()] if isinstance(gate, nn.MaxPool1d) else [gate]
        net = rs.load(nn.Sequential(first, nn.ReLU(), second, *shape).double(), input_shape=(2,))
        monkeypatch.setattr(codes_together, "CLEAR", 2.0**-45)
        assert codes_together.codes_together(net, points)[1].tolist() == [doubt] * 2


def test_only_networks_without_jumps_are_combined(monkeypatch):
    """One gate that jumps, or keeps the largest, is enough; maxima are continuous."""
    monkeypatch.setattr(bends, "LEAST_UNITS", 5)
    monkeypatch.setattr(bends, "LEAST_PRODUCTS", 7)
    relu = rs.load(nn.ReLU(), input_shape=(4,)).stages[0].gate
    step = replace(relu, intercepts=torch.tensor([[0.0], [1.0]]).double())
    top = TopK(
        **{name: getattr(relu, name) for name in ("name", "shape", "kind", "breakpoints", "slopes", "intercepts")},
        groups=torch.arange(4)[None], k=2,
    )  # fmt: skip
    pool = gates()[1]
    for several, units, products, pays in (
        ([relu, pool, relu], 5, 7, True),
        ([relu, step, relu], 5, 7, False),
        ([relu, top, relu], 5, 7, False),
        ([top], 5, 7, False),
        ([relu], 4, 7, False),
        ([relu], 5, 6, False),
    ):
        stages = [SimpleNamespace(gate=gate, leg=SimpleNamespace(products=0)) for gate in several]
        stages[-1].leg.products = products
        assert unwrap(bends.pay)(SimpleNamespace(num_units=units, stages=stages)) == pays


@pytest.mark.parametrize("seed", range(5))
def test_errors_of_first_rows_are_those_of_fractions(seed):
    """At points that lie in a few directions of very different lengths, and of an affine function with rounding."""
    generator = np.random.default_rng(seed)
    points = generator.normal(size=(6, 2)) * 10.0 ** generator.integers(-9, 3, 2) + generator.normal(size=2) * 100
    inputs = torch.from_numpy(points @ generator.normal(size=(2, 40)) + 10.0 ** generator.integers(-3, 4))
    rows, shares, errors = first_rows(inputs, points)
    for vertex, own in enumerate(shares.tolist()):
        for place in range(inputs.shape[1]):
            made = sum(Fraction(share) * Fraction(row) for share, row in zip(own, rows[:, place].tolist(), strict=True))
            assert abs(made - Fraction(inputs[vertex, place].item())) <= Fraction(errors[0, place].item())


def test_functions_that_are_exact_have_the_rounding_of_their_combinations():
    inputs, points = torch.tensor([[1.0], [3.0], [2.0]], dtype=torch.float64), np.array([[0.0], [2.0], [1.0]])
    rows, shares, errors = first_rows(inputs, points)
    assert torch.equal(combined(rows, shares), inputs)
    assert errors.tolist() == [[3 * 2.0**-52]]


def test_units_are_open_up_to_the_rounding_of_a_sum_with_their_threshold():
    gate, rows = gates()[0], torch.zeros((1, 60), dtype=torch.float64)
    for gap, is_open in ((2.0**-20, True), (2.0**-15, False)):
        rows[0] = 6.0 - gap
        ranges = SharedRanges(gate, rows, np.ones((3, 1)))
        found = ranges.open_units(np.zeros(60), 2.0**-19, 0.0)
        assert found.tolist() == [is_open] * 60


@pytest.mark.parametrize(("share", "is_open"), [(0.25, False), (0.375, True)])
def test_units_are_open_up_to_a_share_of_the_largest_values_that_they_may_see(share, is_open):
    """Values between 4 and 12 above a threshold: its distance to them is a third of the largest one."""
    rows = torch.tensor([[10.0], [8.0]], dtype=torch.float64).repeat(1, 60)
    ranges = SharedRanges(gates()[0], rows, np.array([[1.0, 0.0], [1.0, 1.0]]))
    assert ranges.open_units(np.zeros(60), 0.0, share).tolist() == [is_open] * 60
