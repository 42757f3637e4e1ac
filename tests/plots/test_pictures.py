"""Pictures hold what they should: areas by their pixels, labels, legends; empty input and many regions included."""

import io
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imread
from matplotlib.patches import Patch

import reluscope as rs
from reluscope import plots
from reluscope.analyses.choosing import choose_pairs
from reluscope.analyses.codespace import distinct_codes
from reluscope.analyses.counting import count_along_segments
from reluscope.analyses.planes import view_plane
from reluscope.datasets.demo import demo_network
from reluscope.datasets.digits import digits
from reluscope.errors import InputError, ShapeError
from reluscope.plots.shapes import polygon_paths, segment_paths
from reluscope.plots.style import CATEGORIES, INK, depth_colors, tint
from reluscope.testing import default_network

DATA = digits("test")
X = DATA.points.reshape(len(DATA), -1)
NET = rs.load(demo_network(), input_shape=(1, 8, 8))


@pytest.fixture(scope="module")
def view():
    return view_plane(NET, X[[0, 1, 2]])


@pytest.fixture(scope="module")
def empty():
    return view_plane(NET, X[[0, 1, 2]], budget=rs.Budget(seconds=0.0))


@pytest.fixture(scope="module")
def large():
    net = rs.load(default_network([2, 128, 128, 1], seed=0))
    part = rs.partition(net, rs.Box(-1, 1, 2))
    assert len(part) > 20_000 / 4
    return part


def legend_texts(figure):
    legend = figure.axes[0].get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def test_the_class_map_has_labels_equal_aspect_and_a_legend(view):
    figure = plots.class_map(view)
    axes = figure.axes[0]
    assert axes.get_aspect() == 1.0
    assert axes.get_xlabel() == "distance from the first point towards the second"
    assert axes.get_ylabel() == "distance towards the third"
    present = sorted({f"class {one}" for one in view.areas.classes})
    assert sorted(legend_texts(figure)) == sorted([*present, "decision boundary"])
    named = {text.get_text() for text in axes.texts}
    assert named == {f"class {one}" for one in view.sample_classes}


def test_pixels_of_a_class_are_its_share_of_the_window(view):
    figure = plots.class_map(view)
    axes = figure.axes[0]
    shades = {handle.get_label(): handle.get_facecolor() for handle in axes.get_legend().legend_handles
              if isinstance(handle, Patch)}  # fmt: skip
    axes.get_legend().remove()
    pixels = imread(io.BytesIO(plots.to_png(figure, dpi=100)))[..., :3]
    size = pixels.shape[0]
    box = axes.get_window_extent().transformed(figure.dpi_scale_trans.inverted())
    rows = slice(int(size - box.y1 * 100) + 2, int(size - box.y0 * 100) - 2)
    window = pixels[rows, int(box.x0 * 100) + 2 : int(box.x1 * 100) - 2]
    areas = view.areas.by_class(10)
    distances = {name: np.abs(window - np.array(shade[:3])).sum(axis=-1) for name, shade in shades.items()}
    nearest = np.stack(list(distances.values())).argmin(axis=0)
    clear = np.stack(list(distances.values())).min(axis=0) < 0.1  # neither line nor letter
    for index, name in enumerate(distances):
        share = areas[int(name.removeprefix("class "))] / areas.sum()
        assert ((nearest == index) & clear).sum() / clear.sum() == pytest.approx(share, abs=0.03)


def test_boundaries_name_every_gate_with_its_number_of_pieces(view):
    counts = np.bincount(view.facet_gates, minlength=3)
    expected = [f"{i + 1}. {gate.name} ({counts[i]:,})" for i, gate in enumerate(NET.gates)]
    assert legend_texts(plots.boundaries(view)) == expected


def test_colours_are_a_scale_or_categories(view):
    part = view.partition
    scale = plots.partition(part, color=part.volumes(), label="area")
    assert "area" in str([child.get_ylabel() for axes in scale.axes for child in axes.child_axes])
    kinds = plots.partition(part, color=np.arange(len(part)) % 3, label="kind")
    assert legend_texts(kinds) == ["kind 0", "kind 1", "kind 2"]
    assert legend_texts(plots.partition(part)) == []
    with pytest.raises(ShapeError, match="one colour per region"):
        plots.partition(part, color=np.zeros(3))


@pytest.mark.parametrize("draw", [plots.class_map, plots.boundaries, lambda view: plots.partition(view.partition)])
def test_empty_partitions_are_drawn_and_say_so(draw, empty):
    figure = draw(empty)
    assert "no regions were found" in [text.get_text() for text in figure.axes[0].texts]
    assert "<svg" in plots.to_svg(figure)


def test_constant_colours(view):
    assert plots.to_png(plots.partition(view.partition, color=np.ones(len(view.partition)), label="one"))


def test_pictures_are_of_planes():
    with pytest.raises(InputError, match="partition of a plane"):
        plots.partition(rs.partition(NET, rs.Segment(X[0], X[1])))


def test_bars_show_the_counts():
    found = distinct_codes(NET, X)
    figure = plots.distinct_codes(found)
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["relu", "pool", "relu_1", "all gates"]
    assert [text.get_text() for text in axes.texts] == [f"{int(one):,}" for one in (*found.by_gate, found.total)]
    widths = [bar.get_width() for bar in axes.patches]
    assert widths[1::2] == [int(one) for one in (*found.by_gate, found.total)]


def test_a_dot_for_every_segment():
    pairs = choose_pairs(X, DATA.labels, 10)
    counts = count_along_segments(NET, X[pairs.first], X[pairs.second])
    figure = plots.segment_counts(counts, (~pairs.same).astype(int), ["same", "different"])
    axes = figure.axes[0]
    dots = [np.asarray(collection.get_offsets())[:, 0] for collection in axes.collections]
    assert sorted(dots[0]) == sorted(counts.counts[pairs.same])
    assert sorted(dots[1]) == sorted(counts.counts[~pairs.same])
    assert f"median {np.median(counts.counts[pairs.same]):g}" in [text.get_text() for text in axes.texts]


def test_svg_is_well_formed_repeatable_and_follows_the_page(view):
    texts = [plots.to_svg(plots.class_map(view), name="map", ink="currentColor") for _ in range(2)]
    assert texts[0] == texts[1]
    root = ElementTree.fromstring(texts[0])
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert all(name.startswith("map-") for name in ids)
    used = re.findall(r'(?:href="#|url\(#)([^")]+)', texts[0])
    assert used
    assert set(used) <= set(ids)
    assert INK not in texts[0]
    assert "currentColor" in texts[0]
    assert "distance towards the third" in texts[0]  # text stays text


def test_many_regions_become_pixels(large, monkeypatch):
    monkeypatch.setattr("reluscope.plots.regions.RASTER_ABOVE", 1_000)
    svg = plots.to_svg(plots.partition(large, color=large.volumes(), label="area"))
    assert "data:image/png;base64" in svg
    assert svg.count("<path") < 500
    assert "data:image" not in plots.to_svg(plots.partition(rs.partition(large.network, rs.Box(0, 0.1, 2))))


@pytest.mark.parametrize("pieces", [1, 3, 2_000])
def test_compound_paths_are_the_polygons(view, pieces, monkeypatch):
    monkeypatch.setattr("reluscope.plots.shapes.PIECES", pieces)
    areas = view.areas
    chosen = np.flatnonzero(areas.classes == areas.classes[0])[:50]
    paths = polygon_paths(areas.offsets, areas.corners, chosen)
    polygons = [polygon for path in paths for polygon in path.to_polygons()]
    assert len(polygons) == len(chosen)
    for row, polygon in zip(chosen, polygons, strict=True):
        corners = areas.corners[areas.offsets[row] : areas.offsets[row + 1]]
        assert np.array_equal(polygon, np.r_[corners, corners[:1]])
    ends = np.random.default_rng(0).normal(size=(7, 2, 2))
    drawn = [line for path in segment_paths(ends) for line in path.to_polygons(closed_only=False)]
    assert np.array_equal(np.array(drawn), ends)


@pytest.mark.parametrize("number", [0, 1, 5, 6, 40])
def test_every_gate_has_a_colour_of_its_own(number):
    assert len(set(depth_colors(number))) == number


def simulated(color, matrix):
    """Return how a colour looks to a reader with a colour deficiency (Viénot, Brettel and Mollon 1999), linear RGB."""
    linear = np.array(to_rgb(color)) ** 2.2
    return np.clip(np.array(matrix) @ linear, 0, 1) ** (1 / 2.2)


@pytest.mark.parametrize(
    "matrix",
    [
        [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]],  # no long cones
        [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]],  # no middle cones
    ],
)
def test_the_first_five_colours_differ_for_colour_blind_readers(matrix):
    for colors in ([tint(color, 0.62) for color in CATEGORIES[:5]], depth_colors(5)):
        seen = [simulated(color, matrix) for color in colors]
        nearest = min(np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i])
        assert nearest > 0.06
