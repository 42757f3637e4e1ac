"""Points uniform in regions: shares of regions and of halves of regions, within five standard deviations."""

import numpy as np
import pytest

import reluscope as rs
from reluscope.errors import InputError, ShapeError
from reluscope.geometry.polyhedra.corners import hull_volume
from reluscope.testing import default_network

NUMBER = 20_000


def net(dim, outputs=1, seed=1):
    return rs.load(default_network([dim, 6, 5, outputs], seed))


def near(number, of, share):
    return abs(number - of * share) <= 5 * np.sqrt(of * share * (1 - share)) + 1e-9 * of


@pytest.mark.parametrize(("dim", "method"), [(1, "auto"), (2, "auto"), (2, "cellwise"), (3, "auto"), (4, "cellwise")])
def test_points_are_uniform(dim, method):
    part = rs.partition(net(dim), rs.Box(-2, 2, dim), method=method)
    points, regions = part.sample(NUMBER, seed=5)
    assert (part.locate(points) == regions).all()
    shares = part.volumes() / part.volumes().sum()
    assert all(
        near(*pair)
        for pair in zip(np.bincount(regions, minlength=len(part)), [NUMBER] * len(part), shares, strict=True)
    )
    for row in np.argsort(-shares)[:3]:
        inside, corners = points[regions == row], part[int(row)].vertices
        for axis in range(dim):
            middle = corners[:, axis].mean()
            below = part[int(row)].polyhedron.intersect(rs.Polyhedron(np.eye(dim)[[axis]], [middle])).volume()
            assert near((inside[:, axis] <= middle).sum(), len(inside), below / hull_volume(corners))


def test_the_seed_decides():
    part = rs.partition(net(2), rs.Box(-2, 2, 2))
    points, regions = part.sample(50, seed=3)
    again = part.sample(50, seed=3)
    assert np.array_equal(points, again[0])
    assert np.array_equal(regions, again[1])
    assert not np.array_equal(points, part.sample(50, seed=4)[0])


def test_weights_choose_regions():
    part = rs.partition(net(2, outputs=2), rs.Box(-2, 2, 2))
    weights = np.zeros(len(part))
    weights[[2, 5]] = 1, 3
    _, regions = part.sample(NUMBER, weights=weights)
    assert set(regions) == {2, 5}
    assert near((regions == 5).sum(), NUMBER, 0.75)
    _, regions = part.sample(NUMBER, weights="image_volume")
    shares = part.to_table("image_volume")["image_volume"].to_numpy()
    shares = shares / shares.sum()
    assert all(near((regions == row).sum(), NUMBER, share) for row, share in enumerate(shares))


def test_tiny_and_huge_regions_are_sampled():
    scaled = rs.load([(np.array([[1e9, 0.0], [0.0, 1e-9]]), np.array([-1.0, 0.0])), (np.ones((1, 2)), np.zeros(1))])
    part = rs.partition(scaled, rs.Box(-1, 1, 2))
    points, regions = part.sample(400, weights=np.ones(len(part)))
    assert (np.bincount(regions) > 50).all()
    for row in range(len(part)):
        assert part[row].polyhedron.contains(points[regions == row], tolerance=1e-9).all()


def test_what_cannot_be_sampled_is_refused():
    part = rs.partition(net(2), rs.Space(2))
    with pytest.raises(InputError, match=r"expected bounded regions to draw points from, got \d+ unbounded ones"):
        part.sample(3)
    assert part.is_bounded().any()
    points, regions = part.sample(30, weights=part.is_bounded().astype(float))
    assert np.array_equal(part.locate(points), regions)
    part = rs.partition(net(2), rs.Box(-1, 1, 2))
    for weights in (np.full(len(part), -1.0), np.zeros(len(part))):
        with pytest.raises(InputError, match="expected weights that are finite"):
            part.sample(3, weights=weights)
    with pytest.raises(ShapeError, match="one entry for each of"):
        part.sample(3, weights=[1.0])
    with pytest.raises(InputError, match="expected a quantity of regions"):
        part.sample(3, weights="size")
    with pytest.raises(InputError, match='partition with keep="vertices"'):
        rs.partition(net(2), rs.Box(-1, 1, 2), keep="codes").sample(3)
