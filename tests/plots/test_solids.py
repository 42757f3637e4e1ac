"""Pictures of regions in space: facets against sizes and neighbours that are known otherwise; degenerate ones, too."""

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from empty_partitions import empty_partition
from reluscope import plots
from reluscope.errors import InputError
from reluscope.partitions.levels.level_polygons import area_vectors
from reluscope.plots.space.facet_polygons import facets_by_qhull, region_facets
from reluscope.testing import default_network

BOX = rs.Box(-1, 1, 3)
RNG = np.random.default_rng(0)
FIRST, SECOND = (RNG.normal(size=(5, 3)), RNG.normal(size=5)), (RNG.normal(size=(4, 5)), RNG.normal(size=4))
NETWORKS = {
    "generic": rs.load(default_network([3, 7, 6, 1], seed=1)),
    "octants": rs.load([(np.eye(3), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))]),
    "doubled and dead": rs.load(
        [
            (np.r_[FIRST[0], FIRST[0][:2], np.zeros((2, 3))], np.r_[FIRST[1], FIRST[1][:2], -1, 0]),
            (np.c_[SECOND[0], np.ones((4, 4))], SECOND[1]),
            (np.ones((1, 4)), np.zeros(1)),
        ]
    ),
    "one region": rs.load([(np.eye(3), 9 * np.ones(3)), (np.ones((1, 3)), np.zeros(1))]),
}


@pytest.mark.parametrize("found_by", [region_facets, facets_by_qhull])
@pytest.mark.parametrize("name", NETWORKS)
def test_facets_enclose_the_volumes_of_regions(name, found_by):
    part = rs.partition(NETWORKS[name], BOX)
    facets = found_by(part)
    areas = area_vectors(facets.points, facets.offsets, facets.ids)
    # They are plane, around in order, and look away from their regions.
    outward = areas * np.sign((areas * facets.normals).sum(axis=1))[:, None]
    assert ((facets.middles - part.witnesses[facets.regions]) * outward).sum(axis=1).min() > 0
    volumes = np.bincount(facets.regions, (facets.middles * outward).sum(axis=1) / 3, len(part))
    assert np.allclose(volumes, part.volumes(), rtol=1e-6, atol=1e-9)
    # A convex polyhedron has as many corners and facets as edges, and two more.
    counts = np.bincount(facets.regions, np.diff(facets.offsets), len(part)) / 2
    corners = [len(np.unique(np.round(part.vertices[ids], 9), axis=0)) for ids in _corners(part)]
    assert (np.array(corners) - counts + np.bincount(facets.regions, minlength=len(part)) == 2).all()


def _corners(part):
    offsets, ids = part.region_vertices
    return [ids[offsets[row] : offsets[row + 1]] for row in range(len(part))]


def test_what_max_gates_have_cut_is_enclosed_as_one():
    torch.manual_seed(0)
    pool = (nn.Unflatten(1, (1, 12)), nn.MaxPool1d(3), nn.Flatten())
    model = nn.Sequential(nn.Linear(3, 12), *pool, nn.Linear(4, 4), nn.ReLU())
    part = rs.partition(rs.load(model, (3,)), BOX)
    assert len(part.faces.regions) > 2 * len(part)
    facets = region_facets(part)
    areas = area_vectors(facets.points, facets.offsets, facets.ids)
    volumes = np.bincount(facets.regions, (facets.middles * areas).sum(axis=1) / 3, len(part))
    assert np.allclose(volumes, part.volumes(), rtol=1e-6, atol=1e-9)
    other = facets_by_qhull(part)
    expected = np.bincount(other.regions, np.linalg.norm(area_vectors(other.points, other.offsets, other.ids), axis=1))
    # No wall within a region is among its facets.
    assert np.allclose(np.bincount(facets.regions, np.linalg.norm(areas, axis=1)), expected, rtol=1e-6)


def test_without_the_network_facets_are_found_from_corners(tmp_path):
    part = rs.partition(NETWORKS["generic"], BOX)
    part.save(tmp_path / "part.npz")
    loaded = rs.Partition.load(tmp_path / "part.npz")
    assert len(region_facets(loaded).regions) == len(region_facets(part).regions)


@pytest.mark.parametrize("name", NETWORKS)
def test_pairs_of_facets_are_the_neighbours(name):
    part = rs.partition(NETWORKS[name], BOX)
    facets = region_facets(part)
    found = np.sort(facets.regions[facets.pairs()], axis=1)
    assert sorted(map(tuple, found.tolist())) == sorted(
        zip(part.facets.left.tolist(), part.facets.right.tolist(), strict=True)
    )


def opacity(figure):
    (image,) = figure.axes[0].images
    left, right, bottom, top = image.get_extent()
    return float((np.asarray(image.get_array())[..., 3] / 255).mean() * (right - left) * (top - bottom))


@pytest.mark.few(1)
@pytest.mark.parametrize("name", NETWORKS)
def test_the_shadow_of_a_solid_is_that_of_its_domain(name):
    view = plots.View(azimuth=33, elevation=20)
    part = rs.partition(NETWORKS[name], BOX)
    shadow = 4 * np.abs(view.frame[2]).sum()
    assert opacity(plots.solid(part, view=view)) == pytest.approx(shadow, rel=5e-3)
    # Through half opacity and two facets of every region on the way there is less.
    faded = opacity(plots.solid(part, view=view, fade=0.5, lines=False))
    assert 0.74 * shadow < faded <= shadow
    if len(part) == 1:
        assert faded == pytest.approx(0.75 * shadow, rel=5e-3)
        assert opacity(plots.solid(part, view=view, fade=1.0, lines=False)) == 0


def test_exploded_regions_move_away_as_they_are():
    part = rs.partition(NETWORKS["octants"], BOX)
    along = plots.View(azimuth=0, elevation=0)
    figure = plots.solid(part, explode=1.0, view=along, color="random")
    assert opacity(figure) == pytest.approx(4, rel=1e-2)
    assert figure.axes[0].images[0].get_extent()[1] == pytest.approx(2, rel=0.05)
    assert not figure.axes[0].texts
    # Between the four squares nothing is painted.
    pixels = np.asarray(figure.axes[0].images[0].get_array())[..., 3]
    middle = np.array(pixels.shape) // 2
    assert not pixels[middle[0] - 20 : middle[0] + 20].any()
    assert not pixels[:, middle[1] - 20 : middle[1] + 20].any()
    assert (pixels[middle[0] // 2] == 255).sum() == pytest.approx(pixels.shape[1] / 2, rel=0.05)


@pytest.mark.slow
def test_large_regions_fade():
    part = rs.partition(NETWORKS["generic"], BOX)
    faint = opacity(plots.solid(part, fade="volume", color="volume", lines=False))
    assert 0 < faint < opacity(plots.solid(part))
    assert plots.solid(part, color="volume").axes[0].child_axes[0].get_ylabel() == "volume"


def test_boundaries_have_the_colours_of_their_gates():
    part = rs.partition(NETWORKS["generic"], BOX)
    legend = plots.boundaries_3d(part).axes[0].get_legend()
    counts = np.bincount(part.facets.gates)
    assert [text.get_text() for text in legend.get_texts()] == [
        f"{index + 1}. {gate.name} ({count})"
        for index, (gate, count) in enumerate(zip(part.codes.layout, counts, strict=True))
    ]
    one = plots.boundaries_3d(rs.partition(NETWORKS["one region"], BOX))
    assert "one region, without boundaries inside" in [text.get_text() for text in one.axes[0].texts]


@pytest.mark.slow
def test_slices_polyhedra_and_what_was_not_finished():
    four = rs.load(default_network([4, 6, 1], seed=2))
    inner = rs.partition(four, rs.Slice(np.zeros(4), np.eye(4)[:3], BOX))
    for draw in (plots.solid, plots.boundaries_3d):
        assert "direction 2" in [text.get_text() for text in draw(inner).axes[0].texts]
    cut = rs.Polyhedron(np.r_[np.eye(3), -np.ones((1, 3))], [1.0, 1, 1, 1])
    assert opacity(plots.solid(rs.partition(NETWORKS["generic"], cut))) > 0
    stopped = rs.partition(NETWORKS["generic"], BOX, budget=rs.Budget(regions=5))
    assert stopped.num_open
    assert "stopped early" in plots.solid(stopped).axes[0].get_legend().get_texts()[-1].get_text()
    empty = empty_partition(NETWORKS["generic"], BOX)
    for draw in (plots.solid, plots.boundaries_3d):
        assert plots.to_png(draw(empty))[:4] == b"\x89PNG"


@pytest.mark.parametrize("draw", [plots.solid, plots.boundaries_3d])
def test_what_is_not_in_space(draw):
    flat = rs.partition(rs.load(default_network([2, 3, 1], seed=0)), rs.Box(-1, 1, 2))
    with pytest.raises(InputError, match="bounded domain of three dimensions, got one of box"):
        draw(flat)
    with pytest.raises(InputError, match="bounded domain of three dimensions"):
        draw(rs.partition(NETWORKS["octants"], rs.Space(3)))
    with pytest.raises(InputError, match="corners"):
        draw(rs.partition(NETWORKS["octants"], BOX, method="tree"))


def test_colours_that_solids_do_not_have():
    part = rs.partition(NETWORKS["octants"], BOX)
    for color in ("area", "class"):
        with pytest.raises(InputError, match='"volume"'):
            plots.solid(part, color=color)
