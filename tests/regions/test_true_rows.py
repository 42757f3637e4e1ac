"""A region's polyhedron answers for the region of the network, whatever rounding does to its rows."""

import pickle
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.errors import InputError
from reluscope.geometry.polyhedra.bounding_box import bounding_box
from reluscope.geometry.polyhedra.true_rows import KnownRows
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.networks.fractions.rational import RationalNetwork, multiplications
from reluscope.regions import exact_half_spaces
from reluscope.regions.exact_half_spaces import ExactHalfSpaces, pulled_side


def random_network(seed, widths):
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(widths)]


def exact_rows(layers, point):
    """The dull oracle: rows (a, c) of a . x + c >= 0 of a ReLU network's region, layer by layer in fractions."""
    dim = len(layers[0][0][0])
    held = [[Fraction(int(i == j)) for j in range(dim + 1)] for i in range(dim)]
    at = [*map(Fraction, map(float, point)), Fraction(1)]
    rows = []
    for weight, bias in layers[:-1]:
        seen = []
        for row, shift in zip(weight.tolist(), bias.tolist(), strict=True):
            function = [sum(Fraction(w) * one[k] for w, one in zip(row, held, strict=True)) for k in range(dim + 1)]
            function[-1] += Fraction(shift)
            is_on = sum(a * x for a, x in zip(function, at, strict=True)) > 0
            rows.append(function if is_on else [-entry for entry in function])
            seen.append(function if is_on else [Fraction(0)] * (dim + 1))
        held = seen
    return [row for row in rows if any(row[:-1])]


def determinant(rows):
    if len(rows) == 1:
        return rows[0][0]
    minors = ([[*row[:k], *row[k + 1 :]] for row in rows[1:]] for k in range(len(rows)))
    return sum((-1) ** k * rows[0][k] * determinant(minor) for k, minor in enumerate(minors) if rows[0][k])


def solution(rows):
    """The point where n rows vanish, None if they do not meet in one."""
    normals = [row[:-1] for row in rows]
    whole = determinant(normals)
    if not whole:
        return None
    dim = len(normals)
    swapped = ([[*row[:k], -row[-1], *row[k + 1 : dim]] for row in rows] for k in range(dim))
    return [Fraction(determinant(table)) / whole for table in swapped]


def true_vertices(rows, dim):
    found = {tuple(point) for some in combinations(rows, dim) if (point := solution(some)) is not None}
    values = {at: [sum(a * x for a, x in zip(row, (*at, 1), strict=True)) for row in rows] for at in found}
    return {point for point in found if min(values[point]) >= 0}


def is_truly_bounded(rows, dim):
    """A cone has a ray, or a line, among what n - 1 rows and a coordinate hyperplane at 1 or -1 leave."""
    axes = [[Fraction(int(i == j)) for j in range(dim)] for i in range(dim)]
    normals = [[*row[:-1], Fraction(0)] for row in rows] + [[*axis, Fraction(0)] for axis in axes]
    for some in combinations(normals, dim - 1):
        for axis in axes:
            for sign in (1, -1):
                ray = solution([*some, [*axis, Fraction(sign)]])
                if ray and all(sum(a * r for a, r in zip(row[:-1], ray, strict=True)) >= 0 for row in rows):
                    return False
    return True


@pytest.mark.few(1)
@pytest.mark.parametrize(("seed", "widths"), [(0, (2, 5, 4, 3, 1)), (1, (3, 4, 2, 3, 1)), (2, (3, 3, 3, 1))])
def test_bounded_vertices_volumes_against_fractions(seed, widths):
    layers, dim = random_network(seed, widths), widths[0]
    net = rs.load(layers)
    part = rs.partition(net, rs.Space(dim))
    bounded = part.is_bounded()
    assert 0 < bounded.sum() < len(part)
    for row in range(0, len(part), max(1, len(part) // 25)):
        rows = exact_rows(layers, part.witnesses[row])
        assert bounded[row] == is_truly_bounded(rows, dim)
        polyhedra = [part[row].polyhedron, rs.region(net, part.witnesses[row]).polyhedron]
        polyhedra += [
            pickle.loads(pickle.dumps(polyhedra[0])),
            polyhedra[0].intersect(rs.Polyhedron(np.zeros((1, dim)), [1])),
        ]
        corners = np.array(sorted(tuple(map(float, point)) for point in true_vertices(rows, dim))).reshape(-1, dim)
        for polyhedron in polyhedra:
            assert polyhedron.is_bounded() == bounded[row]
            assert np.isinf(polyhedron.volume()) == (not bounded[row])
            assert (bounding_box(polyhedron) is None) == (not bounded[row])
            assert np.isinf(polyhedron.diameter().upper) == (not bounded[row])
            found = polyhedron.vertices()
            assert len(found) == len(corners)
            order = np.lexsort(found.T[::-1])
            np.testing.assert_allclose(
                found[order], corners, rtol=1e-6, atol=1e-9 * (1 + np.abs(corners).max(initial=0))
            )
            if not bounded[row]:
                with pytest.raises(InputError, match="unbounded"):
                    polyhedron.sample(3)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("dim", [2, 3, 5])
def test_parallel_rows_are_a_strip(seed, dim):
    # relu(a x), relu(-a x), and then thresholds of one of them: every row is a multiple of a.
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=dim)
    thresholds = np.array([0.3, 1.1, 2.7])
    scales = rng.uniform(0.1, 10, size=3)
    layers = [
        (np.stack([normal, -normal]), np.zeros(2)),
        (scales[:, None] * np.array([[1.0, 0.0]]), -scales * thresholds),
        (np.ones((1, 3)), np.zeros(1)),
    ]
    net = rs.load(layers)
    point = normal / (normal @ normal) * 0.7  # between 0.3 and 1.1
    polyhedron = rs.region(net, point).polyhedron
    rows = exact_rows(layers, point)
    ends = sorted(float(-row[-1] / row[0]) * normal[0] for row in rows)
    width = min(end for end in ends if end > 0.7) - max(end for end in ends if end < 0.7)
    width /= np.linalg.norm(normal)
    for one in (polyhedron, pickle.loads(pickle.dumps(polyhedron))):
        assert not one.is_bounded()
        ball = one.insphere()
        assert ball.radius == pytest.approx(width / 2, rel=1e-9)
        assert ball.gap <= 1e-6 * ball.radius
        assert one.volume() == np.inf
        assert one.diameter().upper == np.inf
        assert one.width().upper == pytest.approx(width, rel=1e-6)
        assert one.width().lower == pytest.approx(width, rel=1e-6)
        assert len(one.vertices()) == 0
        assert one.maximize(np.linalg.svd(normal[None])[2][1]).value == np.inf
        again = one.to_text("cdd").split("begin")[1].split("end")[0].split("\n")[2:-1]
        directions = {
            tuple(Fraction(a) / max(map(abs, map(Fraction, row.split()[1:]))) for a in row.split()[1:]) for row in again
        }
        assert len(directions) == 2  # one row and its opposite, in fractions


def test_half_strips_and_wedges_have_no_corner_far_away():
    # Between y = 0.3 and y = 1.1, from x = 0 on, turned; and the rows once more behind a layer of small rank.
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(2, 2)))[0]
    layers = [
        (np.array([[0.0, 1.0], [1.0, 0.0]]) @ turn, np.zeros(2)),
        (np.array([[1.0, 0.0], [3.0, 0.0], [0.1, 0.0]]), np.array([-0.3, -3.3, 0.7])),
        (np.ones((1, 3)), np.zeros(1)),
    ]
    polyhedron = rs.region(rs.load(layers), np.array([2.0, 0.7]) @ turn).polyhedron
    assert not polyhedron.is_bounded()
    assert len(polyhedron.vertices()) == 2
    assert polyhedron.insphere().radius == pytest.approx(0.4, rel=1e-9)
    assert polyhedron.contains(polyhedron.insphere().center)
    assert polyhedron.width().upper == pytest.approx(0.8, rel=1e-9)


def test_slices_keep_what_their_network_has():
    layers = random_network(2, (4, 5, 5, 1))
    net = rs.load(layers)
    everywhere = rs.partition(net, rs.Space(4))
    window = rs.Slice(np.zeros(4), np.eye(4)[:2], rs.Box(-99, 99, 2))
    inner = net.restrict(window)
    for witness in everywhere.witnesses[:20, :2]:
        rows = exact_rows([(layers[0][0][:, :2], layers[0][1]), *layers[1:]], witness)
        assert rs.region(inner, witness).polyhedron.is_bounded() == is_truly_bounded(rows, 2)
        assert rs.region(net, witness, domain=window).polyhedron.is_bounded()


def test_rows_as_fractions_hold_where_floats_are_off():
    layers = random_network(0, (2, 5, 4, 3, 1))
    part = rs.partition(rs.load(layers), rs.Space(2))
    polyhedron = part[3].polyhedron
    rows = exact_rows(layers, part.witnesses[3])
    points = part.witnesses[:30]
    truth = [
        all(sum(a * Fraction(x) for a, x in zip(row, (*p, 1.0), strict=True)) >= 0 for row in rows)
        for p in points.tolist()
    ]
    assert polyhedron.contains(points).tolist() == truth


def test_a_ball_goes_as_far_out_as_a_row_needs_that_rounding_makes_constant():
    # 0 <= x - y <= 1 and 0 <= z <= 1 along (1, 1, 0), where x - y + z grows by 2^-60 of a step alone.
    small = Fraction(1, 2**60)
    rows = [(1, -1, 0, 0), (-1, 1, 0, 1), (0, 0, 1, 0), (0, 0, -1, 1), (1, small - 1, 1, Fraction(-7, 4))]
    sides = tuple(tuple(map(Fraction, row)) for row in rows)
    table = np.array([[float(entry) for entry in side] for side in sides])
    polyhedron = rs.Polyhedron._rounded(-table[:, :-1], table[:, -1], KnownRows(sides))
    ball = polyhedron._ball_far_out()
    assert ball.radius == pytest.approx(0.5**1.5, rel=1e-9)
    assert 1e15 < np.abs(ball.center).max() < 1e20
    assert ball.center[0] * float(small) > 0.1  # of what the row misses at the origin


def test_rows_are_found_once_and_not_where_fractions_take_too_long(monkeypatch):
    layers = random_network(0, (2, 5, 4, 1))
    net, point = rs.load(layers), np.array([[0.3, -0.2]])
    sources = np.array([[0, unit, 0] for unit in range(5)])
    sources[:, 2] = 1 - net.codes(point).to_array()[0, :5]
    sides = ExactHalfSpaces(net, net.codes(point), sources, np.zeros((0, 2)), np.zeros(0))
    monkeypatch.setattr(exact_half_spaces, "MULTIPLICATIONS", 0)
    assert sides.sides() is None
    monkeypatch.undo()
    found = sides.sides()
    assert [list(one) for one in found] == exact_rows(layers, point[0])[:5]
    assert sides.sides() is found
    cost = 3 * multiplications(net) + 2 * 5 * 4
    for most, is_known in ((cost, True), (cost - 1, False)):
        monkeypatch.setattr(exact_half_spaces, "MULTIPLICATIONS", most)
        again = ExactHalfSpaces(net, net.codes(point), sources, np.zeros((0, 2)), np.zeros(0))
        assert (again.sides() is not None) == is_known


def test_rows_of_largest_candidates_are_differences_of_their_functions():
    """Of two pairs, each of which has the first candidate beside the second, or the other way round."""
    weight, bias = np.array([[0.1, 0.3], [-0.7, 0.2], [0.5, 0.9], [0.3, -0.4]]), np.array([0.1, 0.2, -0.3, 0.7])
    layers = [torch.nn.Linear(2, 4), torch.nn.Unflatten(1, (1, 4)), torch.nn.MaxPool1d(2), torch.nn.Flatten()]
    net = rs.load(torch.nn.Sequential(*layers).double(), input_shape=(2,))
    net = net.with_parameters({"0.weight": weight, "0.bias": bias})
    rows = [[Fraction(entry) for entry in row] for row in np.column_stack([weight, bias]).tolist()]
    seen = set()
    for point in np.random.default_rng(0).normal(size=(12, 2)):
        code = net.codes(point[None])
        sources = np.array([[0, unit, 1 - int(own)] for unit, own in enumerate(pieces_of(code)[0][0])])
        known = ExactHalfSpaces(net, code, sources, np.zeros((0, 2)), np.zeros(0)).sides()
        for (_, unit, beyond), side in zip(sources.tolist(), known, strict=True):
            own, other = rows[2 * unit + 1 - beyond], rows[2 * unit + beyond]
            truth = [one - two for one, two in zip(own, other, strict=True)]
            assert [*side] == truth
            pulled = pulled_side(
                RationalNetwork(net), [one[0].tolist() for one in pieces_of(code)], [0, unit, beyond], most=1e6
            )
            assert [*(pulled.coefficients.get(place, 0) for place in range(2)), pulled.constant] == truth
            seen.add((unit, beyond))
    assert len(seen) == 4
