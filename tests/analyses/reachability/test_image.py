"""Images against fractions, against dense samples, and against sets that are known; unions against cells of a grid."""

from dataclasses import replace
from importlib import import_module
from inspect import unwrap
from itertools import combinations, product
from types import SimpleNamespace

import numpy as np
import pytest

import reluscope as rs
from oracles import exact_images as exact
from reluscope.errors import InputError, ShapeError
from reluscope.geometry.unions import union_surface
from reluscope.geometry.unions import union_volume as unions
from reluscope.geometry.unions.set_differences import Difference
from reluscope.stopping import Stop, StopReason
from reluscope.testing import default_network

# (relu(x), relu(-x)) and y: two sides of a fold.
FOLD = [
    (np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]]), np.zeros(4)),
    (np.array([[1.0, 1, 0, 0], [0, 0, 1, -1]]), np.zeros(2)),
]


@pytest.fixture(scope="module")
def plane():
    net = rs.load(default_network([2, 8, 7, 2], seed=1))
    return net, rs.image(net, rs.Box(-2, 2, 2))


@pytest.mark.parametrize("shift", [0.0, -50.0, 50.0])
def test_overlaps_are_those_of_all_pairs_wherever_they_are(shift):
    *layers, (weight, bias) = default_network([2, 8, 7, 2], seed=1)
    moved = rs.load([*layers, (weight, bias + shift)])
    found = rs.image(moved, rs.Box(-2, 2, 2))
    solid = np.flatnonzero(found.dims == 2).tolist()[:24]
    expected = [(one, two) for one, two in combinations(solid, 2) if found._overlap(one, two)]
    mine = [(one, two) for one, two in found.overlaps().tolist() if two in solid and one in solid]
    assert mine == expected
    assert len(expected) > 5


@pytest.mark.parametrize(("size", "dim"), [(1e-3, 2), (1e-14, 1), (0.0, 1)])
def test_pieces_thinner_than_the_resolution_are_flat(size, dim):
    found = rs.image(rs.load([(np.diag([1.0, size]), np.zeros(2))]), rs.Box(-1, 1, 2))
    assert found.dims.tolist() == [dim]


@pytest.fixture(scope="module")
def tiny():
    """A network in eighths with three hidden units, and its image in fractions."""
    rng = np.random.default_rng(12)
    layers = [(np.round(rng.normal(size=(n, 2)) * 8) / 8, np.round(rng.normal(size=n) * 4) / 8) for n in (3,)]
    layers += [(np.round(rng.normal(size=(2, 3)) * 8) / 8, np.round(rng.normal(size=2) * 8) / 8)]
    square = [[exact.Fraction(x), exact.Fraction(y)] for x, y in ((-2, -2), (2, -2), (2, 2), (-2, 2))]
    bodies = [body for _, body in exact.images(exact.fractions(layers), square)]
    return rs.load(layers), bodies, float(exact.area_of_union(bodies))


def test_a_tiny_image_is_that_of_fractions(tiny):
    net, bodies, area = tiny
    found = rs.image(net, rs.Box(-2, 2, 2))
    assert found.claim == "EXACT"
    assert found.volume().value == pytest.approx(area, rel=1e-12)
    assert np.sum(found.to_table()["volume"]) > 1.05 * area
    points = np.array([[float(x) for x in corner] for body in bodies for corner in body])
    assert found.ends == pytest.approx(np.stack([points.min(axis=0), points.max(axis=0)]))
    assert found.contains(points).all()


def test_the_fractions_would_see_a_piece_that_is_forgotten(tiny, monkeypatch):
    net, *_ = tiny
    found = rs.image(net, rs.Box(-2, 2, 2))
    largest = int(np.argmax(found.to_table()["volume"]))
    kept = [index for index in range(len(found)) if index != largest]
    less = replace(
        found,
        corners=tuple(found.corners[index] for index in kept),
        dims=found.dims[kept],
        errors=found.errors[kept],
    )
    monkeypatch.setattr(rs, "image", lambda *of: less)
    with pytest.raises(AssertionError):
        test_a_tiny_image_is_that_of_fractions(tiny)


def test_outputs_lie_in_pieces_and_pieces_are_outputs(plane):
    net, found = plane
    rng = np.random.default_rng(0)
    outputs = net(rng.uniform(-2, 2, (4_000, 2))).numpy()
    assert found.contains(outputs).all()
    assert (outputs >= found.ends[0] - 1e-12).all()
    assert (outputs <= found.ends[1] + 1e-12).all()
    hull = found.hull()
    assert hull.contains(outputs, 1e-9).all()
    for direction in rng.normal(size=(5, 2)):
        most = found.maximum(direction)
        assert (outputs @ direction).max() <= most.value + 1e-12
        assert most.value == pytest.approx(hull.maximize(direction).value)
    # A point of a piece is the output of the same mean of corners of its region.
    for row, corners in enumerate(found.corners):
        weights = rng.dirichlet(np.ones(len(corners)))
        reached = net((weights @ found.partition[row].vertices)[None]).numpy()[0]
        assert reached == pytest.approx(weights @ corners, abs=1e-9)
    # Uniform points of the box: the share that the image has of it.
    points = rng.uniform(*found.ends, (20_000, 2))
    share = found.volume().value / np.prod(np.diff(found.ends, axis=0))
    assert found.contains(points).mean() == pytest.approx(share, abs=0.015)


def test_a_fold_is_covered_twice():
    found = rs.image(rs.load(FOLD), rs.Box([-1.0, 0.0], [2.0, 1.0]))
    assert str(found.volume()) == "2 (EXACT)"
    assert found.count([[0.5, 0.5], [1.5, 0.5], [2.5, 0.5]]).tolist() == [2, 1, 0]
    assert len(found.overlaps()) == 1
    assert found.ends == pytest.approx(np.array([[0.0, 0.0], [2.0, 1.0]]))
    table = found.to_table()
    assert sorted(np.asarray(table["volume"]).round(9).tolist()) == [1.0, 2.0]
    assert table.column_names[-4:] == ["lower_0", "upper_0", "lower_1", "upper_1"]
    first = rs.image(rs.load(FOLD), rs.Box([-1.0, 0.0], [2.0, 1.0]), outputs=[1])
    assert (first.ends.tolist(), str(first.volume())) == ([[0.0], [1.0]], "1 (EXACT)")


def test_flat_pieces_have_dimensions_and_no_volume():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])  # relu, entry by entry
    found = rs.image(net, rs.Box(-1, 1, 2))
    assert sorted(found.dims.tolist()) == [0, 1, 1, 2]
    assert str(found.volume()) == "1 (EXACT)"
    assert len(found.overlaps()) == 0
    point = int(np.argmin(found.dims))
    assert found[point].vertices().tolist() == [[0.0, 0.0]]
    nothing = rs.image(rs.load([(np.zeros((2, 2)), -np.ones(2)), (np.ones((3, 2)), np.arange(3.0))]), rs.Box(-1, 1, 2))
    assert nothing.dims.tolist() == [0]
    assert (nothing.volume().value, nothing.ends.tolist()) == (0.0, [[0.0, 1.0, 2.0]] * 2)
    assert nothing.contains([[0.0, 1.0, 2.0], [0.0, 1.0, 2.1]]).tolist() == [True, False]
    # A plane bent in space: no volume, and facets that are polygons with an equation.
    bent = rs.image(rs.load(default_network([2, 5, 3], seed=0)), rs.Box(-1, 1, 2))
    assert bent.volume().value == 0
    assert {len(bent[int(row)].C) for row in np.flatnonzero(bent.dims == 2)} == {1}


def test_a_budget_leaves_an_inner_image(plane):
    net, whole = plane
    found = rs.image(net, rs.Box(-2, 2, 2), budget=rs.Budget(regions=5))
    assert found.claim == "LOWER"
    assert found.volume().claim == found.maximum([1.0, 0.0]).claim == "LOWER"
    assert found.volume().value <= whole.volume().value
    assert found.volume().stopped
    points = np.concatenate(found.corners)
    assert whole.contains(points).all()
    none = rs.image(net, rs.Box(-2, 2, 2), budget=rs.Budget(regions=0))
    assert (len(none), none.volume().value, none.contains([[0.0, 0.0]]).tolist()) == (0, 0.0, [False])
    with pytest.raises(InputError, match="needs a piece"):
        none.maximum([1.0, 0.0])
    spent = whole.volume(budget=rs.Budget(seconds=0))
    assert spent.claim == "LOWER"
    assert spent.interval[0] <= whole.volume().value <= spent.interval[1]


def test_a_partition_that_is_there_is_used(plane):
    net, found = plane
    again = rs.image(net, found.partition, outputs=[1, 0])
    assert again.ends == pytest.approx(found.ends[:, ::-1])
    assert again.volume().value == pytest.approx(found.volume().value)
    gate = rs.image(net, rs.Plane([0, 0], [1, 0], [0, 1]), gate=0, outputs=[0, 3])
    assert (gate.ends[0] >= 0).all()
    with pytest.raises(InputError, match="another network"):
        rs.image(net, found.partition, gate=0)


def test_unsuitable_domains_are_told(plane):
    net, found = plane
    for domain in (rs.Space(2), rs.Polyhedron([[1.0, 0.0]], [1.0])):
        with pytest.raises(InputError, match="bounded"):
            rs.image(net, domain)
    with pytest.raises(InputError, match="corners"):
        rs.image(net, rs.partition(net, rs.Box(-1, 1, 2), method="tree"))
    with pytest.raises(ShapeError):
        found.contains([1.0])
    with pytest.raises(ShapeError):
        found.maximum([1.0])


@pytest.mark.parametrize(("dim", "seed"), [(1, 0), (2, 0), (2, 1), (3, 2)])
def test_unions_of_sheared_boxes_are_cells_of_a_grid(dim, seed):
    rng = np.random.default_rng(seed)
    cells, bodies = np.zeros((6,) * dim, dtype=bool), []
    shear = np.linalg.qr(rng.normal(size=(dim, dim)))[0] @ np.diag(2.0 ** np.arange(dim))
    for _ in range(6):
        low, high = np.sort([rng.integers(0, 3, dim), rng.integers(3, 7, dim)], axis=0)
        cells[tuple(slice(*side) for side in zip(low, high, strict=True))] = True
        corners = np.stack(np.meshgrid(*zip(low, high, strict=True)), axis=-1).reshape(-1, dim)
        bodies.append(corners @ shear.T)
    found = unions.volume_of_union(bodies, 1e-9, rs.Budget())
    assert found.lower == found.upper == pytest.approx(cells.sum() * 2.0 ** (dim * (dim - 1) / 2), rel=1e-9)
    spent = unions.volume_of_union(bodies, 1e-9, rs.Budget(seconds=0))
    if dim > 1:
        assert spent.lower <= found.lower <= spent.upper
        assert spent.stop


def test_the_grid_would_see_overlaps_that_are_counted_twice(monkeypatch):
    seen = union_surface._seen
    monkeypatch.setattr(union_surface, "_seen", lambda index, *of: seen(-1, *of))
    monkeypatch.setattr(union_surface, "OPEN", np.inf)
    with pytest.raises(AssertionError):
        test_unions_of_sheared_boxes_are_cells_of_a_grid(3, 2)


def test_the_grid_would_see_overlaps_in_space_that_no_surface_decides(monkeypatch):
    monkeypatch.setattr(unions, "volume_by_surface", lambda *of: None)
    test_unions_of_sheared_boxes_are_cells_of_a_grid(3, 2)
    monkeypatch.setattr(unions, "without", lambda body, cut, thin: Difference([body], []))
    with pytest.raises(AssertionError):
        test_unions_of_sheared_boxes_are_cells_of_a_grid(3, 2)


def test_a_facet_may_be_covered_in_part():
    cube = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, 8).T.astype(float)
    for shift in ([0.5, 0.5, 1.0], [0.5, 0.25, 0.75]):
        apart = 1.0 - np.prod(1.0 - np.array(shift))
        found = union_surface.volume_by_surface([cube, cube + shift], lambda polygons: np.nan, lambda: False)
        assert found == pytest.approx(1.0 + apart)


@pytest.mark.few(1)
@pytest.mark.parametrize(("seed", "thickness"), [(0, 0.5), (1, 0.5), (2, 0.5), (3, 1e-5)])
def test_volumes_by_surfaces_are_those_by_what_is_new_in_each_body(seed, thickness):
    """Bodies with corners, edges and sides in common, one inside another, one twice; with slivers there may be none."""
    rng = np.random.default_rng(seed)
    points = np.round(rng.uniform(-2, 2, (8, 3)))
    bodies = [points[rng.choice(8, 5, replace=False)] + rng.normal(size=3) * (k == 2) for k in range(4)]
    bodies = [body for body in bodies if np.linalg.svd(body - body.mean(axis=0))[1][-1] > 1e-6]
    middle = bodies[0].mean(axis=0)
    bodies += [bodies[0], middle + (bodies[0] - middle) / 2, bodies[0] * [1, 1, thickness]]
    found = union_surface.volume_by_surface(
        bodies, lambda polygons: unions.volume_of_union(polygons, 1e-9, rs.Budget()).lower, lambda: False
    )
    assert found is not None or thickness < 0.1
    if found is not None:
        assert found == pytest.approx(unions._in_space(bodies, 1e-9, rs.Budget(), 0.0).lower, rel=1e-8)


def test_an_open_surface_is_no_answer(monkeypatch):
    cube = np.array(np.meshgrid([0, 1], [0, 1], [0, 1])).reshape(3, 8).T.astype(float)
    facets = union_surface._facets
    monkeypatch.setattr(union_surface, "_facets", lambda *of: facets(*of)[:-1])
    assert union_surface.volume_by_surface([cube, cube + 0.5], lambda polygons: 0.0, lambda: False) is None


def cancelling(size, slope=1.0):
    """Return a network that gives the input times a slope, by way of a number of some size."""
    return rs.load([(np.array([[1.0]]), np.array([size])), (np.array([[slope]]), np.array([-slope * size]))])


def test_outputs_that_cancel_are_known_to_a_billionth_or_estimates():
    line = rs.Box(0.1, 0.3, 1)
    near = rs.image(cancelling(1e12), line)
    most = near.maximum([1.0])
    assert (near.claim, most.claim, most.value) == ("EXACT", "EXACT", pytest.approx(0.3, rel=1e-12))
    assert near.volume().value == pytest.approx(0.2, rel=1e-9)
    lost = rs.image(cancelling(1e35), line)
    most, length = lost.maximum([1.0]), lost.volume()
    assert lost.claim == most.claim == "ESTIMATE"
    assert most.interval[0] < 0.3 < most.interval[1]
    assert length.interval[0] == 0.0
    assert length.interval[1] > 0.2
    assert lost.maximum([-1.0]).interval[0] < -0.1 < lost.maximum([-1.0]).interval[1]


@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_numbers_and_membership_are_relative_to_the_outputs(size):
    found = rs.image(rs.load([(np.eye(1), np.zeros(1)), (np.array([[size], [size]]), np.zeros(2))]), rs.Box(-1, 1, 1))
    assert found.maximum([1.0, 1.0]).tolerance < 1e-8 * size
    inputs = np.linspace(-1, 1, 101)[:, None]
    assert found.contains(found.partition.network(inputs)).all()
    assert not found.contains([[0.5 * size, 0.5 * size * (1 + 1e-7)], [1.001 * size, 1.001 * size]]).any()


def test_flat_images_have_no_volume_if_fractions_show_it(monkeypatch):
    # (0, relu(y)), and a diagonal whose slopes are rounded.
    first = (np.array([[0.0, 1.0]]), np.zeros(1))
    for weight in ([[0.0], [1.0]], [[0.1], [0.3]]):
        found = rs.image(rs.load([first, (np.array(weight), np.zeros(2))]), rs.Box(0, 1, 2)).volume()
        assert (found.value, found.claim, found.tolerance or 0.0) == (0.0, "EXACT", 0.0)
    monkeypatch.setattr(import_module("reluscope.analyses.reachability.images"), "MOST_MULTIPLICATIONS", 0)
    found = rs.image(rs.load([first, (np.array([[0.0], [1.0]]), np.zeros(2))]), rs.Box(0, 1, 2)).volume()
    assert (found.value, found.claim) == (0.0, "LOWER")
    assert 0.0 < found.interval[1] < 1e-12


def test_an_image_as_thin_as_rounding_has_an_upper_bound_of_its_volume():
    # (y, e x + y) for e = 1e-20: of rank 2, and a segment in floats.
    net = rs.load([(np.eye(2), np.zeros(2)), (np.array([[0.0, 1.0], [1e-20, 1.0]]), np.zeros(2))])
    found = rs.image(net, rs.Box(0, 1, 2)).volume()
    assert found.claim == "EXACT"
    assert 1e-20 <= found.tolerance <= 1e-9


def narrow_tent(width):
    """Return a network of one input whose output is a tent of height 1 around 0.3, and 0 elsewhere."""
    kinks = np.array([0.3 - width, 0.3, 0.3 + width])
    return rs.load([(np.ones((3, 1)), -kinks), (np.array([[1.0, -2.0, 1.0]]) / width, np.zeros(1))])


@pytest.mark.parametrize("width", [2.0**-46, 2.0**-44, 2.0**-42])
def test_a_tent_that_no_region_shows_makes_an_estimate(width):
    found = rs.image(narrow_tent(width), rs.Box(0, 1, 1))
    most, length = found.maximum([1.0]), found.volume()
    for number in (most, length):
        assert number.claim == "EXACT" or number.interval[1] >= 1.0
    assert most.value == pytest.approx(1.0, abs=0.1) or found.claim == "ESTIMATE"


def test_a_kink_at_a_corner_of_the_domain_is_a_doubt():
    net = rs.load([(np.array([[1.25, 0.0]]), np.array([-1154226.145613155])), (np.array([[0.25]]), np.array([-0.75]))])
    box = rs.Box([-2770142.7494715727, -5540285.498943145], [923380.9164905242, -1846761.8329810484])
    length = rs.image(net, box).volume()
    assert length.claim != "EXACT"
    assert length.interval[1] > 3.7e-11


def test_steps_whose_tents_no_region_shows_are_enclosed():
    # A tent of a tent is 2^-40 wide: no region of the first states shows it.
    tent = narrow_tent(2.0**-20)
    found = rs.reach(tent, rs.reachability.Plant([[0.0]], [[1.0]], [0.0]), rs.Box(0.2, 0.4, 1), 2)
    assert found.num_exact == 2
    assert found.maximum([1.0])[2].interval[1] >= 1.0


def ending(most):
    """Return a budget that is spent when it has been asked so many times."""
    asked = iter(range(99))
    return SimpleNamespace(spent=lambda *_: Stop(StopReason.SECONDS, 1.0) if next(asked) >= most else None)


@pytest.mark.parametrize("most", range(5))
def test_what_there_was_no_time_for_is_in_the_upper_end_alone(most, monkeypatch):
    """Boxes beside each other: in space from the largest to the smallest, in the plane from left to right."""
    monkeypatch.setattr(unions, "TOGETHER", 1)
    cube, sizes = np.array([*product([0.0, 1.0], repeat=3)]), [0.25, 4.0, 1.0, 2.0]
    done = sum(sorted(sizes)[::-1][:most])
    bodies = [cube * [1, 1, size] + [2 * place, 0, 0] for place, size in enumerate(sizes)]
    found = unwrap(unions._in_space)(bodies, 1e-9, ending(most), 0.0)
    assert (found.lower, found.upper) == pytest.approx((done, sum(sizes) if most < 4 else done))
    assert (found.stop is not None) == (most < 4)
    # Strips of width 1 with a gap between any two; what is left counts up to the largest height, 4.
    found = unwrap(unions._area)([body[:, [0, 2]] for body in bodies], ending(2 * most), 0.0)
    done = sum(sizes[:most])
    assert (found.lower, found.upper) == pytest.approx((done, done + 4 * (7 - 2 * most) if most < 4 else done))
    assert (found.stop is not None) == (most < 4)
