"""Pictures of space hold what they should: faces by their pixels, edges by their lengths; empty and open ones, too."""

from dataclasses import replace

import numpy as np
import pytest

import reluscope as rs
from reluscope import plots
from reluscope.errors import InputError, ShapeError
from reluscope.plots.space.scene_drawing import draw_scene, lit
from reluscope.plots.space.scenes import Scene

VIEWS = [plots.View(), plots.View(azimuth=200, elevation=-35), plots.View(azimuth=77, elevation=61)]


def l1_ball():
    return rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])


@pytest.fixture(scope="module")
def ball():
    return rs.level_set(l1_ball(), rs.Box(-1.5, 1.5, 3))


def drawn_length(figure):
    """Return the length of the edges of polygons in a picture, in units of the axes."""
    lines = [one for one in figure.axes[0].collections if one.get_zorder() == 2]
    return sum(np.linalg.norm(np.diff(ends, axis=0)) for one in lines for ends in one.get_segments())


def area_in(figure, of=None):
    """Return the area that is painted, in units of the axes."""
    (image,) = figure.axes[0].images
    left, right, bottom, top = image.get_extent()
    opacity = np.asarray(image.get_array())[..., 3] / 255 if of is None else of(np.asarray(image.get_array()))
    return float(opacity.mean()) * (right - left) * (top - bottom)


@pytest.mark.few(2)
@pytest.mark.parametrize("view", VIEWS)
def test_what_is_seen_of_an_octahedron(ball, view):
    """Its faces are as large as their projections, and the edges are those of faces that look at the viewer."""
    figure = plots.level_set(ball, view=view)
    right, up, towards = view.frame
    shadow, edges = 0.0, {}
    for piece in range(len(ball)):
        ids = ball.ids[ball.offsets[piece] : ball.offsets[piece + 1]]
        is_seen = ball.normals[piece] @ towards > 0
        shadow += is_seen * ball.piece_areas[piece] * (ball.normals[piece] @ towards)
        for one, two in zip(ids, np.roll(ids, 1), strict=True):
            edges[frozenset((one, two))] = edges.get(frozenset((one, two)), False) | is_seen
    length = 0.0
    for pair, is_seen in edges.items():
        one, two = ball.vertices[list(pair)]
        length += is_seen * np.hypot(right @ (one - two), up @ (one - two))
    assert area_in(figure) == pytest.approx(shadow, rel=5e-3)
    assert drawn_length(figure) == pytest.approx(length, rel=1e-2)


def test_the_frame_of_a_view_is_one():
    for view in VIEWS:
        assert np.allclose(view.frame @ view.frame.T, np.eye(3))
        assert np.linalg.det(view.frame) == pytest.approx(1)
    # Seen from above, the first axis is to the right.
    assert np.allclose(plots.View(azimuth=-90, elevation=90).frame, np.eye(3))
    assert plots.View(azimuth=10).turned(35) == plots.View(azimuth=45)


@pytest.mark.parametrize("arguments", [{"elevation": 91}, {"azimuth": float("nan")}, {"zoom": 0}, {"zoom": "large"}])
def test_a_view_that_is_none(arguments):
    with pytest.raises(InputError):
        plots.View(**arguments)


@pytest.mark.slow
def test_colours_are_those_of_the_pieces_in_the_light(ball):
    upper = ball.normals[:, 2] > 0
    figure = plots.level_set(ball, color=np.where(upper, "upper", "lower"), lines=False)
    legend = figure.axes[0].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["lower", "upper"]
    faces = [np.array(handle.get_facecolor()[:3]) for handle in legend.legend_handles]
    pixels = np.asarray(figure.axes[0].images[0].get_array())
    seen = np.unique(pixels[pixels[..., 3] == 255][:, :3], axis=0, return_counts=True)
    for color in seen[0][seen[1] > 1000] / 255:
        ratios = [color / face for face in faces]
        # Each is one of the two, darker.
        assert min(np.ptp(ratio) for ratio in ratios) < 0.02
        assert 0.4 < min(ratios, key=np.ptp).mean() <= 1.01
    by_normal = np.asarray(plots.level_set(ball, color="normal", lines=False).axes[0].images[0].get_array())
    shade = np.unique(by_normal[by_normal[..., 3] == 255][:, :3], axis=0, return_counts=True)
    seen = (ball.normals @ plots.View().frame[2] > 0).sum()
    assert (shade[1] > 1000).sum() == seen
    scale = plots.level_set(ball, color=lambda found: found.witnesses[:, 0])
    assert scale.axes[0].child_axes
    with pytest.raises(InputError, match="color must be"):
        plots.level_set(ball, color="colour")
    with pytest.raises(InputError, match="pixels must be a whole number from 1 to 2800"):
        plots.level_set(ball, pixels=4000)
    with pytest.raises(ShapeError, match="one colour per piece"):
        plots.level_set(ball, color=np.ones(3))


def test_faces_turned_alike_are_lit_alike_from_both_sides():
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    for ids in ([0, 1, 2, 3], [3, 2, 1, 0]):
        white = np.ones((1, 4))
        scene = Scene(square, np.array([0, 4]), np.array(ids), white, np.zeros(3), np.ones(3), None)
        assert np.allclose(lit(scene, square), [[0.898] * 3 + [1]], atol=1e-3)


@pytest.mark.slow
def test_names_and_numbers_are_along_the_box(ball):
    texts = [text.get_text() for text in plots.level_set(ball).axes[0].texts]
    assert {"input 0", "input 1", "input 2", "\u22121", "0", "1"} <= set(texts)
    inner = rs.Slice(np.zeros(4), np.eye(4)[:3], rs.Box(-1, 1, 3))
    four = rs.load([(np.r_[np.eye(4), -np.eye(4)], np.zeros(8)), (np.ones((1, 8)), -np.ones(1) / 2)])
    texts = [text.get_text() for text in plots.level_set(rs.level_set(four, inner)).axes[0].texts]
    assert {"direction 0", "direction 1", "direction 2"} <= set(texts)
    # Along the view an axis has no length to write along.
    texts = [text.get_text() for text in plots.level_set(ball, view=plots.View(0, 0)).axes[0].texts]
    assert "input 0" not in texts
    assert "input 1" in texts


def test_nothing_to_see():
    figure = plots.level_set(rs.level_set(l1_ball(), rs.Box(-1, 1, 3), level=9.0))
    assert "the level 9 is not crossed here" in [text.get_text() for text in figure.axes[0].texts]
    stopped = rs.level_set(l1_ball(), rs.Box(-1, 1, 3), budget=rs.Budget(seconds=0))
    if not len(stopped):
        assert "before work stopped" in plots.level_set(stopped).axes[0].texts[-1].get_text()
    assert plots.to_svg(figure).startswith("<svg")


def test_curves_in_the_plane():
    net = rs.load([(np.r_[np.eye(2), -np.eye(2)], np.zeros(4)), (np.ones((1, 4)), -np.ones(1))])
    figure = plots.level_set(rs.level_set(net, rs.Box(-2, 2, 2)))
    paths = [path for one in figure.axes[0].collections for path in one.get_paths()]
    length = sum(np.linalg.norm(np.diff(path.vertices.reshape(-1, 2, 2), axis=1), axis=2).sum() for path in paths)
    assert length == pytest.approx(4 * np.sqrt(2))


def many(ball, number):
    """Return a torus of so many squared quadrilaterals as a level set."""
    around = np.linspace(0, 2 * np.pi, number, endpoint=False)
    a, b = np.meshgrid(around, around, indexing="ij")
    ring = 0.6 + 0.3 * np.cos(b)
    points = np.stack([ring * np.cos(a), ring * np.sin(a), 0.3 * np.sin(b)], axis=-1).reshape(-1, 3)
    place = np.arange(number * number).reshape(number, number)
    ids = np.stack([place, np.roll(place, -1, 0), np.roll(place, (-1, -1), (0, 1)), np.roll(place, -1, 1)], axis=-1)
    pieces = number * number
    codes = ball.codes[np.zeros(pieces, dtype=np.int64)]
    return replace(
        ball, vertices=points, blur=np.zeros(pieces), offsets=np.arange(0, 4 * pieces + 1, 4), ids=ids.reshape(-1),
        normals=np.zeros((pieces, 3)), codes=codes, witnesses=np.zeros((pieces, 3)),
    )  # fmt: skip


def test_many_polygons_have_their_edges_as_pixels(ball):
    figure = plots.level_set(many(ball, 150), pixels=400)
    assert not [one for one in figure.axes[0].collections if one.get_zorder() == 2]
    plain = plots.level_set(many(ball, 150), pixels=400, lines=False)
    here, there = (np.asarray(one.axes[0].images[0].get_array()).astype(float) for one in (figure, plain))
    assert here[..., :3].sum() < there[..., :3].sum()
    assert np.array_equal(here[..., 3], there[..., 3])


def test_what_shows_through_is_behind():
    """Two squares of half opacity over each other; seen red where the nearer one was blended first."""
    points = np.array([[x, y, z] for z in (0.0, 1.0) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))])
    colors = np.array([[1.0, 0, 0, 0.5], [0, 0, 1, 0.5]])
    scene = Scene(points, np.array([0, 4, 8]), np.arange(8), colors, np.zeros(3), np.ones(3), None)
    axes = draw_scene(None, scene, plots.View(-90, 90), lines=False, pixels=50, room=(False, False))
    pixel = np.asarray(axes.images[0].get_array())[25, 25] / 255
    assert pixel[3] == pytest.approx(0.75, abs=0.01)
    assert pixel[2] / pixel[0] == pytest.approx(2, abs=0.05)
