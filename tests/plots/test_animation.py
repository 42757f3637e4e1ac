"""Films: every frame is the partition it is of, colours last, files are whole, and bad input is one sentence."""

import io
import sys
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from PIL import Image

import reluscope as rs
from empty_partitions import empty_partition
from reluscope import plots
from reluscope.errors import InputError, ReluscopeError, ShapeError
from reluscope.plots.drawing.saving_animations import DPI
from reluscope.plots.planes.region_colors import SHADES
from reluscope.testing import default_network

BOX = rs.Box(-1, 1, 2)


def network(t, widths=(5, 4), outputs=1):
    """A network that moves with t, with a dead unit and two that are the same."""
    sizes = (2, *widths, outputs)
    layers = []
    for index, (reads, units) in enumerate(pairwise(sizes)):
        first, last = (np.random.default_rng([index, end]) for end in (0, 1))
        weight, bias = ((1 - t) * first.normal(size=shape) + t * last.normal(size=shape)
                        for shape in ((units, reads), (units,)))  # fmt: skip
        if index == 0:
            weight[0], bias[0] = 0.0, -1.0
            weight[1], bias[1] = weight[2], bias[2]
        layers.append((weight, bias))
    return rs.load(layers)


TIMES = (0.0, 0.2, 0.25, 0.6, 1.0)


@pytest.fixture(scope="module")
def parts():
    return [rs.partition(network(t), BOX) for t in TIMES]


def polygons(axes):
    """Return the corners and the colour of every filled polygon."""
    found = []
    for collection in axes.collections:
        fills = collection.get_facecolors()
        if len(fills):
            for path in collection.get_paths():
                found += [(polygon[:-1], to_hex(fills[0])) for polygon in path.to_polygons(closed_only=True)]
    return found


def dots(axes):
    return np.asarray(axes.collections[-1].get_offsets())


@pytest.mark.slow
def test_frames_are_independent_partitions_and_colours_last(parts):
    film = plots.animation(rs.partition(network(t), BOX) for t in TIMES)
    left, right = film._fig.axes
    color_of = {}
    for index in (3, 0, 1, 2, 3, 4):  # in any order
        film._func(index)
        part = parts[index]
        drawn = {}
        for corners, color in polygons(left):
            row = int(part.locate(corners.mean(axis=0)[None])[0])
            expected = part[row].vertices
            start = int(np.linalg.norm(expected - corners[0], axis=1).argmin())
            assert np.allclose(np.roll(expected, -start, axis=0), corners, atol=1e-12)
            drawn[row] = color
            assert color_of.setdefault(part.codes.words[row].tobytes(), color) == color
        assert drawn.keys() == set(range(len(part)))
        slopes = part.maps.weight[:, 0].numpy()
        order = np.argsort(-part.volumes(), kind="stable")
        assert np.allclose(dots(right), slopes[order])
        assert [to_hex(face) for face in right.collections[-1].get_facecolors()] == [drawn[row] for row in order]
    codes = [{row.tobytes() for row in part.codes.words} for part in parts]
    assert codes[0] & codes[1]
    assert codes[0] - codes[4]
    assert len(set(color_of.values())) > 5


@pytest.mark.slow
def test_limits_and_places_stay_and_titles_follow(parts):
    film = plots.animation(parts, titles=map(str, TIMES))
    left, right = film._fig.axes
    seen = set()
    for index in range(len(parts)):
        film._func(index)
        film._fig.draw_without_rendering()
        assert film._fig.get_suptitle() == str(TIMES[index])
        seen.add((right.get_xlim(), right.get_ylim(), left.get_xlim(), *right.get_position().bounds))
        low, high = np.array([right.get_xlim(), right.get_ylim()]).T
        assert ((dots(right) > low) & (dots(right) < high)).all()
    assert len(seen) == 1


def test_neighbours_never_look_alike_when_both_are_new(parts):
    for part in parts:
        kinds = plots.RegionColors().of(part)
        assert (kinds[part.facets.left] != kinds[part.facets.right]).all()
        if len(part) <= len(SHADES):
            assert len(set(kinds)) == len(part)


@pytest.mark.slow
def test_a_gif_has_every_frame_and_the_colours(parts, tmp_path):
    told = []
    film = plots.animation(parts, titles=map(str, TIMES), fps=5)
    rs.plots.save_animation(film, tmp_path / "film.gif", progress=told.append)
    assert told == [index / len(parts) for index in range(len(parts))]
    frames = []
    with Image.open(tmp_path / "film.gif") as picture:
        assert picture.n_frames == len(parts)
        for index in range(len(parts)):
            picture.seek(index)
            assert picture.info["duration"] == 200
            frames.append(np.asarray(picture.convert("RGB"), dtype=float))
    colors = plots.RegionColors()
    left = film._fig.axes[0]
    for part, pixels in zip(parts, frames, strict=True):
        kinds = colors.of(part)
        row = int(part.volumes().argmax())
        x, y = left.transData.transform(part.witnesses[row]) * DPI / film._fig.dpi
        expected = 255 * np.array(to_rgb(SHADES[kinds[row]]))
        assert np.abs(pixels[int(pixels.shape[0] - y), int(x)] - expected).max() < 8
    assert [path.name for path in tmp_path.iterdir()] == ["film.gif"]


@pytest.mark.slow
def test_frames_that_are_the_same_last_longer(parts):
    picture = Image.open(io.BytesIO(plots.to_gif(plots.animation([parts[0]] * 3, fps=10))))
    assert (picture.n_frames, picture.info["duration"]) == (1, 300)


def test_a_video_has_every_frame(parts, tmp_path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    rs.plots.save_animation(plots.animation(parts, fps=5), tmp_path / "film.mp4")
    frames, seconds = ffmpeg.count_frames_and_secs(str(tmp_path / "film.mp4"))
    assert (frames, seconds) == (len(parts), pytest.approx(1.0, abs=0.05))


def test_without_an_encoder_the_way_is_named(parts, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(ReluscopeError, match=r'pip install "reluscope\[video\]"'):
        rs.plots.save_animation(plots.animation(parts[:1]), tmp_path / "film.mp4")
    assert not list(tmp_path.iterdir())


def test_files_are_whole_or_as_they_were(parts, tmp_path):
    path = tmp_path / "film.gif"
    path.write_bytes(b"before")

    def struck(share):
        raise KeyboardInterrupt

    film = plots.animation(parts[:2])
    with pytest.raises(KeyboardInterrupt):
        rs.plots.save_animation(film, path, progress=struck)
    assert path.read_bytes() == b"before"
    for name, message in (("film.avi", "ends in .gif"), ("no/film.gif", "no folder")):
        with pytest.raises(InputError, match=message):
            rs.plots.save_animation(film, tmp_path / name)
    assert [one.name for one in tmp_path.iterdir()] == ["film.gif"]


def test_stopped_and_empty_partitions_are_shown_as_they_are(parts):
    net = rs.load(default_network([2, 64, 64, 1], seed=0))
    stopped, empty = rs.partition(net, BOX, budget=rs.Budget(regions=300)), empty_partition(net, BOX)
    assert len(stopped)
    assert stopped.num_open
    film = plots.animation([empty, stopped, empty])
    left, right = film._fig.axes
    assert "no regions were finished" in left.texts[0].get_text()
    film._func(1)
    assert not left.texts
    assert any(patch.get_hatch() for patch in left.patches)
    assert "(LOWER)" in film._fig.get_suptitle()
    film._func(2)
    assert not left.patches
    assert not dots(right).size
    assert any("not reached" in text.get_text() for text in film._fig.legends[0].get_texts())
    still = plots.regions_and_coefficients(empty)
    assert "no regions" in still.axes[0].texts[0].get_text()


def test_samples_and_their_classes(parts):
    points = np.array([[0.1, 0.2], [0.5, -0.5], [-0.3, 0.9]])
    film = plots.animation(parts, samples=points, labels=np.array([0, 1, 0]))
    film._func(3)
    left = film._fig.axes[0]
    assert sorted(map(len, (line.get_xydata() for line in left.lines))) == [1, 2]
    texts = [text.get_text() for text in film._fig.legends[0].get_texts()]
    assert texts == ["1. relu 0", "2. relu 1", "decision boundary", "class 0", "class 1"]
    with pytest.raises(ShapeError, match="one label per sample"):
        plots.animation(parts, samples=points, labels=np.array([0, 1]))


def test_what_cannot_be_a_film():
    part, line = rs.partition(network(0.0), BOX), rs.partition(network(0.0), rs.Segment([-1.0, 0.0], [1.0, 0.0]))
    three = rs.partition(network(0.0, (3,), outputs=3), BOX)
    for given, options, message in (
        ([], {}, "at least one partition"),
        ([line], {}, "partitions of a plane"),
        ([part, rs.partition(network(0.0), rs.Box(-1, 2, 2))], {}, "one window"),
        ([part, rs.partition(network(0.0, (4, 4)), BOX)], {}, "same gates"),
        ([rs.partition(network(0.0), rs.Space(2))], {}, "bounded"),
        ([part, part], {"titles": ["one"]}, "one title"),
        ([part], {"titles": ["one", "two"]}, "one title"),
        ([part], {"fps": 0}, "fps must be"),
        ([part], {"output": 1}, "output must be one of 0 to 0"),
        ([three], {}, "has 3 outputs"),
    ):
        with pytest.raises(InputError, match=message):
            plots.animation(given, **options)


def test_loaded_partitions_need_their_network(tmp_path):
    part = rs.partition(network(0.0), BOX)
    part.save(tmp_path / "part.arrow")
    loaded = rs.Partition.load(tmp_path / "part.arrow")
    for draw in (plots.coefficient_scatter, plots.regions_and_coefficients, lambda one: plots.animation([one])):
        with pytest.raises(InputError, match="needs the network"):
            draw(loaded)


def test_coefficients_of_differences_lines_and_slices():
    net = network(0.3, outputs=3)
    part = rs.partition(net, BOX)
    weight = part.maps.weight.numpy()
    order = np.argsort(-part.volumes(), kind="stable")
    figure = plots.coefficient_scatter(part, output=(2, 0))
    assert np.allclose(dots(figure.axes[0]), (weight[:, 2] - weight[:, 0])[order])
    assert figure.axes[0].get_xlabel() == "slope of output 2 - output 0 along input 0"
    figure = plots.coefficient_scatter(part, output=1, neighbors=False)
    assert len(figure.axes[0].collections) == 1
    line = rs.partition(net, rs.Segment([-1.0, 0.0], [1.0, 1.0]))
    figure = plots.coefficient_scatter(line, output=0)
    assert figure.axes[0].get_ylabel() == "intercept of output 0"
    maps = line.maps
    found = {tuple(row) for row in dots(figure.axes[0]).round(9)}
    assert found == {tuple(row) for row in np.stack([maps.weight[:, 0, 0], maps.bias[:, 0]], axis=1).round(9)}
    plane = rs.partition(net, rs.Plane([0.0, 0.0], [1.0, 0.0], [0.0, 1.0], margin=0.5))
    assert "first axis" in plots.regions_and_coefficients(plane, output=0).axes[1].get_xlabel()


def test_the_decision_boundary_of_a_difference_is_its_own():
    places = np.array([[1.0, 0.0], [-0.5, 0.8], [-0.5, -0.8]])  # the nearest of three
    net = rs.load([(np.r_[np.eye(2), -np.eye(2)], np.zeros(4)), (np.c_[places, -places], -(places**2).sum(1) / 2)])
    part = rs.partition(net, BOX)
    pieces = rs.decision_boundary(part)
    own = (pieces.classes == [0, 2]).all(axis=1)
    assert 0 < own.sum() < len(own)

    def drawn(output):
        film = plots.animation([part], output=output)
        return max(len(one.get_paths()[0].vertices) // 2 for one in film._fig.axes[0].collections
                   if one.get_linewidth()[0] == pytest.approx(3.4))  # fmt: skip

    assert drawn((2, 0)) == own.sum()
    assert drawn(0) == len(own)


def test_several_stand_in_columns_with_common_colours(parts):
    figure = plots.regions_and_coefficients({"first": parts[0], "second": parts[1]})
    assert [axes.get_title() for axes in figure.axes[:2]] == ["first", "second"]
    colors = plots.RegionColors()
    for part, axes in zip(parts[:2], figure.axes[2:], strict=True):
        kinds = colors.of(part)[np.argsort(-part.volumes(), kind="stable")]
        faces = [to_hex(face) for face in axes.collections[-1].get_facecolors()]
        assert faces == [to_hex(SHADES[kind]) for kind in kinds]
    with pytest.raises(InputError, match="at least one partition"):
        plots.regions_and_coefficients({})
