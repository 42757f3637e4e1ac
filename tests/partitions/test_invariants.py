"""What holds for every partition, on networks too large for the oracle: codes, facets, sizes, continuity."""

from functools import cache

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from oracles.segment_bisection import num_regions
from partitions.checking import check_structure, lift
from partitions.layered import network_of
from reluscope.findings import Claim
from reluscope.networks.models.from_arrays import from_arrays
from reluscope.testing import default_network


def convolutional():
    """A network on images of 2 x 6 x 6 with padding, overlapping max-pooling and a shortcut."""

    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Conv2d(2, 4, 3, padding=1)
            self.pool = nn.MaxPool2d(3, 2, padding=1)
            self.second = nn.Conv2d(4, 4, 3, padding=1)
            self.last = nn.Linear(36, 4)

        def forward(self, x):
            x = self.pool(torch.relu(self.first(x)))
            return self.last(torch.flatten(torch.relu(self.second(x)) + x, 1))

    with torch.random.fork_rng():
        torch.manual_seed(1)
        return rs.load(Residual().double(), input_shape=(2, 6, 6))


def deep_leaky():
    layers = []
    for weight, bias in default_network([2, *[10] * 8, 3], seed=4):
        layers += [("affine", 2 * weight, bias), ("pointwise", [0.0], [0.1, 1.0], [0.0, 0.0])]
    return network_of(layers[:-1], 2)


def maxout():
    generator = np.random.default_rng(3)
    layers, fan_in = [], 2
    for _ in range(3):
        layers.append(("affine", generator.normal(size=(15, fan_in)), 0.5 * generator.normal(size=15)))
        layers.append(("max", [[3 * unit, 3 * unit + 1, 3 * unit + 2] for unit in range(5)]))
        fan_in = 5
    return network_of([*layers, ("affine", generator.normal(size=(2, 5)), np.zeros(2))], 2)


def clamped():
    layers = []
    for weight, bias in default_network([2, 16, 16, 16, 2], seed=5):
        layers += [("affine", 2 * weight, bias), ("pointwise", [-0.5, 0.5], [0.0, 1.0, 0.0], [-0.5, 0.0, 0.5])]
    return network_of(layers[:-1], 2)


def zero_biases():
    return from_arrays([(weight, 0 * bias) for weight, bias in default_network([2, 24, 24, 24, 3], seed=6)])


def image_plane(margin):
    points = np.random.default_rng(2).normal(size=(3, 72))
    return rs.Plane(*points, margin=margin)


CASES = {
    "relu": lambda: (from_arrays(default_network([2, 48, 48, 48, 3])), rs.Box(-2, 2, 2)),
    "leaky": lambda: (deep_leaky(), rs.Box(-1, 1, 2)),
    "maxout": lambda: (maxout(), rs.Box(-2, 2, 2)),
    "clamp": lambda: (clamped(), rs.Box(-3, 3, 2)),
    "zero biases": lambda: (zero_biases(), rs.Box(-1, 1, 2)),
    "images": lambda: (convolutional(), image_plane(-0.35)),
    "segment": lambda: (convolutional(), rs.Segment(*np.random.default_rng(5).normal(size=(2, 72)))),
}


@cache
def case(name):
    net, domain = CASES[name]()
    return net, rs.partition(net, domain)


@pytest.fixture(params=CASES)
def partitioned(request):
    return case(request.param)


@pytest.mark.few(3)
def test_is_whole_and_exact(partitioned):
    _, part = partitioned
    assert part.claim is Claim.EXACT
    assert len(part) > 100
    check_structure(part)
    finding = part.finding()
    assert (int(finding), finding.claim, finding.interval) == (len(part), Claim.EXACT, None)


def test_the_code_of_every_region_is_that_of_the_network(partitioned):
    net, part = partitioned
    np.testing.assert_array_equal(net.codes(lift(part, part.witnesses)).words, part.codes.words)
    assert len(part.codes.unique()) == len(part)


def test_no_region_is_thinner_than_the_resolution(partitioned):
    _, part = partitioned
    diameter = np.linalg.norm(np.ptp(part.vertices, axis=0))
    if part.dim == 1:
        assert part.volumes().min() > part.tolerance.resolution * diameter
        return
    smallest = np.argsort(part.volumes())[:25]
    assert min(part[int(row)].polyhedron.insphere().radius for row in smallest) > part.tolerance.resolution * diameter


@pytest.mark.few(4)
def test_a_dense_grid_sees_no_other_code(partitioned):
    net, part = partitioned
    low, high = part.vertices.min(axis=0), part.vertices.max(axis=0)
    points = np.random.default_rng(0).uniform(low, high, (3000, part.dim))
    rows = part.locate(points)
    assert (rows >= 0).all()
    same = (net.codes(lift(part, points)).words == part.codes.words[rows]).all(axis=1)
    assert same.all()


def test_units_flip_where_their_breakpoints_are(partitioned):
    net, part = partitioned
    facets = part.facets
    middle = part.vertices[facets.vertices].mean(axis=1)
    before = [value.numpy() for value in net.preactivations(lift(part, middle))]
    pieces = {index: codes.to_array() for index, codes in enumerate(part.codes.by_gate().values())}
    owner = np.repeat(np.arange(len(facets)), np.diff(facets.flip_offsets))
    for (gate, unit), facet in zip(facets.flips, owner, strict=True):
        first, second = sorted((pieces[gate][facets.left[facet], unit], pieces[gate][facets.right[facet], unit]))
        assert first < second
        node = net.stages[gate].gate
        values = before[gate][facet, unit]
        scale = 1 + np.abs(before[gate][facet][np.isfinite(before[gate][facet])]).max()
        if node.kind in ("max", "max_pool"):
            assert abs(values[first] - values[second]) < 1e-9 * scale
            assert values.max() - values[first] < 1e-9 * scale
        else:
            levels = node.breakpoints.numpy()[first:second, 0]
            assert np.abs(values - levels).max() < 1e-9 * scale


def test_what_does_not_flip_has_the_same_sign_on_both_sides(partitioned):
    _, part = partitioned
    facets, codes = part.facets, part.codes.to_array()
    numbers = [int((codes[left] != codes[right]).sum()) for left, right in zip(facets.left, facets.right, strict=True)]
    np.testing.assert_array_equal(np.diff(facets.flip_offsets), numbers)
    np.testing.assert_array_equal([len(facets.flips_at(k)) for k in range(len(facets))], numbers)


def test_maps_agree_on_facets_and_with_the_network(partitioned):
    net, part = partitioned
    if net.num_outputs > 1:
        np.testing.assert_allclose(part.maps.weight.shape, (len(part), net.num_outputs, part.dim))
    weight, bias = part.maps.weight.numpy(), part.maps.bias.numpy()
    ends = part.vertices[part.facets.vertices]
    left = np.einsum("fmd,fed->fem", weight[part.facets.left], ends) + bias[part.facets.left][:, None]
    right = np.einsum("fmd,fed->fem", weight[part.facets.right], ends) + bias[part.facets.right][:, None]
    truth = net(lift(part, ends.reshape(-1, part.dim))).numpy().reshape(left.shape)
    scale = np.abs(truth).max()
    np.testing.assert_allclose(left, right, atol=1e-9 * scale)
    np.testing.assert_allclose(left, truth, atol=1e-9 * scale)
    np.testing.assert_allclose(part.outputs, net(lift(part, part.vertices)).numpy().reshape(len(part.vertices), -1),
                               atol=1e-9 * scale)  # fmt: skip


def test_rows_are_views_of_the_columns(partitioned):
    _, part = partitioned
    offsets, ids = part.region_vertices
    for row in (0, len(part) // 2, -1):
        region, index = part[row], row % len(part)
        assert region.index == index
        np.testing.assert_array_equal(region.vertices, part.vertices[ids[offsets[index] : offsets[index + 1]]])
        np.testing.assert_array_equal(region.witness, part.witnesses[index])
        assert region.volume == part.volumes()[index]
        assert region.code == part.codes[index]
        assert region.polyhedron.contains(region.witness)
        assert region.polyhedron.volume() == pytest.approx(region.volume, rel=1e-6)
        np.testing.assert_allclose(region.map.weight[0], part.maps.weight[index], rtol=1e-12)
    assert sum(1 for _ in part) == len(part)
    with pytest.raises(IndexError, match=str(len(part))):
        part[len(part)]


def test_corners_go_round_counter_clockwise():
    _, part = case("relu")
    offsets, ids = part.region_vertices
    for row in range(0, len(part), 7):
        corners = part.vertices[ids[offsets[row] : offsets[row + 1]]]
        sides = np.roll(corners, -1, axis=0) - corners
        turn = sides[:, 0] * np.roll(sides[:, 1], -1) - sides[:, 1] * np.roll(sides[:, 0], -1)
        assert (turn > -1e-15).all()


@pytest.mark.few(2)
@pytest.mark.parametrize("cells", [16, 2000])
def test_the_size_of_chunks_does_not_matter(partitioned, cells, chunks_of):
    net, part = partitioned
    chunks_of(cells)
    other = rs.partition(net, part.domain)
    assert other.claim is Claim.EXACT
    check_structure(other)
    ours, theirs = (np.lexsort(one.codes.words.T) for one in (part, other))
    np.testing.assert_array_equal(part.codes.words[ours], other.codes.words[theirs])
    np.testing.assert_allclose(part.volumes()[ours], other.volumes()[theirs], atol=1e-9 * part.volumes().sum())
    assert part.adjacency().nnz == other.adjacency().nnz


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(3))
def test_segments_have_as_many_regions_as_bisection_finds(seed):
    net = from_arrays(default_network([5, 20, 20, 1], seed=seed))
    start, end = np.random.default_rng(seed).normal(size=(2, 5))
    part = rs.partition(net, rs.Segment(start, end))
    found = num_regions(lambda t: net.codes(part.domain.lift(t[:, None])).to_array(), 0.0, part.domain.window.hi[0],
                        grid=5000)  # fmt: skip
    assert found == len(part)
