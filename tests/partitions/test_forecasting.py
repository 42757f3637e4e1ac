"""Forecasts cover the truth on networks that can be counted; windows and coarse partitions finish within budgets."""

import time
from inspect import unwrap
from itertools import islice
from math import inf
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.stats
import torch

import reluscope as rs
from reluscope.effort import Effort
from reluscope.errors import DegenerateGeometryError, InputError, ShapeError
from reluscope.findings import Column, Findings
from reluscope.findings.derived import lowest_mean
from reluscope.partitions.ask import finishing_windows, forecast_rounds, forecasting
from reluscope.partitions.ask import region_density as region_density_module
from reluscope.partitions.ask.finishing_windows import _growth_of
from reluscope.partitions.ask.forecast_rounds import ForecastEffort, Round, _count_lowest, rounds
from reluscope.partitions.ask.region_density import RegionDensity, region_density
from reluscope.partitions.ask.region_search import cells_found
from reluscope.partitions.ask.sub_domains import SubDomains
from reluscope.testing import default_network

SQUARE = rs.Box(-1, 1, 2)


def _net(*sizes: int, seed: int = 0) -> rs.Network:
    return rs.load(default_network(sizes, seed))


def _triangle() -> rs.Polyhedron:
    return rs.Polyhedron([[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]], [0.5, 0.5, 1.0])


def _slice() -> rs.Slice:
    draw = np.random.default_rng(3)
    return rs.Slice(draw.normal(size=5), draw.normal(size=(2, 5)), rs.Box(-1, 2, 2))


def _name(given: object) -> str:
    return given.describe() if isinstance(given, rs.Box | rs.Polyhedron | rs.Slice) else "-".join(map(str, given))


def _crowded(size: float, number: int = 40) -> rs.Network:
    """Return a network all of whose kinks lie within about so much of one point."""
    draw, corner = np.random.default_rng(0), np.array([0.9, 0.8])
    directions = draw.normal(size=(number, 2))
    bias = -directions @ corner + size * draw.normal(size=number)
    return rs.load([(directions, bias), (np.ones((1, number)), np.zeros(1))])


DOMAINS = [
    ((2, 12, 12, 1), SQUARE),
    ((2, 12, 12, 1), _triangle()),
    ((5, 12, 12, 1), _slice()),
    ((1, 30, 30, 1), rs.Box(-3, 3, 1)),
    ((3, 8, 8, 1), rs.Box(-1, 1, 3)),
]


@pytest.mark.few(1)
@pytest.mark.parametrize(("sizes", "domain"), DOMAINS, ids=_name)
def test_windows_that_fill_a_domain_count_each_region_once(sizes: tuple[int, ...], domain: rs.Box) -> None:
    """The sum over all windows of a grid of the cells that stand for a region is the number of regions."""
    net, where = _net(*sizes), SubDomains.of(domain)
    dim, number = len(where.low), 5
    direction = np.random.default_rng(0).standard_normal(dim)
    sides = (where.high - where.low) / number
    total = 0
    for place in np.ndindex(*[number] * dim):
        low = where.low + np.array(place) * sides
        inside = where.inside(low, low + sides)
        if inside is not None:
            total += _count_lowest(cells_found(net, inside), direction, low, low + sides, where)
    assert total == len(rs.partition(net, domain))


@pytest.mark.few(1)
@pytest.mark.parametrize(("sizes", "domain"), DOMAINS, ids=_name)
def test_rounds_of_windows_have_the_number_as_their_mean(sizes: tuple[int, ...], domain: rs.Box) -> None:
    """The mean of first rounds, of the smallest windows, is the truth, and most intervals hold it."""
    net = _net(*sizes)
    truth = len(rs.partition(net, domain))
    found = [next(rounds(net, domain, ForecastEffort(32, inf, inf), seed)) for seed in range(24)]
    values = np.array([float((one.counts * one.weights).mean()) for one in found])
    assert abs(values.mean() - truth) <= 4 * values.std(ddof=1) / len(found) ** 0.5
    assert np.mean([one.interval[0] <= truth <= one.interval[1] for one in found]) >= 0.75


def test_small_domains_are_partitioned() -> None:
    net = _net(2, 16, 16, 1)
    found = rs.forecast(net, SQUARE)
    regions, seconds = found.finding("forecast_regions"), found.finding("forecast_seconds")
    assert (regions.value, regions.claim) == (len(rs.partition(net, SQUARE)), rs.Claim.EXACT)
    assert (seconds.claim, seconds.interval) == (rs.Claim.ESTIMATE, None)


@pytest.mark.slow
def test_rounds_of_larger_windows_hold_the_truth() -> None:
    net = _net(2, 48, 48, 48, 1)
    truth = len(rs.partition(net, rs.Box(-3, 3, 2)))
    found = [
        list(islice(rounds(net, rs.Box(-3, 3, 2), ForecastEffort(128, inf, inf), seed), 2))[1] for seed in range(6)
    ]
    assert np.mean([one.interval[0] <= truth <= one.interval[1] for one in found]) >= 0.7
    assert np.mean([truth / 2 < one.regions < 2 * truth for one in found]) >= 0.8
    assert np.mean([one.num_cells for one in found]) < truth


def test_what_takes_longer_is_an_estimate() -> None:
    net = _net(2, 256, 256, 256, 256, 1)
    found = rs.forecast(net, rs.Box(-5, 5, 2), seconds=0.1)
    regions, seconds = (found.finding(name) for name in ("forecast_regions", "forecast_seconds"))
    assert {regions.claim, seconds.claim} == {rs.Claim.ESTIMATE}
    assert regions.interval is not None
    assert regions.interval[0] <= regions.value <= regions.interval[1]
    assert (seconds.interval, seconds.value > 0) == (None, True)


@pytest.mark.slow
def test_forecasts_do_not_depend_on_the_time(monkeypatch) -> None:
    """With clocks that run at other speeds; seconds are told, and are no part of the number."""
    net, box, found = _net(2, 64, 64, 1), rs.Box(-4, 4, 2), []
    monkeypatch.setattr(forecast_rounds, "EFFORT", 0.02)
    for speed in (1e-3, 10.0):
        began = time.monotonic()
        clock = SimpleNamespace(monotonic=lambda speed=speed, began=began: began + speed * (time.monotonic() - began))
        monkeypatch.setattr(forecasting, "time", clock)
        monkeypatch.setattr(forecast_rounds, "time", clock)
        monkeypatch.setattr(region_density_module, "time", clock)
        found.append(rs.forecast(net, box).finding("forecast_regions"))
    assert found[0].claim is rs.Claim.ESTIMATE
    assert (found[0].value, found[0].interval) == (found[1].value, found[1].interval)


@pytest.mark.parametrize("size", [1e-2, 1e-4, 1e-6])
def test_density_is_known_where_regions_crowd(size: float) -> None:
    """Where all kinks lie in a small part of a square, boxes are small there, and so are windows."""
    net = _crowded(size)
    found = region_density(net, SQUARE, SubDomains.of(SQUARE), 200, inf, np.random.default_rng(1))
    there = (np.abs(found.low + found.sides / 2 - [0.9, 0.8]) < 20 * size).all(axis=1)
    assert found.sides[there].max(axis=1).min() <= 4 * size
    assert found.chances[there].sum() > 0.2
    assert found.chances.sum() == pytest.approx(1.0)
    assert found.sides.prod(axis=1).sum() == pytest.approx(4.0)


COVERED = [
    (_net(2, 24, 24, 1), rs.Box(-3, 3, 2)),
    (_net(2, 48, 48, 48, 1), rs.Box(-30, 30, 2)),
    (_net(3, 12, 12, 1), rs.Box(-3, 3, 3)),
    (_net(1, 60, 60, 1), rs.Box(-5, 5, 1)),
    (_crowded(1e-2), SQUARE),
    (_crowded(1e-5), SQUARE),
    (_crowded(1e-6), SQUARE),
]


def _num_held(net: rs.Network, box: rs.Box, seeds: range) -> int:
    truth, held = len(rs.partition(net, box)), 0
    for seed in seeds:
        *_, last = rounds(net, box, ForecastEffort(100, min(400.0, truth / 2), inf), seed)
        held += last.interval[0] <= truth <= last.interval[1]
    return held


@pytest.mark.few(3)
@pytest.mark.parametrize(("net", "box"), COVERED)
def test_a_few_intervals_hold_the_truth(net: rs.Network, box: rs.Box) -> None:
    """Of six; with 0.9 fewer than four do once in sixty times."""
    assert _num_held(net, box, range(6)) >= 4


@pytest.mark.nightly
@pytest.mark.parametrize(("net", "box"), COVERED)
def test_intervals_hold_the_truth(net: rs.Network, box: rs.Box) -> None:
    """Of 1,000 seeds, nine of ten."""
    assert _num_held(net, box, range(1000)) >= 900 - 3 * (1000 * 0.9 * 0.1) ** 0.5


@pytest.mark.slow
def test_everywhere_and_many_inputs_go_by_probes() -> None:
    net = _net(12, 40, 1)
    for domain in (rs.Space(12), rs.Box(-1, 1, 12)):
        regions = rs.forecast(net, domain).finding("forecast_regions")
        assert regions.claim is rs.Claim.ESTIMATE
        assert regions.interval is None
        assert 10**5 < regions.value < 10**13
    small = rs.load([(np.eye(3), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
    assert rs.forecast(small, rs.Space(3)).finding("forecast_regions").value == 8


def test_a_network_without_gates_has_one_region() -> None:
    net = rs.load([(np.ones((1, 2)), np.zeros(1))])
    assert str(rs.forecast(net, SQUARE).finding("forecast_regions")) == "1 (EXACT)"


def test_windows_are_drawn_anywhere(monkeypatch) -> None:
    """Each window has a share of all chances of its own, and may be in every box of it."""
    boxes = RegionDensity(np.arange(-4, 4)[:, None] / 4, np.full((8, 1), 0.25), np.full(8, 9.0), np.zeros(8, dtype=int))
    seen, inside = set(), SubDomains.inside
    monkeypatch.setattr(
        SubDomains, "inside", lambda self, low, high: seen.add(float(low[0])) or inside(self, low, high)
    )
    net, where = _net(1, 3, 1), SubDomains.of(rs.Box(-1, 1, 1))
    for seed in range(20):
        forecast_rounds._round(net, where, boxes, 3, 9.0, np.random.default_rng(seed), until=inf, rounding="proved")
    assert sorted(seen) == boxes.low.ravel().tolist()


def test_upper_ends_grow_with_the_skewness_of_windows() -> None:
    """Johnson 1978: quantiles of Student's t, and a term with the third moment."""
    counts, weight = np.array([20, 31, 24, 28, 50, 22, 25, 27]), 3.0
    mean, spread, root = np.mean(counts), np.std(counts, ddof=1), np.sqrt(len(counts))
    quantile = scipy.stats.t.ppf((1 + forecast_rounds.LEVEL) / 2, len(counts) - 1)
    quantile += np.mean((counts - mean) ** 3) / spread**3 * (1 + 2 * quantile**2) / (6 * root)
    upper = weight * (mean + quantile * spread / root)
    assert Round(counts, np.full(8, weight), 240, 1.0).interval[1] == pytest.approx(upper, rel=1e-9)


def test_rare_events_keep_intervals_wide() -> None:
    nothing = Round(np.zeros(16, dtype=np.int64), np.full(16, 1000.0), 16, 1.0)
    assert 43 < nothing.regions < 44  # with so many, no window has one in half of all cases
    assert nothing.interval[0] == 1
    assert nothing.interval[1] > 100
    few = Round(np.array([1] * 16), np.full(16, 1000.0), 40, 1.0)  # all alike by accident
    assert few.interval[1] > 1400
    uneven = Round(np.array([40] + [1] * 15), np.full(16, 1000.0), 60, 1.0)  # one has most of all
    assert (uneven.interval[0] < 2000, uneven.interval[1]) == (True, inf)


def test_a_domain_is_hopeless_of_which_windows_were_too_few_to_know_a_lower_end(monkeypatch) -> None:
    """As of a large network in a second; where the estimate itself is within reach, the domain is partitioned."""
    net, ahead = _net(2, 16, 16, 1), []
    monkeypatch.setattr(finishing_windows, "region_seconds", lambda _: 1.0)
    monkeypatch.setattr(finishing_windows, "forecast", lambda *_, **__: ahead[-1])
    found = []
    for number in (2e3, 4e4):
        regions = Column.of(forecasting.REGIONS, [number], [1.0], [1e6], method="", confidence=0.9)
        seconds = Column.estimate(forecasting.SECONDS, [number])
        ahead.append(Findings.of(regions, seconds, domain=""))
        found.append(finishing_windows.affordable(net, SQUARE, Effort(rs.Budget(regions=30))))
    assert [one.part.domain.volume() < SQUARE.volume() for one in found] == [False, True]
    assert [one.part.num_open > 0 for one in found] == [True, False]
    assert found[1].expected is ahead[1]


def test_wrong_domains() -> None:
    net = _net(2, 4, 1)
    with pytest.raises(ShapeError):
        rs.forecast(net, rs.Box(0, 1, 3))
    flat = rs.Polyhedron([[1.0, 0], [-1, 0], [0, 1], [0, -1]], [0.0, 0, 1, 1])
    for ask in (rs.forecast, lambda *given: rs.window_within(*given, rs.Budget(regions=5))):
        with pytest.raises(DegenerateGeometryError):
            ask(net, flat)
    with pytest.raises(DegenerateGeometryError, match="bounded"):
        rs.window_within(net, rs.Space(2), rs.Budget(regions=5))


@pytest.mark.few(3)
@pytest.mark.parametrize(("sizes", "domain"), DOMAINS, ids=_name)
def test_windows_finish_within_regions(sizes: tuple[int, ...], domain: rs.Box) -> None:
    net = _net(*sizes)
    all_of_it = len(rs.partition(net, domain))
    part = rs.window_within(net, domain, rs.Budget(regions=all_of_it // 3))
    assert part.claim is rs.Claim.EXACT
    assert all_of_it // 8 <= len(part) <= all_of_it // 3
    assert 0 < part.domain.volume() < domain.volume()
    # In coordinates of the domain, about its middle.
    assert part.finding().value == len(rs.partition(net, part.domain))
    whole = rs.window_within(net, domain, rs.Budget(regions=10**6))
    assert (len(whole), whole.domain.volume()) == (all_of_it, pytest.approx(domain.volume()))


def test_windows_finish_within_seconds() -> None:
    net = _net(2, 128, 128, 128, 1)
    part = rs.window_within(net, rs.Box(-10, 10, 2), rs.Budget(seconds=0.05))
    assert not part.num_open
    assert part.claim is rs.Claim.EXACT
    assert len(rs.window_within(net, SQUARE, rs.Budget(seconds=0.0))) >= 1


def test_growth_follows_what_was_found() -> None:
    part = rs.partition(_net(2, 16, 16, 1), SQUARE)
    assert _growth_of(part, rs.Budget(regions=4 * len(part)), 1e9) == pytest.approx(3.6**0.5)
    assert _growth_of(part, rs.Budget(regions=10**9), 1e9) == 8.0
    assert _growth_of(part, rs.Budget(), 2 * 4.0 * part.work["seconds"]) == pytest.approx(2.0)


@pytest.mark.parametrize("budget", [rs.Budget(regions=120), rs.Budget(seconds=60.0), rs.Budget(regions=1)], ids=str)
def test_coarse_partitions_are_those_of_first_gates(budget: rs.Budget) -> None:
    net = _net(2, 16, 16, 16, 1)
    whole = rs.partition(net, SQUARE)
    part = rs.coarse_partition(net, SQUARE, budget)
    number = len(part.codes.layout)
    if budget.regions == 1:  # not even the first gate is passed everywhere
        assert (number, part.claim) == (1, rs.Claim.LOWER)
        return
    assert part.claim is rs.Claim.EXACT
    words = whole.codes.words[:, : part.codes.words.shape[1]]
    assert set(map(bytes, part.codes.words)) == set(map(bytes, np.ascontiguousarray(words)))
    if budget.seconds:
        assert (number, len(part)) == (3, len(whole))
    else:
        assert number < 3
        assert len(part) <= 120 < len(np.unique(whole.codes.words[:, : number + 1], axis=0))


def test_budgets_without_limits_are_refused() -> None:
    net = _net(2, 4, 1)
    for ask in (rs.window_within, rs.coarse_partition):
        with pytest.raises(InputError, match="budget must have a limit"):
            ask(net, SQUARE, rs.Budget())
    with pytest.raises(InputError, match="gates"):
        rs.coarse_partition(rs.load([(np.ones((1, 2)), np.zeros(1))]), SQUARE, rs.Budget(regions=5))


def test_early_stops_name_the_limit_and_no_number_that_a_forecast_contradicts() -> None:
    net = _net(2, 64, 64, 64, 1)
    truth = len(rs.partition(net, SQUARE))
    part = rs.partition(net, SQUARE, budget=rs.Budget(regions=1000))
    assert part.note == "budget of 1,000 regions"
    assert int(part.finding()) == len(part) + part.num_pending <= truth
    listed = f"Partition({len(part):,} regions listed of {int(part.finding()):,} at least, LOWER, of box [-1, 1]^2)"
    assert repr(part) == listed


def test_the_time_of_large_networks_grows_slower_than_the_number_of_regions() -> None:
    few, more = (Round(np.full(16, 4), np.ones(16), cells, seconds) for cells, seconds in ((64, 1.6), (256, 3.2)))
    assert more.seconds_of(1000, few, None) == pytest.approx(1000 * 0.1 / 12)
    times = [more.seconds_of(4096, few, power) for power in (0.5, 0.75, 1.0)]
    np.testing.assert_allclose(times, 0.2 * np.array([16, 64, 256]), rtol=1e-12)
    assert more.seconds_of(1, few, 0.5) == 0.2  # a window at least


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_regions_of_a_box_follow_from_the_units_that_change_between_its_points(dim: int) -> None:
    """(1 + 1.9 h)^d / d!, with h the mean over all pairs of three points."""
    net, low, sides = (
        _net(dim, 9, 9, 1),
        -2 + np.zeros((5, dim)),
        np.array([0.0, 0.1, 1.0, 2.0, 4.0])[:, None] + np.zeros(dim),
    )
    found = region_density_module._regions(net, low, sides, np.random.default_rng(3))
    draw = np.random.default_rng(3)
    codes = [net.codes(low + draw.random(low.shape) * sides).to_array() for _ in range(3)]
    for box in range(5):
        changed = np.mean([(codes[one][box] != codes[other][box]).sum() for one, other in ((0, 1), (0, 2), (1, 2))])
        assert found[box] == pytest.approx(max(1.0, (1 + 1.9 * changed) ** dim / [1, 1, 2, 6][dim]))
    assert found[0] == 1
    assert found[-1] > 1


def test_units_that_may_bend_in_a_box_are_those_whose_range_has_a_breakpoint() -> None:
    """Of one layer ranges are known: the ends of a box where all units rise, touched breakpoints included."""
    layers = [torch.nn.Linear(1, 4), torch.nn.ReLU6()]
    net = rs.load(torch.nn.Sequential(*layers, torch.nn.Linear(4, 1)).double(), input_shape=(1,))
    net = net.with_parameters({"0.weight": np.ones((4, 1)), "0.bias": np.array([0.0, -1.0, 6.0, -9.0])})
    low, sides = np.array([[-3.0], [0.5], [-8.0], [0.5]]), np.array([[2.0], [0.25], [20.0], [0.0]])
    for row, (start, side) in enumerate(zip(low.ravel(), sides.ravel(), strict=True)):
        ends = [(start + bias, start + side + bias) for bias in (0.0, -1.0, 6.0, -9.0)]
        expected = sum(any(one - 1e-9 <= level <= other + 1e-9 for level in (0.0, 6.0)) for one, other in ends)
        assert region_density_module._bends(net, low, sides)[row] == expected


def test_boxes_are_halved_across_their_longest_side_and_drawn_by_three_chances() -> None:
    low, sides, whole = np.array([[0.0, 0.0], [1.0, 2.0]]), np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([[2.0, 8.0]])
    corners, shorter = region_density_module._halves(low, sides, whole)
    assert corners.tolist() == [[0.0, 0.0], [1.0, 2.0], [0.5, 0.0], [2.0, 2.0]]
    assert shorter.tolist() == [[0.5, 2.0], [1.0, 1.0]] * 2
    boxes = RegionDensity(low, sides, np.array([3.0, 1.0]), np.array([0, 2]))
    assert boxes.chances == pytest.approx(
        0.7 * np.array([0.75, 0.25]) + 0.15 * np.array([0.5, 0.5]) + 0.15 * np.array([0.25, 0.75])
    )
    assert [RegionDensity(low, sides, np.array([64.0, 1.0]), np.zeros(2)).halvings(box, 2.0) for box in (0, 1)] == [
        3,
        0,
    ]


def test_boxes_with_the_largest_numbers_are_halved_first() -> None:
    """Those above half of the largest, a quarter of all at most and a twentieth at least, none that is small."""
    numbers = np.array([5.0, 1.0, 9.0, 4.6, 4.5, 8.0] + [0.5] * 34)
    for room, least, chosen in ((99, 0, [2, 5, 0, 3]), (3, 0, [2, 5, 0]), (99, 4.8, [2, 5, 0]), (0, 0, [])):
        assert region_density_module._largest(numbers, least, room).tolist() == chosen
    assert region_density_module._largest(np.array([9.0] + [1.0] * 59), 0, 99).tolist() == [0, 1, 2]
    assert len(region_density_module._largest(np.ones(40), 0, 99)) == 10
    assert region_density_module._largest(np.ones(3), 1, 99).tolist() == []


@pytest.mark.parametrize("most", [1, 2, 3, 10, 31])
def test_boxes_are_as_many_as_asked_for(most: int) -> None:
    found = region_density(_crowded(1e-3), SQUARE, SubDomains.of(SQUARE), most, inf, np.random.default_rng(1))
    assert len(found.low) == most
    assert found.sides.prod(axis=1).sum() == pytest.approx(4.0)


@pytest.mark.parametrize("products", [[1, 2, 3], [10**6, 0]])
def test_probes_forecast_no_fewer_regions_than_were_found(products: list[int], monkeypatch) -> None:
    monkeypatch.setattr(forecasting, "FEW_REGIONS", 5)
    monkeypatch.setattr(forecasting, "probes", lambda *_, **__: (SimpleNamespace(product=one) for one in products))
    found = rs.forecast(_net(3, 9, 1), rs.Space(3)).finding("forecast_regions")
    assert found.value == (5 * 10**5 if products[0] > 9 else pytest.approx(5, abs=3))
    assert found.value > 2


def _round_of(counts: list[int], weights: list[float], cells: int = 100, seconds: float = 2.0) -> Round:
    return Round(np.array(counts), np.array(weights), cells, seconds)


def test_times_of_rounds_by_hand() -> None:
    """Of a window 0.5 s and then 0.75 s, for 25 cells and then 50: each cell beyond took 0.01 s of 0.015."""
    first, last = _round_of([1] * 4, [1.0] * 4), _round_of([1] * 8, [1.0] * 8, 400, 6.0)
    assert last.rate == 0.015
    assert last.rate_beyond(first) == pytest.approx(0.01)
    assert last.rate_beyond(last) == 0.015  # no cells beyond
    assert first.rate_beyond(last) == 0.02  # nor of larger windows
    slow, quick = _round_of([1] * 8, [1.0] * 8, 400, 60.0), _round_of([1] * 8, [1.0] * 8, 400, 4.0)
    assert slow.rate_beyond(first) == 0.15  # no more than of all
    assert quick.rate_beyond(first) == pytest.approx(0.2 * 0.01)  # nor less than a fifth of it
    assert last.seconds_of(1000.0, first, None) == pytest.approx(10.0)
    assert last.seconds_of(5000.0, first, 0.5) == pytest.approx(0.75 * 100**0.5)
    assert last.seconds_of(5.0, first, 0.5) == 0.75


def test_numbers_of_rounds_by_hand() -> None:
    """Means of counts by weights; each one that was found stands for its share of the estimate."""
    found = _round_of([3, 0, 1, 4], [10.0, 20.0, 5.0, 2.0])
    assert found.regions == (30 + 5 + 8) / 4
    assert found._each == pytest.approx(43 / 4 / 8)
    nothing = _round_of([0] * 4, [10.0, 20.0, 6.0, 4.0])
    assert nothing._each == 2.5
    assert nothing.regions == pytest.approx(2.5 * np.log(2))
    assert _round_of([0] * 4, [1e-3] * 4).regions == 1.0
    assert _round_of([1] * 4, [1e-3] * 4).interval[0] == 1.0


@pytest.mark.parametrize("seed", range(4))
def test_intervals_of_rounds_by_hand(seed: int) -> None:
    draw = np.random.default_rng(seed)
    counts, weights = draw.integers(1, 9, 12), draw.integers(4, 9, 12) / 2.0
    found = _round_of(counts.tolist(), weights.tolist())
    given = [int(count) * float(weight) for count, weight in zip(counts, weights, strict=True)]
    mean = sum(given) / 12
    spread = (sum((one - mean) ** 2 for one in given) / 11) ** 0.5
    quantile = scipy.stats.t.ppf((1 + forecast_rounds.LEVEL) / 2, 11)
    skew = sum((one - mean) ** 3 for one in given) / 12 / spread**3
    quantile += max(0.0, skew) * (1 + 2 * quantile**2) / (6 * 12**0.5)
    rare = scipy.stats.chi2.ppf((1 + forecast_rounds.LEVEL) / 2, 2 * counts.sum() + 2) / 2 * mean / counts.sum()
    low, high = found.interval
    assert high == pytest.approx(max(mean, mean + quantile * spread / 12**0.5, rare))
    assert low == pytest.approx(min(mean, max(1.0, lowest_mean(np.array(given), (1 - forecast_rounds.LEVEL) / 2))))
    few = _round_of([1] + [0] * 11, [8.0] * 12)
    assert few.interval[1] == inf  # one has all
    alike = _round_of([2] * 12, [3.0] * 12)
    rare = scipy.stats.chi2.ppf((1 + forecast_rounds.LEVEL) / 2, 50) / 2 * 6 / 24
    assert alike.interval[1] == pytest.approx(rare)


def test_effort_is_spent_round_by_round(monkeypatch) -> None:
    monkeypatch.setattr(forecast_rounds, "time", SimpleNamespace(monotonic=lambda: 100.0))
    monkeypatch.setattr(forecast_rounds, "pass_seconds", lambda network: 7.5e-6)
    cells, clock = ForecastEffort(9, 500.0, 160.0), ForecastEffort(9, inf, 160.0)
    assert (cells.seconds, clock.seconds) == (inf, 60.0)
    assert cells.after(_round_of([1], [1.0], 120)).cells == 380
    assert cells.part(0.25) == rs.Budget(regions=125, seconds=15.0)
    assert clock.part(0.25) == rs.Budget(seconds=15.0)
    assert ForecastEffort(9, 2.0, 50.0).part(0.25) == rs.Budget(regions=1, seconds=0.0)
    net = _net(2, 3, 1)
    assert ForecastEffort.of(net, 5.0) == ForecastEffort(2048, inf, 105.0)
    assert ForecastEffort.of(net, None) == ForecastEffort(2048, pytest.approx(50000.0), 700.0)
    monkeypatch.setattr(forecast_rounds, "pass_seconds", lambda network: 1.0)
    assert ForecastEffort.of(net, None) == ForecastEffort(32, 200, 700.0)


@pytest.mark.parametrize(
    ("cells", "left", "expected"),
    [
        ([1] * 5, 1e6, [(32, 4.0), (32, 16.0), (32, 64.0), (128, 64.0), (512, 64.0)]),
        ([100, 200], 500.0, [(32, 4.0), (32, 4 * 0.6 * 4.0)]),
        ([250], 700.0, [(32, 4.0)]),
        ([100, 100], 430.0, [(32, 4.0), (32, 4 * 0.6 * 3.3)]),
    ],
)
def test_rounds_grow_by_a_part_of_what_is_left_and_no_more_than_fourfold(cells, left, expected, monkeypatch) -> None:
    """Larger windows first, and then more of them; below one and a half times nothing is begun."""
    asked, given = [], iter(cells)

    def told(network, where, density, number, size, draw, *, until, rounding):
        asked.append((number, size))
        return _round_of([1], [1.0], next(given))

    monkeypatch.setattr(forecast_rounds, "_round", told)
    list(rounds(_net(2, 3, 1), SQUARE, ForecastEffort(9, left, time.monotonic() + 100), 0))
    assert [one for pair in asked for one in pair] == pytest.approx([one for pair in expected for one in pair])


def test_lowest_corners_on_sides_of_a_window_count_where_these_are_the_domains() -> None:
    """Four squares of a window, whose lowest corners are at its left and lower side but for one."""
    net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    low, high = -np.ones(2), np.ones(2)
    part = cells_found(net, rs.Box(low, high))
    for domain, number in (((-1, 1), 4), ((-2, 1), 1), ((-2, 2), 1)):
        where = SubDomains.of(rs.Box(*map(float, domain), 2))
        assert _count_lowest(part, np.array([1.0, 0.5]), low, high, where) == number
    where = SubDomains.of(rs.Box(-1.0, 2.0, 2))
    assert (
        _count_lowest(part, -np.array([1.0, 0.5]), low, high, where) == 1
    )  # the highest corners: three are on the right
    where = SubDomains.of(rs.Box([-2.0, -1.0], [1.0, 1.0]))
    assert _count_lowest(part, np.array([1.0, 0.5]), low, high, where) == 2


def test_windows_that_all_miss_the_domain_find_nothing() -> None:
    where = SimpleNamespace(low=np.zeros(2), high=np.ones(2), inside=lambda low, high: None)
    density = RegionDensity(np.zeros((1, 2)), np.ones((1, 2)), np.ones(1), np.zeros(1, dtype=int))
    found = forecast_rounds._round(
        _net(2, 3, 1), where, density, 8, 4.0, np.random.default_rng(0), until=inf, rounding="proved"
    )
    assert (found.counts.tolist(), found.num_cells, found.rate) == ([0] * 8, 1, found.seconds)
    assert found.seconds_of(100.0, found, 1.5) == found.seconds / 8 * 800**1.5


def test_cells_of_all_windows_are_counted() -> None:
    """Windows are the whole domain, of four squares."""
    net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    density = RegionDensity(-np.ones((1, 2)), 2 * np.ones((1, 2)), np.full(1, 4.0), np.zeros(1, dtype=int))
    draw = np.random.default_rng(0)
    found = forecast_rounds._round(net, SubDomains.of(SQUARE), density, 3, 4.0, draw, until=inf, rounding="proved")
    assert (found.counts.tolist(), found.weights.tolist(), found.num_cells) == ([4] * 3, [1.0] * 3, 12)


def test_a_fifth_of_the_effort_tells_once_whether_a_domain_is_small(monkeypatch) -> None:
    """Windows that take next to nothing bring one attempt; what fits the effort another one, of all that is left."""
    asked = []
    wide, narrow = [100, 0, 0, 0], [3, 3, 3, 3]
    for counts, cells, expected in (
        ([wide, wide, narrow], [10, 10, 10], [200 - 2, 970]),
        ([wide, narrow], [300, 10], [690]),
        ([wide, wide], [300, 10], [0.2 * 690]),
    ):
        several = [
            _round_of(own, [1e3 if own is wide else 1.0] * 4, each, 1e-3)
            for own, each in zip(counts, cells, strict=True)
        ]
        monkeypatch.setattr(forecasting, "rounds", lambda *_, several=several: iter(several))
        monkeypatch.setattr(
            forecasting,
            "ForecastEffort",
            SimpleNamespace(of=lambda *_: ForecastEffort(9, 1000.0, time.monotonic() + 1e6)),
        )
        asked.clear()
        monkeypatch.setattr(forecasting, "_whole", lambda net, domain, budget: asked.append(budget.regions))
        rs.forecast(_net(2, 3, 1), SQUARE)
        assert asked == [int(one) for one in expected]


def test_the_largest_of_candidates_may_change_in_a_box_where_their_ranges_meet() -> None:
    """Pairs x and -x, x and 1, x and x + 1 (whose ranges meet in boxes of width 1), and x alone with padding."""
    layers = [torch.nn.Linear(1, 6), torch.nn.Unflatten(1, (1, 6)), torch.nn.MaxPool1d(2), torch.nn.Flatten()]
    net = rs.load(torch.nn.Sequential(*layers).double(), input_shape=(1,))
    weight, bias = np.array([[1.0, -1.0, 1.0, 0.0, 1.0, 1.0]]).T, np.array([0.0, 0.0, 0.0, 1.0, 0.0, 1.0])
    net = net.with_parameters({"0.weight": weight, "0.bias": bias})
    low, sides = np.array([[-0.5], [0.25], [0.5], [3.0], [-3.0]]), np.array([[0.25], [0.5], [2.0], [0.5], [5.0]])
    for row, (start, side) in enumerate(zip(low.ravel(), sides.ravel(), strict=True)):
        ends = np.sort(weight.ravel()[:, None] * [start, start + side] + bias[:, None], axis=1)
        expected = sum(min(one[1], two[1]) >= max(one[0], two[0]) for one, two in ends.reshape(3, 2, 2))
        assert region_density_module._bends(net, low, sides)[row] == expected


class AskedError(Exception):
    """What a function was asked."""


@pytest.mark.parametrize(
    ("domain", "by_probes"), [(SQUARE, False), (rs.Space(2), True), (rs.Box(-1, 1, 9), True), (rs.Box(-1, 1, 3), False)]
)
@pytest.mark.parametrize("pays", [True, False])
def test_bounded_domains_of_few_dimensions_are_seen_through_windows(domain, by_probes, pays, monkeypatch) -> None:
    """With the seed that was given; of the plane's large networks time is a power of the number of regions."""

    def ask(*args) -> None:
        raise AskedError(*args)

    last = _round_of([100, 0, 0, 0], [1e3] * 4, 300)
    seeds = []
    monkeypatch.setattr(forecasting, "_by_probes", ask)
    monkeypatch.setattr(forecasting, "_table", ask)
    monkeypatch.setattr(forecasting, "rounds", lambda *args: seeds.append(args[3]) or iter([last]))
    monkeypatch.setattr(
        forecasting, "ForecastEffort", SimpleNamespace(of=lambda *_: ForecastEffort(9, 1000.0, time.monotonic() + 1e6))
    )
    monkeypatch.setattr(forecasting.bends, "pay", lambda network: pays)
    with pytest.raises(AskedError) as asked:
        rs.forecast(_net(domain.dim, 3, 1), domain, seed=7)
    if by_probes:
        assert asked.value.args[2:] == (None, 7)
    else:
        assert seeds == [7]
        assert (asked.value.args[3] is not None) == (pays and domain.dim == 2)


@pytest.mark.parametrize("number", [0, 3])
def test_signs_that_rounding_hides_in_windows_are_told(number) -> None:
    last = Round(np.array([1] * 4), np.ones(4), 100, 2.0, number)
    notes = unwrap(forecasting._table)(SQUARE, last, 1.0, None).notes
    assert len(notes) == (number > 0)
    assert all("3 signs" in note for note in notes)
