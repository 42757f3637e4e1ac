"""Facets as a table: against certificates in fractions, closed forms of slices of cubes, and torch's gradients."""

from decimal import Decimal, localcontext
from fractions import Fraction
from inspect import unwrap
from itertools import product
from math import factorial, inf
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

import reluscope as rs
from reluscope.findings import Claim
from reluscope.networks.evaluation.unit_half_spaces import Rows
from reluscope.partitions import facet_volumes, rows_of_facets
from reluscope.partitions import facets as facets_module
from reluscope.partitions.exact import exact_rows
from reluscope.testing import boxes, default_network, networks, slices

METHODS = ["incidence", "cellwise", "tree"]


def slice_of_cube(normal, offset):
    """The (d - 1)-volume of {x in [-1, 1]^d: normal . x = offset}: one power of a distance for each corner."""
    dim = len(normal)
    corners = np.array(list(product([-1.0, 1.0], repeat=dim)))
    beyond = np.maximum(offset - corners @ normal, 0.0) if dim > 1 else np.array([])
    total = np.prod(-corners, axis=1) @ beyond ** (dim - 1)
    return abs(total) / factorial(dim - 1) / abs(np.prod(normal)) * np.linalg.norm(normal)


def measure(points):
    """The (d - 1)-volume of the hull of points of a hyperplane, along axes of their own."""
    moved = points - points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(moved, full_matrices=False)
    dim = points.shape[1] - 1
    if dim == 0:
        return 1.0
    if len(points) <= dim or sizes[dim - 1] <= 1e-12 * sizes[0]:
        return 0.0
    flat = moved @ axes[:dim].T
    return float(np.ptp(flat)) if dim == 1 else ConvexHull(flat).volume


def true_facets(net, box):
    """Volumes of facets by pairs of codes: of the corners in fractions that two certified regions share."""
    proof = rs.certify(rs.partition(net, box)).certificate
    corners = [{proof.vertices[index] for index in row} for row in proof.corners]
    found = {}
    for left in range(len(corners)):
        for right in range(left):
            shared = corners[left] & corners[right]
            size = measure(np.array([[float(x) for x in point] for point in shared])) if shared else 0.0
            if size > 0:
                found[frozenset((proof.codes[left], proof.codes[right]))] = size
    return found


def code_of(part, row):
    pieces = [gate.to_array()[0] for gate in part.codes[row : row + 1].by_gate().values()]
    return tuple(tuple(map(int, piece)) for piece in pieces)


def check(part, truth):
    facets, found = part.facets, part.facets.findings()["facet_volume"]
    assert {
        frozenset((code_of(part, a), code_of(part, b))) for a, b in zip(facets.left, facets.right, strict=True)
    } == set(truth)
    sums = dict.fromkeys(truth, 0.0)
    lows, highs = dict(sums), dict(sums)
    for row, (a, b) in enumerate(zip(facets.left.tolist(), facets.right.tolist(), strict=True)):
        name = frozenset((code_of(part, a), code_of(part, b)))
        sums[name] += found.value[row]
        lows[name] += found.lower[row]
        highs[name] += found.upper[row]
    for name, size in truth.items():
        assert lows[name] * (1 - 1e-9) <= size <= highs[name] * (1 + 1e-9)
        assert sums[name] == pytest.approx(size, rel=1e-6)
    whole = facets.boundary_finding()
    assert float(whole) == pytest.approx(sum(truth.values()), rel=1e-6)
    return whole


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dim", [1, 2, 3, 4])
def test_one_layer_cuts_a_cube_in_slices(dim, method):
    draw = np.random.default_rng(dim)
    weight, bias = draw.standard_normal((4, dim)), draw.standard_normal(4) / 4
    net = rs.load([(weight, bias), (np.ones((1, 4)), np.zeros(1))])
    found = rs.partition(net, rs.Box(-1, 1, dim), method=method).facets.boundary_finding()
    truth = sum(map(slice_of_cube, weight, -bias)) if dim > 1 else np.sum(np.abs(bias) < np.abs(weight[:, 0]))
    assert float(found) == pytest.approx(truth, rel=1e-9)
    assert found.claim is Claim.EXACT


@settings(deadline=None)
@given(st.data())
def test_degenerate_networks_like_fractions(data):
    dim = data.draw(st.integers(2, 3))
    net = rs.load(data.draw(networks(dim, 2, 4)))
    box = data.draw(boxes(dim))
    part = rs.partition(net, box, method=data.draw(st.sampled_from(METHODS)))
    if part.claim is Claim.EXACT:
        check(part, true_facets(net, box))


@pytest.mark.parametrize(("dim", "method"), [(5, "incidence"), (5, "cellwise"), (6, "cellwise"), (6, "incidence")])
def test_slices_of_cubes_of_many_dimensions(dim, method):
    test_one_layer_cuts_a_cube_in_slices(dim, method)


@settings(deadline=None)
@given(st.data())
def test_jumps_are_differences_of_gradients(data):
    dim = data.draw(st.integers(1, 3))
    layers = data.draw(networks(dim, 2, 4, num_outputs=2))
    part = rs.partition(rs.load(layers), data.draw(boxes(dim)))
    facets = part.facets
    value = torch.tensor(part.witnesses, requires_grad=True)

    def forward(x):
        for weight, bias in layers[:-1]:
            x = torch.relu(x @ torch.tensor(weight).T + torch.tensor(bias))
        return x @ torch.tensor(layers[-1][0]).T + torch.tensor(layers[-1][1])

    outputs = forward(value)
    gradients = [torch.autograd.grad(outputs[:, m].sum(), value, retain_graph=True)[0].numpy() for m in range(2)]
    weight = np.stack(gradients, axis=1)
    bias = outputs.detach().numpy() - np.einsum("rmd,rd->rm", weight, part.witnesses)
    sizes = np.linalg.norm(weight[facets.right] - weight[facets.left], 2, axis=(1, 2))
    found = facets.findings()["jump"]
    assert (found.lower - 1e-13 <= sizes).all()
    assert (sizes <= found.upper + 1e-13).all()
    assert (found.upper - found.lower <= 1e-6 * (1 + sizes)).all()
    jump, normal = facets.jumps[:, :, None], facets.normals[:, None]
    scale = 1 + np.abs(weight).max()
    np.testing.assert_allclose(weight[facets.right] - weight[facets.left], jump * normal, atol=1e-9 * scale)
    np.testing.assert_allclose(
        bias[facets.right] - bias[facets.left], -facets.jumps * facets.offsets[:, None], atol=1e-8 * scale
    )
    heights = np.einsum("rd,rd->r", part.witnesses[facets.left], facets.normals) - facets.offsets
    assert (heights < 0).all()
    assert (np.einsum("rd,rd->r", part.witnesses[facets.right], facets.normals) > facets.offsets).all()


@settings(deadline=None)
@given(st.data())
def test_slices_have_facets_in_their_own_coordinates(data):
    net = rs.load(data.draw(networks(4, 2, 4)))
    slice_ = data.draw(slices(4, data.draw(st.integers(2, 3))))
    part = rs.partition(net, slice_)
    flat = rs.partition(net.restrict(slice_), slice_.window)
    assert float(part.facets.boundary_finding()) == pytest.approx(float(flat.facets.boundary_finding()))


def triangle():
    """Three lines, with a triangle of sides 3, 4 and 5 between them."""
    weight = np.array([[1.0, 0.0], [0.0, 1.0], [-4.0, -3.0]])
    return rs.load([(weight, np.array([0.0, 0.0, 12.0])), (np.ones((1, 3)), np.zeros(1))])


@pytest.mark.parametrize("method", ["cellwise", "tree"])
def test_unbounded_facets_are_infinite(method):
    facets = rs.partition(triangle(), rs.Space(2), method=method).facets
    assert sorted(facets.volumes.round(9).tolist()) == [3, 4, 5] + [inf] * 6
    assert float(facets.boundary_finding()) == inf
    assert all(claim is Claim.EXACT for claim in facets.findings()["facet_volume"].claims)


@pytest.mark.parametrize("method", ["cellwise", "tree"])
def test_prisms_have_no_end(method):
    """In space the same lines are planes that contain a direction."""
    weight = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-4.0, -3.0, 0.0]])
    net = rs.load([(weight, np.array([0.0, 0.0, 12.0])), (np.ones((1, 3)), np.zeros(1))])
    facets = rs.partition(net, rs.Space(3), method=method).facets
    assert len(facets) == 9
    assert (facets.volumes == inf).all()


@pytest.mark.parametrize("gap", [1e-5, 1e-8, 1e-10, 1e-13])
def test_planes_that_are_nearly_parallel(gap):
    """Where they cross is known to the rounding of both over the sine of their angle."""
    weight = np.array([[0.0, 0.0, 1.0], [gap, 0.0, 1.0]])
    bias = np.array([0.0, gap / 3])
    net = rs.load([(weight, bias), (np.ones((1, 2)), np.zeros(1))])
    for method in METHODS:
        part = rs.partition(net, rs.Box(-1, 1, 3), method=method)
        found = part.facets.findings()["facet_volume"]
        truth = np.array([2 * 2 / 3, 2 * 4 / 3])
        for value, low, high in zip(found.value, found.lower, found.upper, strict=True):
            if part.claim is Claim.EXACT and len(part) == 4:
                size = truth[np.abs(truth - value).argmin()]
                assert low - 1e-9 <= size <= high + 1e-9


def test_a_table_of_facets():
    part = rs.partition(triangle(), rs.Box(-10, 10, 2))
    table = part.facets.to_pandas()
    names = ["left", "right", "gate", "unit", "normal_0", "normal_1", "offset", "volume", "jump"]
    assert list(table.columns) == names
    assert len(table) == len(part.facets)
    assert table.volume.sum() == pytest.approx(float(part.facets.boundary_finding()))
    np.testing.assert_allclose(np.hypot(table.normal_0, table.normal_1), 1)


def test_what_is_missing_is_no_upper_end():
    net = rs.load(default_network([3, 8, 8, 1], 1))
    whole = float(rs.partition(net, rs.Box(-3, 3, 3)).facets.boundary_finding())
    part = rs.partition(net, rs.Box(-3, 3, 3), budget=rs.Budget(regions=40))
    found = part.facets.boundary_finding()
    assert found.claim is Claim.LOWER
    assert float(found) < whole
    assert found.interval[1] == inf


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_one_region_has_no_facets(dim):
    facets = rs.partition(rs.load([(np.ones((1, dim)), np.zeros(1))]), rs.Box(-1, 1, dim)).facets
    assert str(facets.boundary_finding()) == "0 (EXACT)"
    assert facets.normals.shape == (0, dim)
    assert len(facets.to_table()) == 0


@pytest.mark.parametrize("seed", range(8))
def test_ends_hold_the_truth_where_fractions_are_too_costly(monkeypatch, seed):
    """Planes that meet at small angles cross anywhere within the rounding of both over the sine of the angle."""
    draw = np.random.default_rng(seed)
    gap = 10.0 ** -draw.integers(6, 11)
    normal = draw.standard_normal(3)
    weight = np.stack([normal, normal + gap * draw.standard_normal(3)])
    net = rs.load([(weight, np.array([0.1, 0.1 + 0.3 * gap * draw.standard_normal()])), (np.ones((1, 2)), np.zeros(1))])
    box = rs.Box(-1, 1, 3)
    exact = volumes_by_codes(rs.partition(net, box, method="tree").facets)
    for method in ("incidence", "cellwise"):
        part = rs.partition(net, box, method=method)
        with monkeypatch.context() as patch:
            patch.setattr(exact_rows, "MULTIPLICATIONS", 0)
            found = volumes_by_codes(part.facets)
        assert part.claim is Claim.EXACT
        assert set(found) == set(exact)
        for name, (_, low, high) in found.items():
            assert low <= exact[name][0] <= high


@pytest.mark.parametrize("dim", [2, 3])
def test_unbounded_domains_without_fractions(monkeypatch, dim):
    draw = np.random.default_rng(dim)
    net = rs.load([(draw.standard_normal((6, dim)), draw.standard_normal(6)), (np.ones((1, 6)), np.zeros(1))])
    exact = volumes_by_codes(rs.partition(net, rs.Space(dim), method="tree").facets)
    part = rs.partition(net, rs.Space(dim), method="cellwise")
    monkeypatch.setattr(exact_rows, "MULTIPLICATIONS", 0)
    found = volumes_by_codes(part.facets)
    assert set(found) == set(exact)
    for name, (value, low, high) in found.items():
        assert low <= exact[name][0] <= high
        assert value == pytest.approx(exact[name][0], rel=1e-6)
        assert low == pytest.approx(value, rel=1e-6)


def volumes_by_codes(facets):
    """Volumes between their ends, by the codes on both sides."""
    words, found = facets.partition.codes.words, facets.findings()["facet_volume"]
    sides = zip(facets.left.tolist(), facets.right.tolist(), strict=True)
    names = [frozenset((words[left].tobytes(), words[right].tobytes())) for left, right in sides]
    return dict(zip(names, zip(found.value, found.lower, found.upper, strict=True), strict=True))


def test_half_spaces_where_fractions_are_too_costly(monkeypatch):
    net = rs.load(default_network([3, 6, 4, 1], 2))
    truth = volumes_by_codes(rs.partition(net, rs.Box(-2, 2, 3)).facets)
    listed = rs.partition(net, rs.Box(-2, 2, 3), method="tree")
    monkeypatch.setattr(exact_rows, "MULTIPLICATIONS", 0)
    found = volumes_by_codes(listed.facets)
    assert set(found) == set(truth)
    for name, (value, low, high) in found.items():
        assert value == pytest.approx(truth[name][0], rel=1e-9)
        assert (low, high) == (0, inf)
    assert listed.facets.boundary_finding().claim is Claim.ESTIMATE


def test_facets_along_the_axes_without_fractions(monkeypatch):
    part = rs.partition(rs.load([(np.eye(3), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))]), rs.Box(-1, 1, 3))
    monkeypatch.setattr(exact_rows, "MULTIPLICATIONS", 0)
    found = part.facets.findings()["facet_volume"]
    assert len(found) == 12
    assert (found.lower <= 1).all()
    assert (found.upper >= 1).all()
    assert (found.upper - found.lower < 1e-6).all()


@pytest.mark.parametrize("seed", range(6))
def test_hulls_are_off_by_what_rows_that_meet_them_may_have_moved(seed):
    """By hand: a unit square across an axis, and rows at all angles, on some of its corners, with errors of each."""
    rng, hull = np.random.default_rng(seed), unwrap(facet_volumes._hull)
    corners = np.array([*product([0.0, 1.0], repeat=3)])
    normals = np.array([[0.0, 0.0, 1.0], *rng.normal(size=(4, 3))])
    normals[1] = normals[0] + 0.01 * normals[1]  # nearly parallel
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    are_on = rng.random((8, 5)) < 0.4
    are_on[:, 0] = corners[:, 2] == 1
    errors = 10.0 ** rng.uniform(-6, -4, (8, 5))
    flipping = np.array([False, False, False, True, False])
    rows = SimpleNamespace(normals=normals)
    value, low, high = hull(facet_volumes._Heights(corners, errors, are_on), rows, 0, flipping)
    own = np.flatnonzero(corners[:, 2] == 1)
    away = most = max(errors[corner, 0] for corner in own)
    for row in (1, 2, 4):
        if are_on[own, row].any():
            sine = np.linalg.norm(np.cross(normals[row], normals[0]))
            away = max(away, (most + max(0.0, *(errors[corner, row] for corner in own))) / sine)
    error = 4 * away * (1 + 2 * away) + facet_volumes.HULLS
    assert value == pytest.approx(1.0)
    assert (low, high) == pytest.approx((max(0.0, 1 - error), 1 + error), rel=1e-9)
    few = are_on.copy()
    few[own[2:], 0] = False
    heights = facet_volumes._Heights(corners, errors, few)
    assert hull(heights, rows, 0, flipping) == (0.0, 0.0, inf)
    normals[4] = normals[0]  # parallel: it may cut off anything
    are_on[own, 4] = True
    heights = facet_volumes._Heights(corners, errors, are_on)
    assert hull(heights, rows, 0, flipping)[1:] == (0.0, inf)


def test_lengths_hold_what_roots_lose(monkeypatch):
    """Of corners that are exact: squares of the ends are around the square of the length in fractions."""
    rng = np.random.default_rng(0)
    vertices, pairs = rng.normal(size=(60, 2)), rng.integers(0, 60, (400, 2))
    names = unwrap(facet_volumes._lengths).__globals__
    monkeypatch.setitem(names, "corner_errors", lambda part: np.zeros(60))
    facets = SimpleNamespace(partition=SimpleNamespace(vertices=vertices), vertices=pairs)
    found = unwrap(facet_volumes._lengths)(facets)
    for (one, other), low, high in zip(pairs.tolist(), found.lower.tolist(), found.upper.tolist(), strict=True):
        square = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(*vertices[[one, other]].tolist(), strict=True))
        assert Fraction(low) ** 2 <= square <= Fraction(high) ** 2
    monkeypatch.setitem(names, "corner_errors", lambda part: np.arange(60) / 2)
    moved = unwrap(facet_volumes._lengths)(facets)
    assert moved.upper == pytest.approx(moved.value + pairs.sum(axis=1) / 2)
    assert moved.lower == pytest.approx(np.maximum(0.0, moved.value - pairs.sum(axis=1) / 2))


@pytest.mark.parametrize("seed", range(3))
def test_lengths_in_fractions_hold_what_their_roots_lose(seed):
    """Parallel lines through a square: squares of the ends are around the square of the length in fractions."""
    rng = np.random.default_rng(seed)
    normal, offsets = rng.uniform(0.1, 1, 2), rng.uniform(-0.9, 0.9, 16)
    net = rs.load([(np.tile(normal, (16, 1)), normal.sum() * offsets), (np.ones((1, 16)), np.zeros(1))])
    facets = rs.partition(net, rs.Box(-1, 1, 2), method="tree").facets
    found = facets.findings()["facet_volume"]
    assert len(found) == 16
    first, second = map(Fraction, normal.tolist())
    for unit, low, high in zip(facets.units.tolist(), found.lower.tolist(), found.upper.tolist(), strict=True):
        bias = Fraction(float((normal.sum() * offsets)[unit]))
        ends = sorted((-bias - second * side) / first for side in (-1, 1))  # along the first axis
        across = min(ends[1], Fraction(1)) - max(ends[0], Fraction(-1))
        assert Fraction(low) ** 2 <= across**2 * (1 + (first / second) ** 2) <= Fraction(high) ** 2
    assert (found.upper - found.lower < 1e-14).all()


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_rows_are_off_by_their_terms(dim):
    """By hand: noise over the length, and roundings of the slack and the witness; rows without direction stay away."""
    rng, shape, rounding = np.random.default_rng(dim), (40, 5), rows_of_facets.ROUNDING
    normals = 10.0 ** rng.uniform(-3, 3, (*shape, 1)) * rng.normal(size=(*shape, dim))
    slack, noise, below = 10.0 ** rng.uniform(-9, 9, (3, *shape))
    noise, below, exists = 1e-9 * noise, 1e-9 * below, rng.random(shape) < 0.8
    gate = Rows(normals, np.zeros(shape), rng.integers(9, size=(*shape, 3)), exists, slack, noise, below)
    witnesses = 10.0 ** rng.uniform(-3, 6, (len(slack), 1)) * rng.normal(size=(len(slack), dim))
    part, length, own = (
        SimpleNamespace(window=rs.Box(-1, 1, dim)),
        np.linalg.norm(normals, axis=2),
        slice(2 * dim, None),
    )
    found, ends, errors, tilts, sources = unwrap(rows_of_facets._unit_tables)(part, witnesses, [gate])
    is_known = exists & (length > 2 * dim * below)
    assert 0.2 < is_known.mean() < 0.8
    length = np.where(is_known, length, 1.0)
    units = np.where(is_known[..., None], normals / length[..., None], 0.0)
    moved = rounding * (slack / length + np.abs(witnesses).sum(axis=1)[:, None])
    assert found[:, own] == pytest.approx(units, rel=1e-12, abs=0)
    assert ends[:, own] == pytest.approx((units * witnesses[:, None]).sum(axis=2) + slack / length, rel=1e-9)
    assert errors[:, own] == pytest.approx(noise / length + moved, rel=1e-9, abs=0)
    assert tilts[:, own] == pytest.approx(below / length + rounding, rel=1e-9, abs=0)
    assert (errors[:, : 2 * dim] == rounding).all()
    assert (tilts[:, : 2 * dim] == rounding).all()
    assert (sources[:, own] == gate.sources).all()
    for row, clear in enumerate(unwrap(rows_of_facets._clear)(gate, dim).tolist()):
        hidden = np.flatnonzero(exists[row] & ~is_known[row])
        steepest = np.linalg.norm(normals[row], axis=1) + dim * below[row]
        away = np.maximum(slack[row] - noise[row], 0.0)[hidden] / steepest[hidden]
        assert clear == pytest.approx(away.min(initial=inf), rel=1e-12, abs=0)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_rows_are_as_far_off_as_they_say(dim):
    """Against numbers of 60 digits: unit normals and ends of rows that are exact, and of sides of a polyhedron."""
    rng, shape = np.random.default_rng(dim), (60, 4)
    normals = 10.0 ** rng.uniform(-9, 9, (*shape, 1)) * rng.normal(size=(*shape, dim))
    slack, witnesses = (
        10.0 ** rng.uniform(-9, 9, shape),
        10.0 ** rng.uniform(-3, 9, (60, 1)) * rng.normal(size=(60, dim)),
    )
    nothing, sides = np.zeros(shape), rng.normal(size=(40, dim))
    gate = Rows(normals, nothing, np.zeros((*shape, 3), dtype=int), nothing == 0, slack, nothing, nothing)
    part = SimpleNamespace(window=rs.Polyhedron(sides, np.abs(sides).sum(axis=1) * 10.0 ** rng.uniform(-3, 9, 40)))
    found, ends, errors, tilts, _ = unwrap(rows_of_facets._unit_tables)(part, witnesses, [gate])
    wall, most = part.window.polyhedron.inequalities()
    with localcontext() as context:
        context.prec = 60
        for point in range(60):
            rows = np.concatenate([wall, normals[point]])
            for place, row in enumerate(rows.tolist()):
                length = sum(Decimal(entry) ** 2 for entry in row).sqrt()
                units = [Decimal(entry) / length for entry in row]
                at = place - len(wall)
                end = Decimal(float(most[place] if at < 0 else slack[point, at])) / length
                end += (
                    0 if at < 0 else sum(a * Decimal(x) for a, x in zip(units, witnesses[point].tolist(), strict=True))
                )
                assert abs(Decimal(float(ends[point, place])) - end) <= Decimal(float(errors[point, place]))
                for unit, entry in zip(units, found[point, place].tolist(), strict=True):
                    assert abs(Decimal(entry) - unit) <= Decimal(float(tilts[point, place]))


def test_jumps_are_off_by_the_errors_of_the_maps_on_both_sides(monkeypatch):
    part = rs.partition(rs.load(default_network([2, 5, 2], 1)), rs.Box(-1, 1, 2))
    proper = facets_module.maps_of_codes

    def known(network, codes):
        of_codes, _ = proper(network, codes)
        return of_codes, np.tile([3.0, 4.0], (len(codes), 1)) * (1 + (codes.words.sum(axis=1) % 3)[:, None])

    monkeypatch.setattr(facets_module, "maps_of_codes", known)
    facets = part.facets
    found = facets.findings()["jump"]
    sizes = [5.0 * (1 + part.codes.words[side].sum(axis=1) % 3) for side in (facets.left, facets.right)]
    assert found.upper - found.value == pytest.approx(np.sqrt(2) * (sizes[0] + sizes[1]))
    assert (found.lower == 0).all()


def test_jumps_hold_the_rounding_of_differences(monkeypatch):
    """Of maps that are taken for exact: the size of what they differ by, in fractions."""
    part = rs.partition(rs.load(default_network([2, 9, 2], 1)), rs.Box(-1, 1, 2))
    maps = np.random.default_rng(0).normal(size=(len(part), 2, 2)) * np.pi
    rows = {word: row for row, word in enumerate(part.codes.words[:, 0].tolist())}

    def known(network, codes):
        weight = maps[[rows[word] for word in codes.words[:, 0].tolist()]]
        return SimpleNamespace(weight=torch.from_numpy(weight)), np.zeros((len(codes), 2))

    monkeypatch.setattr(facets_module, "maps_of_codes", known)
    facets = part.facets
    found = facets.findings()["jump"]
    ends = zip(facets.left.tolist(), facets.right.tolist(), found.lower.tolist(), found.upper.tolist(), strict=True)
    for left, right, low, high in ends:
        entries = zip(maps[left].ravel().tolist(), maps[right].ravel().tolist(), strict=True)
        size = sum((Fraction(b) - Fraction(a)) ** 2 for a, b in entries)
        assert Fraction(low) ** 2 <= size <= Fraction(high) ** 2


@pytest.mark.parametrize("dim", [2, 3, 5])
def test_directions_of_a_facet_are_off_by_what_its_row_and_others_may_turn(dim, monkeypatch):
    """By entries' errors times the root of their number, of all rows but those of zeros and of the facet itself."""
    generator, asked = np.random.default_rng(dim), []
    normals = generator.normal(size=(6, dim))
    normals[2, 0] = 0.0
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    normals[4] = 0.0
    rows = SimpleNamespace(normals=normals, entry_errors=generator.random(6) * 1e-9)
    monkeypatch.setattr(facet_volumes, "decide", lambda *told: asked.append(told) or ([True], [True]))
    flipping = np.arange(6) == 3
    assert unwrap(facet_volumes._is_endless)(rows, 1, flipping) is False
    ((directions, errors),) = asked
    others = [0, 2, 5]
    expected = np.sqrt(dim) * (rows.entry_errors[others] + rows.entry_errors[1])
    assert errors[0] == pytest.approx(np.tile(expected[:, None], dim - 1))
    products = normals[others] @ normals[others].T - np.outer(
        normals[others] @ normals[1], normals[others] @ normals[1]
    )
    assert directions[0] @ directions[0].T == pytest.approx(products)
    for is_bounded, is_proved, answer in ((True, False, None), (False, False, None), (False, True, True)):
        told = ([is_bounded], [is_proved])
        monkeypatch.setattr(facet_volumes, "decide", lambda *_, told=told: told)
        assert unwrap(facet_volumes._is_endless)(rows, 1, flipping) is answer


def test_offsets_are_no_negative_zeros():
    facets = rs.partition(rs.load([(-np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]), rs.Box(-1, 1, 2)).facets
    assert (facets.offsets == 0).all()
    assert not np.signbit(facets.offsets).any()
    assert not np.signbit(facets.normals[facets.normals == 0]).any()
