"""Persistence: against Betti numbers of sublevel sets cut by the engine, and functions whose bars are known."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import reluscope as rs
from analyses.topology.test_betti import AROUND, ball, integer_layers, with_idle_units
from partitions import bodies
from reluscope.analyses.topology import vertex_values


def bars(found, dimension):
    """Beginnings and ends in one dimension, sorted."""
    rows = found.keys["dimension"] == dimension
    ends = np.stack([found["birth_level"].value, found["death_level"].value], axis=1)[rows]
    return sorted((float(one), float(other)) for one, other in ends)


def wild(*sizes, seed):
    """A network with many hills."""
    rng = np.random.default_rng(seed)
    return [
        (rng.standard_normal((m, n)) * 2 / np.sqrt(n), rng.standard_normal(m)) for n, m in itertools.pairwise(sizes)
    ]


@pytest.mark.parametrize(("sizes", "seed"), [((1, 20, 20, 1), 0), ((2, 12, 12, 1), 1), ((3, 8, 8, 1), 2)])
def test_bars_that_last_are_the_betti_numbers_of_sublevel_sets(sizes, seed):
    part = rs.partition(rs.load(wild(*sizes, seed=seed)), rs.Box(-3, 3, sizes[0]))
    found = rs.topology.persistence(part)
    assert set(found["birth_level"].claims) | set(found["death_level"].claims) == {rs.Claim.EXACT}
    births, deaths = found["birth_level"].value, found["death_level"].value
    assert (births < deaths).all()
    assert np.isinf(deaths).sum() == 1
    ends = np.unique(np.concatenate([births, deaths[np.isfinite(deaths)]]))
    levels = np.concatenate([[ends[0] - 1], (ends[1:] + ends[:-1]) / 2, [ends[-1] + 1]])
    for level in levels[:: max(1, len(levels) // 12)]:
        alive = np.bincount(found.keys["dimension"][(births <= level) & (level < deaths)], minlength=sizes[0] + 1)
        cut = rs.topology.betti(part, of="sublevel", level=float(level))
        assert alive.tolist() == cut["betti_number"].value.astype(int).tolist()


def test_bars_begin_and_end_where_the_function_has_their_levels():
    network = rs.load(wild(2, 12, 12, 1, seed=5))
    found = rs.topology.persistence(rs.partition(network, rs.Box(-3, 3, 2)))
    for name, column in (("births", "birth_level"), ("deaths", "death_level")):
        levels = found[column].value
        assert np.array_equal(np.isnan(found.details[name]).any(1), np.isinf(levels))
        there = np.isfinite(levels)
        assert np.allclose(network(found.details[name][there])[:, 0], levels[there])


def test_bodies():
    # Least of distances in the largest norm: two cubes at distance 1 meet halfway.
    two = rs.topology.persistence(rs.partition(bodies.by_maxima(bodies.TWO), AROUND))
    assert np.allclose(bars(two, 0), [(-0.5, 0.5), (-0.5, np.inf)])
    frame = rs.topology.persistence(rs.partition(bodies.by_maxima(bodies.FRAME), AROUND))
    assert np.allclose(bars(frame, 1), [(-0.5, 0.5)])  # the hole has side 1
    hollow = rs.topology.persistence(rs.partition(bodies.by_maxima(bodies.HOLLOW), AROUND))
    assert np.allclose(bars(hollow, 2), [(-0.5, 0.5)])


@pytest.mark.parametrize("seed", range(4))
def test_units_that_do_nothing_change_no_bar(seed):
    dim = 2 + seed % 2
    layers = integer_layers(dim, 5, 5, 1, seed=seed)
    plain, idle = (
        rs.topology.persistence(rs.partition(rs.load(one), rs.Box(-2, 2, dim)))
        for one in (layers, with_idle_units(layers, seed))
    )
    for k in range(dim):
        assert np.allclose(bars(plain, k), bars(idle, k))


def test_a_constant_and_a_difference():
    constant = rs.load([(np.eye(2), np.zeros(2)), (np.zeros((2, 2)), np.array([3.0, 1.0]))])
    part = rs.partition(constant, rs.Box(-1, 1, 2))
    assert bars(rs.topology.persistence(part), 0) == [(3.0, np.inf)]
    assert bars(rs.topology.persistence(part, output=(1, 0)), 0) == [(-2.0, np.inf)]
    assert bars(rs.topology.persistence(rs.partition(ball(3), rs.Box(-1, 1, 3))), 0) == [(-1.0, np.inf)]


def test_time_that_ends():
    part = rs.partition(rs.load(wild(3, 20, 20, 1, seed=1)), rs.Box(-3, 3, 3))
    found = rs.topology.persistence(part, budget=rs.Budget(seconds=0.0))
    assert len(found) == 0
    assert found.stopped


def test_max_gates_have_no_whole_space():
    part = rs.partition(bodies.by_maxima(bodies.TWO), rs.Space(3), method="tree")
    with pytest.raises(rs.errors.InputError, match="max gates"):
        rs.topology.persistence(part)


def test_far_vertices_that_rounding_moves_leave_bars_open(monkeypatch):
    part = rs.partition(ball(2), rs.Space(2))
    plain = vertex_values.VertexValues.of.__func__
    monkeypatch.setattr(
        vertex_values.VertexValues, "of", classmethod(lambda cls, *args: replace(plain(cls, *args), error=0.3))
    )
    assert set(rs.topology.persistence(part)["birth_level"].claims) == {rs.Claim.ESTIMATE}


HALF = rs.Polyhedron([[-1.0, 0.0], [0.5, 1.0]], [0.5, 2.0])


@pytest.mark.parametrize(
    ("domain", "seed"),
    [
        (rs.Space(1), 0),
        (rs.Space(2), 1),
        (rs.Space(2), 2),
        (HALF, 3),
        (rs.Space(3), 4),
        (rs.Polyhedron([[1.0]], [1.0]), 5),
    ],
)
def test_bars_of_whole_spaces_are_the_betti_numbers_of_sublevel_sets(domain, seed):
    sizes = {1: (1, 14, 8, 1), 2: (2, 7, 6, 1), 3: (3, 4, 3, 1)}[domain.dim]
    part = rs.partition(rs.load(wild(*sizes, seed=seed)), domain)
    check_against_sublevel_sets(part, domain.dim)


def check_against_sublevel_sets(part, dim):
    found = rs.topology.persistence(part)
    births, deaths = found["birth_level"].value, found["death_level"].value
    assert set(found["birth_level"].claims) | set(found["death_level"].claims) == {rs.Claim.EXACT}
    ends = np.concatenate([births, deaths])
    ends = np.unique(ends[np.isfinite(ends)])
    levels = np.concatenate([[ends[0] - 1], (ends[1:] + ends[:-1]) / 2, [ends[-1] + 1]]) if len(ends) else [-1.0, 1.0]
    for level in levels[:: max(1, len(levels) // 8)]:
        alive = np.bincount(found.keys["dimension"][(births <= level) & (level < deaths)], minlength=dim + 1)
        cut = rs.topology.betti(part, of="sublevel", level=float(level))
        assert alive.tolist() == cut["betti_number"].value.astype(int).tolist()
    return found


def test_known_bars_without_end():
    assert bars(rs.topology.persistence(rs.partition(ball(2), rs.Space(2))), 0) == [(-1.0, np.inf)]
    hole = rs.partition(rs.load(_negated()), rs.Space(2))  # 1 - |x| - |y|: all around, then all
    found = rs.topology.persistence(hole)
    assert bars(found, 0) == [(-np.inf, np.inf)]
    assert bars(found, 1) == [(-np.inf, 1.0)]
    slope = rs.partition(rs.load([(np.array([[1.0, 2.0]]), np.zeros(1))]), rs.Space(2))
    assert bars(rs.topology.persistence(slope), 0) == [(-np.inf, np.inf)]
    valley = rs.partition(rs.load([([[1.0, 0.0], [-1.0, 0.0]], np.zeros(2)), ([[1.0, 1.0]], [0.0])]), rs.Space(2))
    assert bars(rs.topology.persistence(valley), 0) == [(0.0, np.inf)]  # |x|: no vertex at all
    ridge = rs.partition(rs.load([([[1.0, 0.0], [-1.0, 0.0]], np.zeros(2)), ([[-1.0, -1.0]], [0.0])]), rs.Space(2))
    assert bars(rs.topology.persistence(ridge), 0) == [(-np.inf, 0.0), (-np.inf, np.inf)]
    ray = rs.partition(ball(2), rs.Segment([0.25, 0.0], [1.0, 0.0], beyond="b"))
    assert bars(rs.topology.persistence(ray), 0) == [(-0.75, np.inf)]
    rs.plots.persistence(found)


def _negated():
    eye = np.eye(2)
    return [(np.r_[eye, -eye], np.zeros(4)), (-np.ones((1, 4)), np.ones(1))]


@pytest.mark.parametrize("seed", range(4))
def test_degenerate_functions_on_the_plane(seed):
    layers = integer_layers(2, 4, 4, 1, seed=seed)
    for own in (layers, with_idle_units(layers, seed)):
        found = rs.topology.persistence(rs.partition(rs.load(own), rs.Space(2)))
        if set(found["birth_level"].claims) <= {rs.Claim.EXACT}:
            check_against_sublevel_sets(rs.partition(rs.load(own), rs.Space(2)), 2)
