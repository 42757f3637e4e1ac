"""Angles between hyperplanes against closed forms, the rows of `rs.region`, autograd, and full matrices in numpy."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import reluscope as rs
from reluscope.analyses.local import directions, hyperplanes
from reluscope.datasets.demo import demo_network
from reluscope.datasets.digits import digits
from reluscope.errors import InputError, ShapeError
from reluscope.testing import strategies

X = digits("test").points
NET = rs.load(demo_network(), input_shape=(1, 8, 8))


def mixed():
    torch.manual_seed(5)
    return nn.Sequential(
        nn.Conv2d(1, 3, 3, padding=1),
        nn.Hardtanh(-0.2, 0.3),
        nn.MaxPool2d(3, stride=2, padding=1),
        nn.Conv2d(3, 4, 2),
        nn.LeakyReLU(0.1),
        nn.Flatten(),
        nn.Linear(36, 5),
        nn.ReLU(),
        nn.Linear(5, 3),
    )


MIXED = rs.load(mixed(), input_shape=(1, 8, 8))


def full_matrix(normals):
    """Return all angles in degrees, the dull way."""
    lengths = np.linalg.norm(normals, axis=1)
    angles = np.degrees(np.arccos(np.clip(normals @ normals.T / np.outer(lengths, lengths), -1.0, 1.0)))
    np.fill_diagonal(angles, 0.0)
    return angles


def check(found, angles):
    """Compare counts, sums and image with a full matrix, pair by pair."""
    gate = found.sources[:, 0]
    groups = np.diff(found.pixels)
    assert groups.sum() == len(found)
    for i in range(len(found.gates)):
        for j in range(len(found.gates)):
            part = angles[np.ix_(gate == i, gate == j)]
            pairs = part[np.triu_indices(len(part), 1)] if i == j else part.ravel()
            assert found.counts[i, j].sum() == len(pairs)
            assert found.sums[i, j] == pytest.approx(pairs.sum(), rel=1e-9, abs=1e-4)
            below = np.array([(pairs < edge).sum() for edge in found.edges[1:-1]])
            unsure = np.array([(np.abs(pairs - edge) < 1e-5).sum() for edge in found.edges[1:-1]])
            assert (np.abs(np.cumsum(found.counts[i, j])[:-1] - below) <= unsure).all()
            if len(pairs):
                assert found.means[i, j] == pytest.approx(pairs.mean(), abs=1e-5)
                width = found.edges[1]
                low, high = np.sort(pairs)[[(len(pairs) - 1) // 2, len(pairs) // 2]]
                assert low - width - 1e-5 <= found.medians[i, j] <= high + width + 1e-5
            else:
                assert np.isnan(found.means[i, j])
                assert np.isnan(found.medians[i, j])
    if len(found):
        image = np.add.reduceat(np.add.reduceat(angles, found.pixels[:-1], axis=0), found.pixels[:-1], axis=1)
        np.testing.assert_allclose(found.image, image / np.outer(groups, groups), atol=1e-5)


@pytest.mark.few(1)
@pytest.mark.parametrize("net", [NET, MIXED], ids=["mlp", "conv, hardtanh, max, leaky"])
@pytest.mark.parametrize("budget", [256 * 2**20, 300_000], ids=["in one", "in blocks"])
def test_against_the_rows_of_the_region(net, budget):
    (found,) = directions(net, X[3], bins=37, pixels=40, budget=rs.Budget(memory=budget))
    region = rs.region(net, X[3])
    np.testing.assert_array_equal(found.sources, region.sources)
    angles = full_matrix(region.polyhedron.A)
    check(found, angles)
    np.testing.assert_allclose(
        found.angles([0, len(found) - 1], budget=rs.Budget(memory=budget)), angles[[0, -1]], atol=1e-5
    )
    normals = found.hyperplanes.normals(slice(None), budget=rs.Budget(memory=budget)).numpy()
    outward = region.polyhedron.A / np.linalg.norm(region.polyhedron.A, axis=1, keepdims=True)
    np.testing.assert_allclose(normals, -outward, atol=1e-12)
    assert found.all_counts.sum() == len(found) * (len(found) - 1) // 2
    assert found.mean == pytest.approx(angles[np.triu_indices(len(angles), 1)].mean(), abs=1e-5)
    for start, stop, gate in zip(found.rows[:-1], found.rows[1:], range(len(found.gates)), strict=True):
        assert (found.sources[start:stop, 0] == gate).all()


def test_normals_are_signed_gradients():
    torch.manual_seed(1)
    layers = nn.Sequential(nn.Linear(6, 9), nn.ReLU(), nn.Linear(9, 7), nn.ReLU(), nn.Linear(7, 2)).double()
    net = rs.load(layers, input_shape=(6,))
    x = torch.randn(1, 6, dtype=torch.float64, requires_grad=True)
    planes = hyperplanes(net, x.detach())
    normals = planes.normals(slice(None), budget=rs.Budget(memory=2**20)).numpy()
    first = layers[0](x)
    second = layers[2](layers[1](first))
    rows = [(gate, unit, h) for gate, pre in enumerate((first, second)) for unit, h in enumerate(pre[0])]
    assert planes.sources[:, :2].tolist() == [[gate, unit] for gate, unit, _ in rows]
    for (_, _, h), normal in zip(rows, normals, strict=True):
        (gradient,) = torch.autograd.grad(torch.sign(h.detach()) * h, x, retain_graph=True)
        np.testing.assert_allclose(normal, (gradient / gradient.norm())[0].numpy(), atol=1e-12)


def test_closed_forms():
    W = np.array([[1.0, 0.0], [0.0, 2.0], [-3.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    net = rs.load([(W, np.array([0.0, 0.0, 0.0, 0.0, 1.0])), (np.ones((1, 5)), np.zeros(1))])
    (found,) = directions(net, [1.0, 2.0], bins=4)
    assert found.num_constant == 1
    expected = np.array([[0, 90, 0, 45], [90, 0, 90, 45], [0, 90, 0, 45], [45, 45, 45, 0]], dtype=float)
    np.testing.assert_allclose(found.angles([0, 1, 2, 3]), expected, atol=1e-13)
    (flipped,) = directions(net, [-1.0, 2.0], bins=4)  # the first two parallel rows turn around together
    assert flipped.angles([0])[0].round(6).tolist() == [0.0, 90.0, 0.0, 135.0]
    band = rs.load(
        (nn.Sequential(nn.Linear(1, 1), nn.Hardtanh())).requires_grad_(False), input_shape=(1,)
    )  # between both kinks: two opposite hyperplanes
    start = -float(band.nodes[1].bias) / float(band.nodes[1].weight)
    assert directions(band, [[start]])[0].angles([0]).round(9).tolist() == [[0.0, 180.0]]


def test_nearly_parallel_rows_exactly():
    turn = 1e-9
    net = rs.load([(np.array([[1.0, 0.0], [np.cos(turn), np.sin(turn)]]), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    (found,) = directions(net, [1.0, 1.0])
    assert found.angles([0])[0, 1] == pytest.approx(np.degrees(turn), rel=1e-6)


def test_facets_alone():
    region = rs.region(MIXED, X[2])
    some = np.sort(np.random.default_rng(0).choice(len(region.sources), 30, replace=False))
    (found,) = directions(MIXED, X[2], rows=[region.sources[some][::-1]], pixels=8)
    np.testing.assert_array_equal(found.sources, region.sources[some])
    check(found, full_matrix(region.polyhedron.A[some]))
    none = directions(MIXED, X[2], rows=[region.sources[:0]])[0]
    assert len(none) == 0
    assert np.isnan(none.mean)
    with pytest.raises(InputError, match="rows of the domain"):
        directions(MIXED, X[2], rows=[np.array([[-1, 0, -1]])])
    with pytest.raises(ShapeError, match="one table of rows per point"):
        directions(MIXED, X[:2], rows=[region.sources])


@settings(max_examples=15)
@given(st.data())
def test_degenerate_networks(data):
    net = rs.load(data.draw(strategies.degenerate_networks(num_inputs=2)))
    x = np.array([0.01, 0.03]) + data.draw(st.tuples(strategies.dyadics(), strategies.dyadics()))
    try:
        region = rs.region(net, x)
    except rs.errors.DegenerateGeometryError:
        return
    (found,) = directions(net, x, bins=7, pixels=5)
    np.testing.assert_array_equal(found.sources, region.sources)
    assert found.num_constant + len(found) == net.num_units
    if len(found):
        check(found, full_matrix(region.polyhedron.A))


def test_many_points_and_bad_options():
    found = directions(NET, X[:3], pixels=0)
    assert [len(one) for one in found] == [len(rs.region(NET, x).sources) for x in X[:3]]
    assert found[0].image.shape == (0, 0)
    for wrong in ({"bins": 0}, {"pixels": -1}):
        with pytest.raises(InputError, match="must be a whole number of at least"):
            directions(NET, X[:1], **wrong)
    with pytest.raises(InputError, match="one point"):
        hyperplanes(NET, X[:2])
    affine = rs.load([(np.eye(2), np.zeros(2))])
    (nothing,) = directions(affine, [1.0, 2.0])
    assert (len(nothing), nothing.image.shape, nothing.counts.shape) == (0, (0, 0), (0, 0, 181))


@pytest.mark.parametrize("slope", [1e-17, 1e-9])
def test_slopes_below_the_rounding_of_their_terms_are_found_in_fractions(slope):
    """z = h - h + e h - e / 2 with copies h of relu(x + 1) has a kink at -1/2; others: one at -1/4, a constant."""
    first = np.ones((3, 1)), np.ones(3)
    second = np.array([[1.0, -1.0, slope], [1.0, -1.0, -slope], [1.0, -1.0, 0.0]]), slope * np.array([-0.5, 0.75, 0.5])
    found = hyperplanes(rs.load([first, second, (np.ones((1, 3)), np.zeros(1))]), [0.0])
    assert found.sources.tolist()[3:] == [[1, 0, 0], [1, 1, 1]]
    assert found.normals(slice(3, None)).flatten().tolist() == [1.0, 1.0]
    assert found.num_constant == 1
