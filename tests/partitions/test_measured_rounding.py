"""Deep networks are seen through all gates by measured rounding, against rational arithmetic; proofs stay proofs."""

from dataclasses import replace
from functools import cache
from importlib import import_module

import numpy as np
import pytest
import torch

import reluscope as rs
from partitions.in_doubt import in_doubt
from reluscope.networks.evaluation import measured_rounding as module
from reluscope.networks.evaluation.measured_rounding import MeasuredRounding, measured_rounding
from reluscope.networks.evaluation.wide_forward import wide_codes
from reluscope.networks.graph.choosing_gates import Max
from reluscope.partitions.complexes.chunks import between
from reluscope.partitions.doubts import shown_regions
from reluscope.partitions.doubts.walk_rounding import rounding_of

LINE = rs.Box(-0.05, 0.05, 1)


@cache
def deep(inputs=1, depth=26, width=22):
    """A network whose weights keep values at their size, while bounds grow fivefold with each layer."""
    draw = np.random.default_rng(0)
    layers, before = [], inputs
    for _ in range(depth):
        layers.append((draw.normal(size=(width, before)) * np.sqrt(2 / before), 0.1 * draw.normal(size=width)))
        before = width
    return rs.load([*layers, (draw.normal(size=(3, before)), np.zeros(3))])


@cache
def certified():
    return rs.certify(rs.partition(deep(), LINE))


@pytest.fixture
def large(monkeypatch):
    """Let every network be too large for exact arithmetic."""
    monkeypatch.setattr(shown_regions, "MULTIPLICATIONS", 0)
    monkeypatch.setattr(shown_regions, "WIDE_MULTIPLICATIONS", 0)


def codes_of(part):
    return set(map(bytes, part.codes.words))


@pytest.mark.slow
def test_all_gates_are_seen_and_what_was_measured_is_said(large):
    part, truth = rs.partition(deep(), LINE), certified()
    assert truth.claim is rs.Claim.EXACT
    assert codes_of(part) == codes_of(truth)
    number = part.finding()
    assert (number.claim, int(number)) == (rs.Claim.ESTIMATE, len(truth))
    assert number.interval == (part.work["cells_confirmed"], np.inf)
    assert 10 < part.work["gates_proved"] < 26
    first = int(part.work["gates_proved"])
    assert f"rounding proved for the first {first} gates, measured for the others" in number.method
    assert 1e-17 < part.work["rounding_measured"] < 1e-13 < part.work["rounding_proved"]
    proved = rs.partition(deep(), LINE, rounding="proved")
    assert len(proved) < len(truth)
    assert "gates_proved" not in proved.work


@pytest.mark.slow
def test_errors_that_are_too_large_hide_regions(large, monkeypatch):
    """The oracle would see it."""
    monkeypatch.setattr(module, "SAFETY", 1e12)
    assert codes_of(rs.partition(deep(), LINE)) != codes_of(certified())


@pytest.mark.slow
def test_wide_numbers_confirm_regions(large, monkeypatch):
    monkeypatch.setattr(shown_regions, "WIDE_OF", 1)
    part = rs.partition(deep(), LINE)
    assert (part.claim, codes_of(part)) == (rs.Claim.LOWER, codes_of(certified()))
    assert "cells_unconfirmed" not in part.work


@pytest.mark.slow
def test_planes_segments_and_space(large):
    """The same cells in the coordinates of a slice, and every one shows its code."""
    net = deep()
    whole = codes_of(certified())
    segment = rs.Segment(np.array([-0.05]), np.array([0.05]))
    assert codes_of(rs.partitions(net, [segment])[0]) == whole
    for dim, side in ((2, 0.005), (3, 0.005)):
        net = deep(dim, 24, 40)
        part = rs.partition(net, rs.Box(-side, side, dim), method="incidence")
        assert (part.claim, len(part) > 20) == (rs.Claim.ESTIMATE, True), dim
        assert part.volumes().sum() == pytest.approx((2 * side) ** dim, rel=1e-9)
        assert (net.codes(part.witnesses).words == part.codes.words).all()


def test_estimates_are_stored_and_streamed(large, tmp_path):
    net, part = deep(), rs.partition(deep(), LINE)
    part.save(tmp_path / "part.arrow")
    again = rs.Partition.load(tmp_path / "part.arrow", network=net)
    assert again.finding() == part.finding()
    streamed = rs.stream(net, LINE, tmp_path / "part.parquet")
    assert (len(streamed), streamed.claim) == (len(part), rs.Claim.ESTIMATE)
    assert streamed.finding().interval == part.finding().interval
    assert rs.StreamedPartition.load(tmp_path / "part.parquet", network=net).finding() == streamed.finding()


def test_nothing_is_measured_where_proofs_suffice(monkeypatch):
    assert rounding_of(deep(1, 9), LINE, rs.Tolerance()) is None  # small enough for exact arithmetic, and not deep
    assert rounding_of(deep(), LINE, rs.Tolerance()) is not None
    monkeypatch.setattr(shown_regions, "MULTIPLICATIONS", 0)
    assert isinstance(rounding_of(deep(), LINE, rs.Tolerance()), MeasuredRounding)
    assert rounding_of(deep(), LINE, rs.Tolerance(), "proved") is None
    assert rounding_of(deep(1, 3), LINE, rs.Tolerance()) is None
    assert rounding_of(deep(2), rs.Space(2), rs.Tolerance()) is None
    shallow = rs.partition(deep(1, 3), LINE)
    assert (shallow.claim, "gates_proved" in shallow.work) == (rs.Claim.EXACT, False)


def test_what_is_exact_by_proof_stays_exact(large):
    """Bounds are large enough to measure rounding, and no sign is near them."""
    net = deep(1, 26, 12)
    assert rounding_of(net, LINE, rs.Tolerance()) is not None
    part = rs.partition(net, LINE)
    assert (part.claim, len(part) > 1) == (rs.Claim.EXACT, True)
    assert part.finding().method == rs.partition(net, LINE, rounding="proved").finding().method


def test_what_was_measured_holds_elsewhere():
    """Errors of float64 at other points, against fractions, are below sixteen times those at two."""
    from fractions import Fraction

    from reluscope.networks.fractions.rational import RationalNetwork

    net = deep()
    x = torch.linspace(-0.05, 0.05, 5, dtype=torch.float64)[:, None]
    known = measured_rounding(net, x, rs.Tolerance())
    assert known is not None
    assert rounding_of(net, LINE, rs.Tolerance(), known) is known
    at = torch.tensor([[0.0123], [-0.031]]).double()
    exact, values = RationalNetwork(net), net.start(at)
    truths = [exact.all_preactivations([Fraction(float(one))]) for one in at]
    for stage in net.stages:
        sizes = {place: values[place].abs().amax(0, keepdim=True) for place in stage.reads}
        size, _, _ = stage.advance_errors(sizes, {at: 0 * values[at][:1] for at in values}, 1e-15)
        bound = known.errors(stage.index, size, rs.Tolerance().unit)
        pre, values = stage.advance(values)
        for row, truth in enumerate(truths):
            for unit, value in enumerate(pre[row].tolist()):
                assert abs(Fraction(value) - truth[stage.index][unit]) <= Fraction(float(bound[unit]))
        values = stage.close(values, pre)


def test_small_deep_networks_are_measured_and_all_their_regions_proved(monkeypatch):
    monkeypatch.setattr(
        import_module("reluscope.partitions.doubts.shown_regions")._ExactCodes, "beside", None
    )  # no fractions needed
    part, truth = rs.partition(deep(), LINE), certified()
    assert codes_of(part) == codes_of(truth)
    assert (part.claim, part.work["cells_left_out"]) == (rs.Claim.LOWER, 0)
    assert "cells_unconfirmed" not in part.work


@pytest.mark.parametrize("way", ["deep", "many", "share"])
def test_ties_of_witnesses_are_looked_at_beside_them(way, monkeypatch):
    """Witnesses on the boundary of two regions: beside them there is one of both, on them there is none."""
    depth = 11 if way == "deep" else 1
    twice = [(np.array([[1.0], [-1.0]]), np.zeros(2)), *[(np.eye(2), np.zeros(2))] * depth]
    net = rs.load([*twice, (np.ones((1, 2)), np.zeros(1))])
    part = rs.partition(net, rs.Box(-1, 1, 1), method="tree")
    assert len(part) == 2
    if way != "deep":
        monkeypatch.setattr(shown_regions, "max_exact", lambda *_: int(way == "many"))
        monkeypatch.setattr(shown_regions, "WIDE_OF", 1)
    geometry = replace(part.geometry, witnesses=np.zeros_like(part.witnesses))
    doubtful = in_doubt(part, geometry=geometry)
    if way == "share":
        doubtful = replace(doubtful, confirmed=np.zeros(2, dtype=bool))
    found = shown_regions.shown(doubtful)
    assert 1 <= len(found) <= 2
    assert codes_of(found) <= codes_of(part)


def test_points_apart_from_floats():
    net = rs.load([([[1.0], [1.0]], [0.0, -1.0]), (np.ones((1, 2)), [0.0])])
    points, least = np.array([[0.0], [1.0], [1.0]]), 2.0**-70
    for apart, codes in ((None, [[0, 0], [1, 0], [1, 0]]), ([least, least, -least], [[1, 0], [1, 1], [1, 0]])):
        steps = None if apart is None else np.array(apart)[:, None]
        ((_, found, is_doubtful),) = wide_codes(net, points, apart=steps)
        assert (found.to_array().tolist(), is_doubtful.any()) == (codes, False)


def test_what_is_outside_the_domain_is_no_region(monkeypatch):
    net = rs.load([([[1.0]], [1.0]), ([[1.0]], [0.0])])
    part = rs.partition(net, rs.Box(-2, 0, 1), method="tree")
    part = in_doubt(part, tolerance=rs.Tolerance(rounding=2.0**60))
    monkeypatch.setattr(shown_regions, "max_exact", lambda *_: 1)
    assert len(shown_regions.shown(part)) == 2
    outside = replace(part.geometry, witnesses=np.where(part.witnesses > -1, 2.0**-40, part.witnesses))
    assert len(shown_regions.shown(replace(part, geometry=outside))) == 1


def test_signs_that_are_measured_alone_are_counted():
    relu = deep().stages[0].gate
    heights = np.array([[0.0, 1e-3, -1e-3, 1e-6], [0.5, -1e-6, 1e-6, -2.0]])
    low, high = np.full(4, 1e-5), np.array([1e-2, 1e-2, 1e-4, 1e-2])
    one = np.ones(2)
    assert between(relu, heights, one, low, high).tolist() == [1, 0]
    assert between(relu, heights, np.array([50.0, 1.0]), low, high).tolist() == [2, 0]
    assert between(relu, heights, np.array([200.0, 1.0]), low, high).tolist() == [0, 0]
    largest = Max(name="", shape=(2,), index=torch.tensor([[0, 1], [2, 3]]))
    pairs = np.array([[[1.0, 1.0], [2.0, 2.0 + 1e-3]], [[1.0, 1.0 + 1e-6], [5.0, 1.0]]])
    low, high = np.full((2, 2), 1e-5), np.array([[1e-2, 1e-2], [1e-2, 1e-4]])
    assert between(largest, pairs, one, low, high).tolist() == [1, 0]
    assert between(largest, pairs, 100 * one, low, high).tolist() == [0, 0]
