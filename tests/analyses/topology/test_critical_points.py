"""Critical points: known functions, their sums, and the persistence that they have to explain."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import reluscope as rs
from analyses.topology.test_betti import AROUND, ball, integer_layers, with_idle_units
from analyses.topology.test_persistence import wild
from partitions import bodies

module = import_module("reluscope.analyses.topology.critical_points")


def rows(found):
    """Index, level and multiplicity of all rows."""
    columns = found.keys["index"], found["critical_level"].value, found["multiplicity"].value
    return [(int(k), round(float(level), 9), int(times)) for k, level, times in zip(*columns, strict=True)]


@pytest.mark.parametrize(
    ("sizes", "seed"), [((1, 20, 20, 1), 0), ((2, 12, 12, 1), 1), ((3, 8, 8, 1), 2), ((4, 4, 4, 1), 3)]
)
def test_critical_points_explain_persistence(sizes, seed):
    dim = sizes[0]
    part = rs.partition(rs.load(wild(*sizes, seed=seed)), rs.Box(-3, 3, dim))
    found, bars = rs.topology.critical_points(part), rs.topology.persistence(part)
    assert set(found["multiplicity"].claims) == {rs.Claim.EXACT}
    # All of these functions are generic: a class begins or ends at each critical point, and nowhere else.
    expected = [(k, level) for k, level in zip(bars.keys["dimension"], bars["birth_level"].value, strict=True)]
    ended = np.isfinite(bars["death_level"].value)
    expected += [
        (k + 1, level) for k, level in zip(bars.keys["dimension"][ended], bars["death_level"].value[ended], strict=True)
    ]
    got = [(k, level) for k, level, times in rows(found) for _ in range(times)]
    assert len(got) == len(expected)
    assert np.allclose(sorted(got), sorted((int(k), round(float(level), 9)) for k, level in expected))
    at = rs.load(wild(*sizes, seed=seed))(found.details["points"])[:, 0].numpy()
    assert np.allclose(at, found["critical_level"].value)
    assert (found.details["num_vertices"] == 1).all()


@pytest.mark.parametrize("seed", range(6))
def test_alternating_sums_are_the_euler_characteristic(seed):
    dim = 1 + seed % 3
    layers = integer_layers(dim, 5, 5, 1, seed=seed)
    found = rs.topology.critical_points(rs.partition(rs.load(layers), rs.Box(-2, 2, dim)))
    assert sum((-1) ** k * times for k, _, times in rows(found)) == 1
    idle = rs.topology.critical_points(rs.partition(rs.load(with_idle_units(layers, seed)), rs.Box(-2, 2, dim)))
    assert rows(idle) == rows(found)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_a_ball_has_one_minimum_inside(dim):
    found = rs.topology.critical_points(rs.partition(ball(dim), rs.Box(-2, 2, dim)))
    # On the boundary of the box nothing changes: sublevel sets stay contractible.
    assert rows(found) == [(0, -1.0, 1)]
    assert found.details["points"].tolist() == [[0.0] * dim]
    assert not found.details["is_border"].any()
    turned = rs.load(
        [(np.concatenate([np.eye(dim), -np.eye(dim)]), np.zeros(2 * dim)), (-np.ones((1, 2 * dim)), [0.0])]
    )
    # Minima at all corners; the maximum in the middle fills the last hollow.
    upside = rows(rs.topology.critical_points(rs.partition(turned, rs.Box(-2, 2, dim))))
    assert upside[: 2**dim] == [(0, -2.0 * dim, 1)] * 2**dim
    assert upside[-1] == (dim, 0.0, 1)


def test_a_plateau_is_critical_as_a_whole():
    part = rs.partition(bodies.by_units(bodies.FRAME), AROUND)
    found = rs.topology.critical_points(part)
    # The frame itself is the minimum, one piece and one tunnel, which is filled at half its width.
    assert rows(found)[:2] == [(0, 0.0, 1), (1, 0.0, 1)]
    assert found.details["num_vertices"][0] > 8
    assert (2, 0.5, 1) in rows(found)
    constant = rs.load([(np.eye(2), np.zeros(2)), (np.zeros((1, 2)), np.array([3.0]))])
    assert rows(rs.topology.critical_points(rs.partition(constant, rs.Box(-1, 1, 2)))) == [(0, 3.0, 1)]


def test_what_has_no_critical_points():
    slope = rs.load([(np.array([[1.0, 2.0]]), np.zeros(1))])
    assert len(rs.topology.critical_points(rs.partition(slope, rs.Space(2)))) == 0
    part = rs.partition(rs.load(wild(3, 20, 20, 1, seed=1)), rs.Box(-3, 3, 3))
    found = rs.topology.critical_points(part, budget=rs.Budget(seconds=0.0))
    assert len(found) == 0
    assert found.stopped


def test_known_points_of_whole_spaces():
    def on_the_plane(layers):
        return rows(rs.topology.critical_points(rs.partition(rs.load(layers), rs.Space(2))))

    folds = ([[1.0, 0.0], [-1.0, 0.0]], np.zeros(2))
    eye = np.eye(2)
    assert rows(rs.topology.critical_points(rs.partition(ball(2), rs.Space(2)))) == [(0, -1.0, 1)]
    assert on_the_plane([(np.r_[eye, -eye], np.zeros(4)), (-np.ones((1, 4)), np.ones(1))]) == [(2, 1.0, 1)]
    assert on_the_plane([folds, ([[1.0, 1.0]], [0.0])]) == [(0, 0.0, 1)]  # |x|, whose valley is a line
    assert on_the_plane([folds, ([[-1.0, -1.0]], [0.0])]) == [(1, 0.0, 1)]  # its negative
    saddle = [(np.r_[eye, -eye], np.zeros(4)), ([[1.0, -1.0, 1.0, -1.0]], [0.0])]  # |x| - |y|
    assert on_the_plane(saddle) == [(1, 0.0, 1)]


@pytest.mark.parametrize("low", [-2.5, -2.0])
@pytest.mark.parametrize("high", [0.0, 0.5])
def test_points_at_levels_of_cuts_are_none_of_the_function(low, high, monkeypatch):
    proper = module.between_levels
    monkeypatch.setattr(module, "between_levels", lambda *given: replace(proper(*given), levels=(low, high)))
    turned = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[-1.0, -1.0]], [0.0])])  # - |x|
    found = rs.topology.critical_points(rs.partition(turned, rs.Box(-2, 2, 1)))
    assert rows(found) == [(0, -2.0, 1)] * 2 * (low < -2) + [(1, 0.0, 1)] * (high > 0)


@pytest.mark.parametrize("seed", range(4))
def test_points_of_whole_planes_change_the_euler_characteristic(seed):
    part = rs.partition(rs.load(wild(2, 7, 6, 1, seed=seed)), rs.Space(2))
    found = rs.topology.critical_points(part)
    levels, signs = found["critical_level"].value, (-1.0) ** found.keys["index"] * found["multiplicity"].value
    ends = levels[[0, -1]] + [-1, 1] if len(levels) else np.array([-5.0, 5.0])
    cuts = np.concatenate([ends[:1], (levels[1:] + levels[:-1]) / 2, ends[1:]])

    def characteristic(level):
        cut = rs.topology.betti(part, of="sublevel", level=float(level))
        return cut.summary.finding("euler_characteristic").value

    lowest = characteristic(cuts[0])
    for level in cuts[1 :: max(1, len(cuts) // 6)]:
        assert characteristic(level) - lowest == signs[levels < level].sum()
