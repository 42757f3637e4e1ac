"""Regions at points: rows, sources and maps against the conventions, autograd, sampling and the oracles."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reluscope as rs
from hidden_rows import with_hidden_row
from oracles.fractions_plane import rectangle, split
from reluscope.errors import DegenerateGeometryError, InputError, ShapeError
from reluscope.networks.building.builder import GraphBuilder
from reluscope.networks.graph.choosing_gates import Max
from reluscope.testing import default_network, degenerate_networks, networks, slices


def relu_network(*layers):
    return rs.load([(np.array(W, dtype=float), np.array(b, dtype=float)) for W, b in layers])


def code_of(region) -> tuple[int, ...]:
    return tuple(int(piece) for piece in region.code.to_array()[0])


def has_code(net, points, code) -> bool:
    """Whether points have a code, up to units so near to a breakpoint that their sums round to either side."""
    points = np.atleast_2d(points)
    near = []
    for stage, pre in zip(net.stages, net.preactivations(points), strict=True):
        if isinstance(stage.gate, Max):
            near.append(np.zeros(pre.shape[:2], dtype=bool))
        else:
            near.append(((pre - stage.gate.breakpoints[:, None]).abs() < 1e-12).any(dim=0).numpy())
    return bool(((net.codes(points).to_array() == np.array(code)) | np.concatenate(near, axis=1)).all())


def check_region(net, region, x=None) -> None:
    """Check everything that a region promises, without using how it was made."""
    P = region.polyhedron
    assert (P.A @ region.witness < P.b).all()
    assert has_code(net, region.witness, code_of(region))
    assert len(region.sources) == len(P.b)
    if x is not None:
        assert P.contains(x, 1e-9)
    generator = np.random.default_rng(0)
    inside = [region.witness + t * d for d in generator.normal(size=(40, P.dim)) for t in (1e-3, 0.1, 1.0)]
    inside = [y for y in inside if (P.A @ y < P.b - 1e-9 * (1 + np.abs(P.b))).all()]
    if inside:
        assert has_code(net, inside, code_of(region))
        expected = net(np.array(inside)).reshape(len(inside), -1)
        weight, bias = region.map.weight[0], region.map.bias[0]
        torch.testing.assert_close(torch.tensor(np.array(inside)) @ weight.T + bias, expected, atol=1e-8, rtol=1e-8)


def check_flips(net, region) -> None:
    """Cross every facet at a point in its relative interior: exactly its units change, to the pieces that it names."""
    P = region.polyhedron
    units = np.cumsum([0, *(gate.num_units for gate in net.gates)])
    groups = P.facets()
    if not np.isfinite(region.polyhedron.insphere().radius):
        return
    for number, group in enumerate(groups):
        others = np.concatenate([g for i, g in enumerate(groups) if i != number] or [np.array([], dtype=int)])
        rows = others.astype(int)
        row = group[0]
        named = {int(units[g] + u): int(piece) for g, u, piece in region.sources[group] if g >= 0}
        if not named:
            continue
        cut = rs.Polyhedron(P.A[rows], P.b[rows], P.A[[row]], P.b[[row]]).insphere()
        if not cut.radius > 1e-4:
            continue
        normal = P.A[row] / np.linalg.norm(P.A[row])
        beyond = net.codes(cut.center + 1e-7 * normal).to_array()[0]
        changed = {int(i) for i in np.flatnonzero(beyond != np.array(code_of(region)))}
        # Units of later layers may bend along the same hyperplane, without a row here: at least one named unit flips.
        first = min(named)
        assert first in changed
        assert beyond[first] == named[first]


def test_conventions_of_a_hidden_layer() -> None:
    net = relu_network(([[1, 2], [3, -1], [0, 0]], [0.5, 1, -2]), ([[1, 1, 1]], [0]))
    region = rs.region(net, [1.0, 6.0], domain=rs.Box(-10, 10, 2))
    np.testing.assert_array_equal(
        region.polyhedron.A, [[-1, -2], [3, -1], [1, 0], [0, 1], [-1, 0], [0, -1]]
    )  # fmt: skip
    np.testing.assert_array_equal(region.polyhedron.b, [0.5, -1, 10, 10, 10, 10])
    np.testing.assert_array_equal(
        region.sources, [[0, 0, 0], [0, 1, 1], [-1, 0, -1], [-1, 1, -1], [-1, 2, -1], [-1, 3, -1]]
    )
    assert code_of(region) == (1, 0, 0)
    np.testing.assert_array_equal(region.witness, [1, 6])
    assert region.map.weight[0].tolist() == [[1, 2]]
    with pytest.raises(ValueError, match="read-only"):
        region.witness[0] = 0


@pytest.mark.few(1)
@pytest.mark.parametrize("sizes", [[1, 5, 4, 1], [2, 8, 8, 1], [3, 6, 6, 2], [5, 10, 3]])
def test_generic_networks(sizes: list[int]) -> None:
    net = rs.load(default_network(sizes, seed=1))
    points = np.random.default_rng(2).normal(size=(25, sizes[0]))
    for x, region in zip(points, rs.regions(net, points), strict=True):
        np.testing.assert_array_equal(region.witness, x)
        assert len(region.polyhedron.b) <= sum(sizes[1:-1])
        check_region(net, region, x)
        check_flips(net, region)


def test_rows_are_gradients_of_units() -> None:
    net = rs.load(default_network([4, 7, 6, 1], seed=3))
    x = torch.randn(4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    region = rs.region(net, x)
    layers = [(torch.tensor(W), torch.tensor(b)) for W, b in default_network([4, 7, 6, 1], seed=3)]

    def unit(z: torch.Tensor, gate: int, index: int) -> torch.Tensor:
        for W, b in layers[:gate]:
            z = torch.relu(W @ z + b)
        return (layers[gate][0] @ z + layers[gate][1])[index]

    for row, offset, (gate, index, beyond) in zip(
        region.polyhedron.A, region.polyhedron.b, region.sources, strict=True
    ):  # fmt: skip
        z = x.clone().requires_grad_()
        value = unit(z, int(gate), int(index))
        (slope,) = torch.autograd.grad(value, z)
        sign = -1 if beyond == 0 else 1
        np.testing.assert_allclose(row, sign * slope.numpy(), atol=1e-14)
        assert row @ x.numpy() - offset == pytest.approx(sign * value.item(), abs=1e-13)


@settings(max_examples=20)
@given(degenerate_networks(2, max_layers=3, max_width=4), st.integers(0, 1000))
def test_degenerate_networks_against_fractions(parameters, seed: int) -> None:
    """Every region of the exact oracle is found from its centroid, with its area, facets and code."""
    net = rs.load(parameters)
    pieces = split(parameters, rectangle(-2, 2))
    pieces = [pieces[i] for i in np.random.default_rng(seed).permutation(len(pieces))[:5]]
    centers = np.array([[float(c) for c in piece.centroid] for piece in pieces])
    for piece, region in zip(pieces, rs.regions(net, centers, domain=rs.Box(-2, 2, 2)), strict=True):
        assert code_of(region) == piece.code
        check_region(net, region)
        assert region.polyhedron.volume() == pytest.approx(float(piece.measure), rel=1e-9)
        assert len(region.polyhedron.facets()) == len(region.polyhedron.vertices())
        corners = {tuple(float(c) for c in v) for v in piece.vertices}
        distance = np.abs(np.array(sorted(corners))[:, None] - region.polyhedron.vertices()).max(axis=-1)
        assert distance.min(axis=1).max() < 1e-9
        map_ = np.column_stack([region.map.weight[0].numpy(), region.map.bias[0].numpy()])
        np.testing.assert_allclose(map_, [[float(c) for c in row] for row in piece.map], atol=1e-12)
        check_flips(net, region)


@settings(max_examples=10)
@given(networks(3, max_layers=2, max_width=5), st.integers(0, 1000))
def test_points_of_one_region_agree(parameters, seed: int) -> None:
    net = rs.load(parameters)
    points = np.random.default_rng(seed).uniform(-2, 2, size=(10, 3))
    single = [rs.region(net, x) for x in points]
    for one, many in zip(single, rs.regions(net, points, budget=rs.Budget(memory=1)), strict=True):
        np.testing.assert_allclose(one.polyhedron.A, many.polyhedron.A, atol=1e-14)
        np.testing.assert_array_equal(one.sources, many.sources)
        assert one.code == many.code
        check_region(net, many)


@settings(max_examples=20)
@given(networks(3, max_layers=2, max_width=4), slices(3, 2), st.integers(0, 1000))
def test_a_slice_is_the_restricted_network(parameters, plane, seed: int) -> None:
    net = rs.load(parameters)
    y = plane.window.lo + (plane.window.hi - plane.window.lo) * np.random.default_rng(seed).uniform(0.01, 0.99, (3, 2))
    try:
        found = rs.regions(net, y, domain=plane)
    except DegenerateGeometryError:
        assume(False)
        return
    restricted = net.restrict(plane)
    for region in found:
        check_region(restricted, region)
        assert region.polyhedron.is_bounded()
        assert has_code(net, plane.lift(region.witness), code_of(region))
    np.testing.assert_allclose(
        [region.polyhedron.volume() for region in found],
        [region.polyhedron.volume() for region in rs.regions(restricted, y, domain=plane.window)],
        rtol=1e-9,
    )


def test_pieces_between_breakpoints_have_two_rows() -> None:
    builder = GraphBuilder()
    z = builder.linear(builder.input((1,)), torch.ones(1, 1, dtype=torch.float64), torch.zeros(1, dtype=torch.float64))
    net = builder.build(builder.relu6(z))
    expected = {
        -1.0: ([[1]], [0], [[0, 0, 1]]),
        3.0: ([[-1], [1]], [0, 6], [[0, 0, 0], [0, 0, 2]]),
        9.0: ([[-1]], [-6], [[0, 0, 1]]),
    }
    for x, (A, b, sources) in expected.items():
        region = rs.region(net, [x])
        np.testing.assert_array_equal(region.polyhedron.A, A)
        np.testing.assert_array_equal(region.polyhedron.b, b)
        np.testing.assert_array_equal(region.sources, sources)
        check_region(net, region, [x])
        check_flips(net, region)


def tensors(seed: int, *shapes: tuple[int, ...]) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, dtype=torch.float64, generator=generator) for shape in shapes]


def test_max_pooling_with_padding_over_dead_units() -> None:
    builder = GraphBuilder()
    kernel, shift, points = tensors(1, (2, 1, 2, 2), (2,), (20, 1, 3, 3))
    image = builder.relu(builder.convolution(builder.input((1, 3, 3)), kernel, shift))
    net = builder.build(builder.max_pool(image, 2, padding=1))
    relu, pool = net.gates
    for x, region in zip(points, rs.regions(net, points), strict=True):
        check_region(net, region, x.reshape(-1))
        check_flips(net, region)
        of_pool = region.sources[:, 0] == 1
        assert (region.sources[of_pool, 1] < pool.num_units).all()
        assert (region.sources[of_pool, 2] < pool.num_pieces).all()
        assert (region.sources[~of_pool, 1] < relu.num_units).all()


@pytest.mark.slow
def test_residual_sums_and_steep_gates() -> None:
    builder = GraphBuilder()
    first, second, points = tensors(2, (4, 3), (4, 4), (20, 3))
    trunk = builder.linear(builder.input((3,)), first)
    hidden = builder.leaky_relu(builder.linear(builder.hardtanh(trunk), second), 0.1)
    net = builder.build(builder.absolute(builder.add(trunk, hidden)))
    for x, region in zip(points, rs.regions(net, points), strict=True):
        check_region(net, region, x)
        check_flips(net, region)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_other_gates_against_fractions(seed: int) -> None:
    first, shift, second, third = tensors(seed, (6, 2), (6,), (4, 3), (2, 4))
    builder = GraphBuilder()
    z = builder.maxout(builder.linear(builder.input((2,)), first, shift), 0, 2)
    z = builder.relu6(builder.linear(z, second))
    net = builder.build(builder.leaky_relu(builder.linear(z, third), 0.25))
    layers = [
        ("affine", first.numpy(), shift.numpy()),
        ("max", [[0, 1], [2, 3], [4, 5]]),
        ("affine", second.numpy(), np.zeros(4)),
        ("pointwise", [0, 6], [0, 1, 0], [0, 0, 6]),
        ("affine", third.numpy(), np.zeros(2)),
        ("pointwise", [0], [0.25, 1], [0, 0]),
    ]
    pieces = split(layers, rectangle(-3, 3))
    centers = np.array([[float(c) for c in piece.centroid] for piece in pieces])
    for piece, region in zip(pieces, rs.regions(net, centers, domain=rs.Box(-3, 3, 2)), strict=True):
        assert code_of(region) == piece.code
        assert region.polyhedron.volume() == pytest.approx(float(piece.measure), rel=1e-9)
        check_flips(net, region)


def test_dead_units_and_equal_candidates_leave_no_rows() -> None:
    net = relu_network(([[1], [1]], [-5, -5]), ([[1, 1], [1, -1]], [-1, 0]), ([[1, 1]], [0]))
    region = rs.region(net, [0.0])
    np.testing.assert_array_equal(region.sources, [[0, 0, 1], [0, 1, 1]])
    assert code_of(region) == (0, 0, 0, 0)
    assert len(region.polyhedron.facets()) == 1


def test_a_kink_with_a_region_has_an_interior_witness() -> None:
    net = relu_network(([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0]))
    for x in ([0.0, 0.0], [0.0, 3.0], [-2.0, 0.0]):
        region = rs.region(net, x)
        check_region(net, region, x)
        assert not np.array_equal(region.witness, x)
    corner = rs.region(net, [1.0, 1.0], domain=rs.Box(-1, 1, 2))
    check_region(net, corner, [1.0, 1.0])
    np.testing.assert_allclose(corner.witness, [0.5, 0.5], atol=1e-8)


def test_a_code_without_interior_names_its_units() -> None:
    absolute = relu_network(([[1, 0], [-1, 0], [0, 1]], [0, 0, 0]), ([[1, 1, 1]], [0]))
    with pytest.raises(DegenerateGeometryError, match=r"point 1 .*relu 0\[0\], relu 0\[1\]"):
        rs.regions(absolute, [[1.0, 2.0], [0.0, 2.0]])


def test_domains_cut_regions() -> None:
    net = relu_network(([[1, 1]], [0]), ([[1]], [0]))
    triangle = rs.Polyhedron([[-1, 0], [0, -1], [1, 1]], [1, 1, 1])
    region = rs.region(net, [0.1, 0.1], domain=triangle)
    np.testing.assert_array_equal(region.sources, [[0, 0, 0], [-1, 0, -1], [-1, 1, -1], [-1, 2, -1]])
    assert rs.region(net, [0.1, 0.1], domain=rs.Space(2)).polyhedron.A.shape == (1, 2)
    assert not rs.region(net, [0.1, 0.1]).polyhedron.is_bounded()
    with pytest.raises(InputError, match="point 0 lies outside"):
        rs.region(net, [5.0, 5.0], domain=triangle)
    with pytest.raises(ShapeError):
        rs.region(net, [0.1, 0.1], domain=rs.Box(0, 1, 3))
    with pytest.raises(ShapeError, match="one point"):
        rs.region(net, [[0.1, 0.1], [0.2, 0.2]])


def test_a_network_without_gates_is_one_region() -> None:
    net = relu_network(([[1, 2]], [3]))
    region = rs.region(net, [0, 0])
    assert region.polyhedron.A.shape == (0, 2)
    assert region.polyhedron.insphere().radius == np.inf
    assert rs.region(net, [0, 0], domain=rs.Box(-1, 1, 2)).polyhedron.volume() == pytest.approx(4)


def test_gradients_that_fade_with_depth_are_no_rounding() -> None:
    # Without biases regions do not depend on the size of weights; gradients of late layers are tiny or huge.
    generator = np.random.default_rng(0)
    sizes = [4, *[20] * 14]
    weights = [generator.uniform(-1, 1, (b, a)) / np.sqrt(a) for a, b in itertools.pairwise(sizes)]
    counts, radii = set(), []
    for scale in (2.0**-3, 1.0, 2.0**6):
        net = rs.load(
            [*((scale * weight, np.zeros(len(weight))) for weight in weights), (np.ones((1, 20)), np.zeros(1))]
        )
        found = rs.region(net, [0.3, -0.2, 0.5, 0.1], domain=rs.Box(-1, 1, 4))
        counts.add(len(found.polyhedron.b))
        radii.append(found.polyhedron.insphere().radius)
    assert len(counts) == 1
    assert np.ptp(radii) < 1e-9 * radii[0]


@pytest.mark.parametrize("width", [20, 700])
def test_rows_hidden_by_rounding_bound_regions_of_networks_that_fractions_read_backward(width) -> None:
    found = rs.region(with_hidden_row(width), [0.0, 0.0], domain=rs.Box(-1, 1, 2))
    assert found.polyhedron.volume() == pytest.approx(3.0)
    assert [1, 0, 0] in found.sources.tolist()
    assert found.clear == np.inf


def test_regions_of_larger_networks_say_that_a_row_is_missing() -> None:
    found = rs.region(with_hidden_row(1100), [0.0, 0.0], domain=rs.Box(-1, 1, 2))
    assert [1, 0, 0] not in found.sources.tolist()
    assert found.clear == 0


def test_rows_of_one_point_become_one_table_without_a_copy():
    # Of pooled candidates one in four is no row: the others move up in the memory that all had.
    module = torch.nn.Sequential(
        torch.nn.Conv2d(1, 3, 3),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(27, 8),
        torch.nn.ReLU(),
        torch.nn.Linear(8, 2),
    )
    net, x = rs.load(module, (1, 8, 8)), np.random.default_rng(0).random(64)
    alone = rs.region(net, x)
    beside, boxed = rs.regions(net, [x, 0.5 * x])[0], rs.region(net, x, domain=rs.Box(-1, 2, 64))
    rows = len(alone.polyhedron.b)
    for other in (beside, boxed):
        np.testing.assert_allclose(other.polyhedron.A[:rows], alone.polyhedron.A, rtol=1e-12, atol=1e-15)
        np.testing.assert_array_equal(other.sources[:rows], alone.sources)
    assert (alone.polyhedron.A @ x <= alone.polyhedron.b).all()
    table = alone.polyhedron.A if alone.polyhedron.A.base is None else alone.polyhedron.A.base
    assert table.shape == alone.polyhedron.A.shape
    at = net.at(x)
    normals = [rows.normals.copy() for rows in at.half_spaces]
    rs.region(net, x)
    for before, rows in zip(normals, at.half_spaces, strict=True):
        np.testing.assert_array_equal(before, rows.normals)
