"""Bounds from architectures: published values, their chain of inequalities, and exact counts between them."""

from itertools import combinations, pairwise
from math import comb, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reluscope as rs
from reluscope.analyses import bounds
from reluscope.analyses.bounds.histograms import _Recursion
from reluscope.errors import InputError, NotApplicableError
from reluscope.findings import Claim
from reluscope_studies import bounds as published

# widths, inputs: all codes, Raghu, Montúfar 2017, Serra, Hinz (lines), Hinz (planes) | Pascanu, Montúfar 2014, Serra.
VECTORS = [
    ([4], 1, 16, 5, 5, 5, 5, 5, 5, 5, 5),
    ([4], 2, 16, 11, 11, 11, 11, 11, 11, 11, None),
    ([4], 3, 16, 15, 15, 15, 15, 15, 15, 15, None),
    ([4], 4, 16, 16, 16, 16, 16, 16, 16, 16, None),
    ([8], 2, 256, 37, 37, 37, 37, 37, 37, 37, 37),
    ([8], 4, 256, 163, 163, 163, 163, 163, 163, 163, None),
    ([3, 3], 1, 64, 16, 16, 16, 16, 16, 12, 12, 16),
    ([3, 3], 2, 64, 49, 49, 40, 40, 40, 7, 7, None),
    ([3, 3], 4, 64, 64, 64, 42, 42, 42, None, None, None),
    ([8, 8], 2, 65536, 1369, 1369, 1369, 1369, 1369, 148, 592, 925),
    ([8, 8], 4, 65536, 26569, 26569, 26569, 25463, 24651, 326, 2608, None),
    ([4, 4, 4], 2, 4096, 1331, 1331, 1331, 1175, 1031, 44, 176, None),
    ([4, 4, 4], 3, 4096, 3375, 3375, 1631, 1595, 1559, 15, 15, None),
    ([4, 4, 4], 4, 4096, 4096, 4096, 1634, 1598, 1562, 16, 16, None),
    ([22], 4, 4194304, 9109, 9109, 9109, 9109, 9109, 9109, 9109, 9109),
    ([11, 11], 3, 4194304, 53824, 53824, 53824, 53824, 53824, 696, 6264, 14848),
    ([2, 2, 2], 1, 64, 27, 27, 27, 27, 27, 12, 12, None),
    ([2, 2, 2], 2, 64, 64, 64, 30, 30, 30, 4, 4, None),
    ([4, 1, 4], 1, 512, 50, 50, 30, 30, 30, 20, 20, None),
    ([4, 1, 4], 3, 512, 450, 150, 90, 90, 90, None, None, None),
    ([8, 2, 8], 3, 262144, 34596, 13764, 5208, 5208, 5208, None, None, None),
    ([8, 2, 8], 4, 262144, 106276, 24124, 9128, 9128, 9128, None, None, None),
    ([16, 16, 16], 2, 2**48, *[2571353] * 5, 8768, 561152, 898857),
    ([16, 16, 16], 4, 2**48, *[15945922413] * 5, 40272, 164954112, 983203125),
]
UPPER = (
    published.naive_upper,
    published.product_upper,
    published.montufar_upper,
    published.serra_upper,
    lambda source: published.hinz_upper(source, base=1),
    published.hinz_upper,
)
LOWER = (published.pascanu_lower, published.montufar_lower, published.serra_lower)

sizes = st.lists(st.integers(1, 9), min_size=2, max_size=5)


def value(bound, source):
    try:
        return int(bound(source))
    except NotApplicableError:
        return None


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector[1]}-{vector[0]}")
def test_published_values(vector):
    widths, inputs, *expected = vector
    assert [value(bound, [inputs, *widths]) for bound in (*UPPER, *LOWER)] == expected


@pytest.mark.parametrize(
    ("n1", "montufar", "serra"),
    [(1, 44, 23), (5, 300864, 35443), (10, 4180992, 1744436), (11, 4194304, 2449868), (21, 4194304, 4194303)],
)
def test_twenty_two_units_on_images(n1, montufar, serra):
    source = [784, n1, 22 - n1]
    assert (int(published.montufar_upper(source)), int(published.serra_upper(source))) == (montufar, serra)
    assert serra == sum(comb(22, s) for s in range(n1 + 1))


@given(sizes)
def test_the_chain_of_inequalities(source):
    upper = [value(bound, source) for bound in UPPER]
    lower = [number for bound in LOWER if (number := value(bound, source)) is not None]
    chain = [*lower, *reversed(upper)]
    assert chain == sorted(chain)
    assert int(published.hinz_upper(source, base=0)) == int(published.serra_upper(source))


@given(st.lists(st.integers(3, 40), min_size=1, max_size=4))
def test_with_one_input_all_is_known(widths):
    exact = prod(width + 1 for width in widths)
    source = [1, *widths]
    assert (
        int(published.serra_lower(source))
        == int(published.montufar_upper(source))
        == int(published.hinz_upper(source))
        == exact
    )


def test_histograms_of_lines_are_never_left():
    """On random lines the number of active units changes by one at a time: cumulative counts stay below."""
    generator = np.random.default_rng(0)
    for width in (3, 4, 5):
        histogram = np.cumsum(_Recursion(1)(1, width)[::-1])
        best = np.zeros(width + 1, dtype=int)
        for _ in range(2000):
            signs = generator.integers(0, 2, width)
            order = generator.permutation(width)
            active = [signs.sum()]
            for unit in order:
                active.append(active[-1] + (1 if signs[unit] == 0 else -1))
            counts = np.bincount(active, minlength=width + 1)[::-1].cumsum()
            assert (counts <= histogram).all()
            best = np.maximum(best, counts)
        assert (best == histogram).all()


@pytest.mark.parametrize(
    ("inputs", "units", "rank", "sharp", "pairs"),
    [(1, 2, 3, 5, 7), (1, 4, 5, 17, 41), (2, 2, 3, 9, 22), (2, 3, 3, 19, 46), (2, 2, 4, 16, 79), (3, 3, 3, 27, 130)],
)
def test_maxout(inputs, units, rank, sharp, pairs):
    assert int(published.maxout_single_layer(inputs, [rank] * units)) == sharp
    assert int(published.maxout_serra_upper([inputs, units], rank=rank)) == pairs
    assert int(published.montufar_upper(bounds.Architecture.of([inputs, units], rank=rank))) == sharp


def test_maxout_of_rank_two_is_relu():
    assert int(published.maxout_single_layer(2, [2] * 8)) == int(published.maxout_serra_upper([2, 8])) == 37


@given(st.lists(st.integers(1, 4), max_size=7), st.integers(0, 4))
def test_maxout_against_all_sets(ranks, inputs):
    slow = sum(
        prod(rank - 1 for rank in chosen)
        for size in range(min(inputs, len(ranks)) + 1)
        for chosen in combinations(ranks, size)
    )
    assert int(published.maxout_single_layer(inputs, ranks)) == slow


@pytest.mark.parametrize(
    ("m", "d", "general", "central"), [(0, 2, 1, 1), (4, 2, 11, 8), (8, 3, 93, 58), (5, 1, 6, 2), (3, 0, 1, 1)]
)
def test_arrangements(m, d, general, central):
    assert int(published.zaslavsky(m, d)) == general
    assert int(published.central_arrangement(m, d)) == central
    assert published.zaslavsky(m, d).claim is Claim.EXACT


@pytest.mark.parametrize("zero_bias", [False, True])
def test_one_layer_in_general_position_reaches_its_bound(zero_bias):
    generator = np.random.default_rng(1)
    weight = generator.standard_normal((7, 2))
    bias = np.zeros(7) if zero_bias else generator.standard_normal(7)
    net = rs.load([(weight, bias), (np.ones((1, 7)), np.zeros(1))])
    expected = published.central_arrangement(7, 2) if zero_bias else published.zaslavsky(7, 2)
    assert len(rs.partition(net, rs.Box(-1e4, 1e4, 2))) == int(expected)


@pytest.mark.parametrize("seed", range(8))
def test_counts_never_exceed_upper_bounds(seed):
    generator = np.random.default_rng(seed)
    widths = [2, *generator.integers(1, 7, 3).tolist()]
    layers = [(generator.standard_normal((m, n)), generator.standard_normal(m)) for n, m in pairwise(widths)]
    net = rs.load([*layers, (np.ones((1, widths[-1])), np.zeros(1))])
    box = rs.Box(-5, 5, 2)
    count = len(rs.partition(net, box))
    rows = bounds.table(net, domain=box)
    assert all(int(row.finding) >= count for row in rows if row.finding and row.finding.claim is Claim.UPPER)
    assert {row.name for row in rows if row.finding} >= {"all codes", "Serra 2018", "Serra 2020, this network"}


def test_arora():
    assert int(published.arora_lower(2, zonotope=3, width=4, depth=2)) == 48
    assert int(published.arora_lower(1, zonotope=1, width=3, depth=2)) == 9


def test_architectures_of_networks():
    import torch
    from torch import nn

    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.narrow, self.wide = nn.Linear(3, 1), nn.Linear(1, 3)
            self.last = nn.Linear(3, 4)

        def forward(self, x):
            return torch.relu(self.last(x + self.wide(torch.relu(self.narrow(x)))))

    with_shortcut = bounds.Architecture.of(rs.load(Residual(), input_shape=(3,)))
    assert [layer.dimension for layer in with_shortcut.layers] == [1, 3]
    assert not with_shortcut.is_chain
    with pytest.raises(NotApplicableError, match="needs a chain of ReLU layers"):
        published.serra_upper(with_shortcut)
    model = nn.Sequential(nn.Linear(4, 3), nn.LeakyReLU(), nn.Linear(3, 5), nn.Hardtanh())
    plain = bounds.Architecture.of(rs.load(model, input_shape=(4,)))
    assert plain.is_chain
    assert not plain.is_relu
    assert [layer.ranks for layer in plain.layers] == [((2, 3),), ((3, 5),)]
    assert [layer.dimension for layer in plain.layers] == [3, 3]
    pooled = bounds.Architecture.of(rs.load(nn.MaxPool2d(2, padding=1), input_shape=(1, 3, 3)))
    assert pooled.layers[0].ranks == ((1, 1), (2, 2), (4, 1))


@pytest.mark.parametrize("source", [[], [0, 3], [2, -1]])
def test_no_architecture(source):
    with pytest.raises(InputError, match="a number of inputs and widths, all positive"):
        published.naive_upper(source)


def test_large_networks_take_moments_or_say_so():
    assert int(published.serra_upper([784, 1024, 1024, 1024])) > 10**600
    with pytest.raises(NotApplicableError, match="some hundred units more"):
        published.hinz_upper([784, 1024])


def test_bounds_say_what_they_bound():
    finding = published.serra_upper([784, 11, 11])
    assert finding.claim is Claim.UPPER
    assert finding.source == "serra2018"
    assert "activation regions" in finding.definition
    assert "784 inputs, layers of 11, 11 units; any weights, any domain" in finding.domain


@pytest.mark.parametrize(("start", "end"), [([-1.0], [1.0]), ([0.3, -1.0], [0.5, 2.0]), ([1.0, 1.0], [-2.0, -2.0])])
def test_expected_breakpoints_are_the_mean_of_many_layers(start, end):
    start, end = np.array(start), np.array(end)
    found = published.expected_breakpoints(start, end, num_units=5, weight_deviation=0.7, bias_deviation=0.4)
    generator = np.random.default_rng(0)
    weight = 0.7 * generator.standard_normal((400_000, len(start)))
    bias = 0.4 * generator.standard_normal(400_000)
    mean = 5 * (np.sign(weight @ start + bias) != np.sign(weight @ end + bias)).mean()
    assert float(found) == pytest.approx(mean, abs=0.02)
    assert float(
        published.expected_breakpoints(start, -start, num_units=3, weight_deviation=1.0, bias_deviation=0.0)
    ) == pytest.approx(3.0)


def test_the_best_bounds_are_the_extremes_of_the_table():
    net = rs.load([(np.eye(2), np.full(2, -5.0)), (np.ones((1, 2)), np.zeros(1))])
    found = bounds.upper([3, 4, 4, 4])
    assert (int(found), found.claim, found.source) == (1559, Claim.UPPER, "hinz2021")
    assert (int(bounds.upper(net)), int(bounds.upper(net, domain=rs.Box(-1, 1, 2)))) == (4, 1)  # from its weights
    found = bounds.lower([11, 33, 33])
    assert (int(found), found.claim, found.source) == (
        int(published.serra_lower([11, 33, 33])),
        Claim.LOWER,
        "serra2018",
    )
    assert int(bounds.lower([2, 5, 5])) == int(published.montufar_lower([2, 5, 5]))  # too narrow for Serra's
    with pytest.raises(NotApplicableError, match=r"take rs\.bounds\.upper"):
        bounds.lower([4, 3, 3])
