"""Volumes of regions: estimates against exact ones, and how often their intervals cover the truth."""

import numpy as np
import pytest
from scipy.stats import binomtest

import reluscope as rs
from reluscope.analyses.bodies import volumes
from reluscope.analyses.bodies.volumes import region_volumes
from reluscope.errors import InputError
from reluscope.findings import Claim
from reluscope.partitions.exact.exact_regions import code_tuples
from reluscope.partitions.exact.exact_rows import ExactRows
from reluscope.testing import pseudo_random_network

SIMPLEX = rs.Polyhedron(np.vstack([-np.eye(3), np.ones((1, 3))]), [0.0, 0, 0, 2])


def volumes_of(part, **options):
    return region_volumes(part, **options)["region_volume"]


def coverage(part, truth, seeds, **options):
    found = [volumes_of(part, method="sampling", seed=seed, **options) for seed in range(seeds)]
    return np.mean([(one.lower <= truth) & (truth <= one.upper) for one in found])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dim", "widths", "domain"),
    [(3, (4, 4, 4), rs.Box(-1, 1, 3)), (3, (4, 4), SIMPLEX), (4, (3, 3), rs.Box(-1, 2, 4))],
    ids=["box in space", "simplex", "box in R^4"],
)
def test_intervals_cover_as_often_as_they_say(dim, widths, domain):
    part = rs.partition(rs.load(pseudo_random_network(dim, widths)), domain)
    truth = volumes_of(part)
    assert truth.is_exact.all()
    total = domain.volume()
    assert truth.value.sum() == pytest.approx(total, rel=1e-9)
    for confidence in (0.8, 0.95):
        assert coverage(part, truth.value, 60, num_samples=400, confidence=confidence) >= confidence


def test_a_planted_fault_is_seen(monkeypatch):
    part = rs.partition(rs.load(pseudo_random_network(3, (4, 4))), rs.Box(-1, 1, 3))
    honest = volumes._shares
    monkeypatch.setattr(volumes, "_shares", lambda hits, number, confidence: honest(2 * hits, 2 * number, 0.6))
    assert coverage(part, part.volumes(), 40, num_samples=400) < 0.9


def test_intervals_are_those_of_clopper_and_pearson():
    hits = np.array([0, 1, 7, 99, 100])
    low, high = volumes._shares(hits, 100, 0.9)
    for row, number in enumerate(hits.tolist()):
        truth = binomtest(number, 100).proportion_ci(0.9, method="exact")
        assert (low[row], high[row]) == pytest.approx((truth.low, truth.high), abs=1e-12)


def test_many_inputs():
    net = rs.load([(np.eye(12)[:3], np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
    # For all eight regions at once.
    found = volumes_of(rs.partition(net, rs.Box(-1, 1, 12)), num_samples=20_000, confidence=1 - 0.01 / 8)
    assert found.claims == (Claim.ESTIMATE,) * 8
    assert found.value.sum() == pytest.approx(2.0**12)
    assert ((found.lower < 2.0**9) & (found.upper > 2.0**9)).all()
    again = volumes_of(rs.partition(net, rs.Box(-1, 1, 12)), num_samples=20_000)
    np.testing.assert_array_equal(again.value, found.value)


def test_units_that_are_zero_or_equal_up_to_rounding_lose_no_point():
    """Two candidates of one max gate are the same function, computed in another order."""
    import torch
    from torch import nn

    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(3, 4, bias=False), nn.Linear(2, 2)
            with torch.no_grad():
                self.first.weight[2:] = self.first.weight[:2].flip(0) * 1.0
                self.second.weight[1], self.second.bias[1] = 0.0, 0.0

        def forward(self, x):
            h = self.first(x)
            return torch.relu(self.second(h.reshape(-1, 2, 2).amax(dim=2)))

    torch.manual_seed(0)
    part = rs.partition(rs.load(Tied().double(), input_shape=(3,)), rs.Box(-1, 1, 3))
    found = volumes_of(part, method="sampling", num_samples=2_000)
    assert found.value.sum() == pytest.approx(8.0)


def test_a_partition_that_stopped_early_has_the_volumes_of_what_it_holds():
    net, box = rs.load(pseudo_random_network(3, (8, 8))), rs.Box(-1, 1, 3)
    part, whole = rs.partition(net, box, budget=rs.Budget(regions=40), method="tree"), rs.partition(net, box)
    found = volumes_of(part, num_samples=5_000, confidence=1 - 1e-6)
    truth = whole.volumes()[whole.locate(part.witnesses)]
    assert ((found.lower <= truth) & (truth <= found.upper)).all()


def test_what_is_refused():
    net = rs.load(pseudo_random_network(3, (4,)))
    part = rs.partition(net, rs.Box(-1, 1, 3), method="tree")
    with pytest.raises(InputError, match="volumes need a bounded domain, got all of"):
        region_volumes(rs.partition(net, rs.Space(3), method="tree"))
    with pytest.raises(InputError, match="exact volumes are not known"):
        region_volumes(part, method="exact")
    with pytest.raises(InputError, match="method must be auto, exact or sampling, got 'qhull'"):
        region_volumes(part, method="qhull")
    with pytest.raises(InputError, match="num_samples must be a whole number of at least 1"):
        region_volumes(part, num_samples=0)
    with pytest.raises(InputError, match="confidence must lie between 0 and 1"):
        region_volumes(part, confidence=1.0)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_slivers_are_as_exact_as_they_say(dim):
    draw = np.random.default_rng(dim)
    beyond_digits = 0
    for gap in (1e-4, 1e-6, 1e-8, 1e-10):
        row = draw.normal(size=dim)
        rows = np.stack([row, row + gap * draw.normal(size=dim), *draw.normal(size=(3, dim))])
        net = rs.load([(rows, np.array([0.1, 0.1 + gap, *draw.normal(size=3)])), (np.ones((1, 5)), np.zeros(1))])
        for box in (rs.Box(-1, 1, dim), rs.Box(999.0, 1001.0, dim)):
            part = rs.partition(net, box)
            found, exact = volumes_of(part), ExactRows(net, box)
            truth = np.array([float(exact.volume([np.array(code[0])])) for code in code_tuples(part.codes)])
            assert found.is_exact.all() == (not part.num_undecided)
            if part.num_undecided:
                assert set(found.claims) == {Claim.ESTIMATE}
                continue
            assert (np.abs(found.value - truth) <= found.tolerance).all()
            beyond_digits += (np.abs(found.value - truth) > 1e-9 * truth).sum()
            assert (found.tolerance <= 1e-6 * truth.sum()).all()
    assert dim == 1 or beyond_digits


def test_slivers_that_qhull_gets_wrong():
    # Of one of these regions Qhull makes 400 times its volume, with most last digits of its corners.
    draw = np.random.default_rng(447)
    gap = 10.0 ** -draw.uniform(3, 9)
    row = draw.normal(size=4)
    rows = np.stack([row, row + gap * draw.normal(size=4), *draw.normal(size=(2, 4))])
    bias = np.array([0.1, 0.1 + gap, *draw.normal(size=2)]) - rows @ np.full(4, 1000.0)
    net, box = rs.load([(rows, bias), (np.ones((1, 4)), np.zeros(1))]), rs.Box(999.0, 1001.0, 4)
    part, exact = rs.partition(net, box, method="cellwise"), ExactRows(net, box)
    truth = np.array([float(exact.volume([np.array(code[0])])) for code in code_tuples(part.codes)])
    np.testing.assert_allclose(part.volumes(), truth, rtol=1e-5)
