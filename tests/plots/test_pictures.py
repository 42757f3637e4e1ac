"""Pictures hold what they should: areas by their pixels, labels, legends; empty input and many regions included."""

import io
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import torch
from matplotlib import colormaps
from matplotlib.colors import to_hex, to_rgb
from matplotlib.image import imread
from matplotlib.patches import Patch

import reluscope as rs
from empty_partitions import empty_partition
from reluscope import plots
from reluscope.analyses.codespace import distinct_codes, sample_codes
from reluscope.analyses.counting import count_along_segments
from reluscope.analyses.planes import class_areas, class_intervals
from reluscope.analyses.samples.choosing import choose_pairs
from reluscope.codes.activation_rate import activation_rate
from reluscope.codes.random_kinds import random_kinds
from reluscope.datasets.demo import demo_network
from reluscope.datasets.digits import digits
from reluscope.errors import InputError, ShapeError
from reluscope.partitions.region_numbers import map_norms
from reluscope.plots.drawing.polygon_paths import polygon_paths, segment_paths
from reluscope.plots.style import CATEGORIES, INK, depth_colors, tint
from reluscope.testing import default_network

DATA = digits("test")
X = DATA.points.reshape(len(DATA), -1)
NET = rs.load(demo_network(), input_shape=(1, 8, 8))


PLANE = rs.Plane(*X[[0, 1, 2]], margin=0.25)
SAMPLES = X[[0, 1, 2]]
LABELS = [f"class {one}" for one in NET(SAMPLES).argmax(1).tolist()]


@pytest.fixture(scope="module")
def part():
    return rs.partition(NET, PLANE)


@pytest.fixture(scope="module")
def empty():
    return empty_partition(NET, PLANE)


@pytest.fixture(scope="module")
def stopped():
    return rs.partition(NET, PLANE, budget=rs.Budget(regions=500))


@pytest.fixture(scope="module")
def line():
    return rs.partition(NET, rs.Segment(X[0], X[1]))


@pytest.fixture(scope="module")
def large():
    net = rs.load(default_network([2, 128, 128, 1], seed=0))
    part = rs.partition(net, rs.Box(-1, 1, 2))
    assert len(part) > 20_000 / 4
    return part


def legend_texts(figure):
    legend = figure.axes[0].get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def scale_labels(figure):
    return [child.get_ylabel() for axes in figure.axes for child in axes.child_axes if child.get_ylabel()]


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def color_at(figure, point):
    """Return the fill that covers a point: the last polygon drawn there."""
    found = None
    for collection in figure.axes[0].collections:
        fills = collection.get_facecolors()
        if len(fills) and any(path.contains_point(point) for path in collection.get_paths()):
            found = to_hex(fills[0])
    return found


def test_names_of_samples_do_not_cover_each_other():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    part = rs.partition(net, rs.Box([-1, -1], [1, 1]))
    points = np.array([[0.1, 0.0], [0.9, 0.02], [-0.9, 0.96], [-0.85, 0.9]])
    figure = plots.partition(part, samples=points, sample_labels=[f"sample {row}" for row in range(4)])
    figure.canvas.draw()
    boxes = [one.get_window_extent() for one in figure.axes[0].texts if one.get_text().startswith("sample")]
    assert len(boxes) == 4
    assert not any(a.overlaps(b) for place, a in enumerate(boxes) for b in boxes[:place])


def test_the_class_map_has_labels_equal_aspect_and_a_legend(part):
    figure = plots.partition(part, color="class", samples=SAMPLES, sample_labels=LABELS)
    axes = figure.axes[0]
    assert axes.get_aspect() == 1.0
    assert axes.get_xlabel() == "distance from the first point towards the second"
    assert axes.get_ylabel() == "distance towards the third"
    present = sorted({f"class {one}" for one in class_areas(part).classes})
    assert sorted(legend_texts(figure)) == sorted([*present, "decision boundary"])
    assert set(LABELS) <= set(texts(figure))
    # An area has one label: its sample's, or its class.
    assert not {name.removeprefix("class ") for name in LABELS} & set(texts(figure))
    circles = np.concatenate([line.get_xydata() for line in axes.lines])
    assert np.allclose(circles, PLANE.project(SAMPLES))


def test_names_of_classes(part):
    names = [f"digit {one}" for one in range(10)]
    figure = plots.partition(part, color=class_areas(part), class_names=names)
    assert all(text.startswith(("digit", "decision")) for text in legend_texts(figure))


def test_pixels_of_a_class_are_its_share_of_the_window(part):
    figure = plots.partition(part, color="class")
    axes = figure.axes[0]
    shades = {handle.get_label(): handle.get_facecolor() for handle in axes.get_legend().legend_handles
              if isinstance(handle, Patch)}  # fmt: skip
    axes.get_legend().remove()
    pixels = imread(io.BytesIO(plots.to_png(figure, dpi=100)))[..., :3]
    size = pixels.shape[0]
    box = axes.get_window_extent().transformed(figure.dpi_scale_trans.inverted())
    rows = slice(int(size - box.y1 * 100) + 2, int(size - box.y0 * 100) - 2)
    window = pixels[rows, int(box.x0 * 100) + 2 : int(box.x1 * 100) - 2]
    areas = class_areas(part).by_class(10)
    distances = {name: np.abs(window - np.array(shade[:3])).sum(axis=-1) for name, shade in shades.items()}
    nearest = np.stack(list(distances.values())).argmin(axis=0)
    clear = np.stack(list(distances.values())).min(axis=0) < 0.1  # neither line nor letter
    for index, name in enumerate(distances):
        share = areas[int(name.removeprefix("class "))] / areas.sum()
        assert ((nearest == index) & clear).sum() / clear.sum() == pytest.approx(share, abs=0.03)


def test_of_many_classes_ten_have_a_colour_and_all_a_name_where_they_are_large():
    places = np.random.default_rng(3).uniform(-1, 1, (16, 2))
    nearest = rs.load(
        [(np.r_[np.eye(2), -np.eye(2)], np.zeros(4)), (np.c_[2 * places, -2 * places], -(places**2).sum(1))]
    )
    part = rs.partition(nearest, rs.Box(-1, 1, 2))
    figure = plots.partition(part, color="class")
    sizes = class_areas(part).by_class(16)
    # By number, as everywhere.
    largest = [f"class {one}" for one in np.sort(np.argsort(-sizes)[:10])]
    others = (sizes > 0).sum() - 10
    assert legend_texts(figure) == [*largest, f"{others} smaller classes", "decision boundary"]
    assert {str(one) for one in np.argsort(-sizes)[:10]} <= set(texts(figure))
    colors = [to_hex(handle.get_facecolor()) for handle in figure.axes[0].get_legend().legend_handles[:11]]
    assert len(set(colors)) == 11


def test_boundaries_name_every_gate_with_its_number_of_pieces(part):
    counts = np.bincount(part.facets.gates, minlength=3)
    expected = [f"{i + 1}. {gate.name} ({counts[i]:,})" for i, gate in enumerate(NET.gates)]
    figure = plots.boundaries(part, samples=SAMPLES, sample_labels=LABELS)
    assert legend_texts(figure) == expected
    assert texts(figure) == LABELS
    colors = [handle.get_color() for handle in figure.axes[0].get_legend().legend_handles]
    for index, color in enumerate(colors):
        drawn = [collection for collection in figure.axes[0].collections
                 if len(collection.get_edgecolors()) and to_hex(collection.get_edgecolors()[0]) == color.lower()
                 and not len(collection.get_facecolors())]  # fmt: skip
        ends = np.concatenate([path.vertices for one in drawn for path in one.get_paths()]).reshape(-1, 2, 2)
        assert np.array_equal(ends, part.vertices[part.facets.vertices[part.facets.gates == index]])


def test_many_gates_are_a_stair_of_colours():
    part = rs.partition(rs.load(default_network([2, *[4] * 30, 1], seed=1)), rs.Box(-3, 3, 2))
    figure = plots.boundaries(part)
    bar = figure.axes[0].child_axes[0]
    named = [text.get_text() for text in bar.get_yticklabels()]
    assert named[0].startswith("1. relu 0 (")
    assert named[-1].startswith("30. relu 29 (")
    assert len(named) == 12
    assert legend_texts(figure) == []


def test_boundaries_by_flips_by_values_and_by_a_callable():
    doubled = rs.load([(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]]), np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
    part = rs.partition(doubled, rs.Box(-1, 1, 2))
    assert legend_texts(plots.boundaries(part, by="flips")) == ["units that change: 1", "units that change: 2"]
    lengths = np.linalg.norm(np.diff(part.vertices[part.facets.vertices], axis=1)[:, 0], axis=1) + np.arange(4)
    assert scale_labels(plots.boundaries(part, by=lambda part: lengths, label="length")) == ["length"]
    assert legend_texts(plots.boundaries(part, by=np.array(["a", "b", "a", "b"]))) == ["a", "b"]
    with pytest.raises(ShapeError, match="one colour per facet"):
        plots.boundaries(part, by=np.zeros(3))
    with pytest.raises(InputError, match="by must be"):
        plots.boundaries(part, by="depth")


def norms_of_maps(part):
    return map_norms.of(part)


@pytest.mark.parametrize(
    ("color", "label", "values"),
    [
        (None, "share of active units", lambda part: activation_rate(part.codes)),
        ("activation_rate", "share of active units", lambda part: activation_rate(part.codes)),
        ("area", "area", lambda part: np.log(part.volumes())),
        (norms_of_maps, "norms of maps", norms_of_maps),
        (lambda part: part.witnesses[:, 0], "", lambda part: part.witnesses[:, 0]),
    ],
)
def test_regions_have_the_colour_of_their_value(part, color, label, values):
    figure = plots.partition(part, color=color, lines=False)
    assert scale_labels(figure) == ([label] if label else [])
    values = values(part)
    low = np.quantile(values, 0.01, method="lower") if color == "area" else values.min()
    share = np.clip((values - low) / (values.max() - low), 0, 1)
    for row in np.argsort(-part.volumes())[:40]:
        # Steps of 1/32 of the scale; a value on the border of two may have either colour.
        place = 32 * share[row]
        steps = {min(int(place - 1e-6), 31), min(int(place + 1e-6), 31)}
        expected = {to_hex(colormaps["cividis"]((step + 0.5) / 32)) for step in steps}
        assert color_at(figure, part.witnesses[row]) in expected


def test_colours_are_a_scale_or_kinds(part):
    scale = plots.partition(part, color=part.volumes(), label="size")
    assert scale_labels(scale) == ["size"]
    kinds = plots.partition(part, color=np.arange(len(part)) % 3, label="kind")
    assert legend_texts(kinds) == ["kind 0", "kind 1", "kind 2"]
    handles = kinds.axes[0].get_legend().legend_handles
    for row in np.argsort(-part.volumes())[:20]:
        assert color_at(kinds, part.witnesses[row]) == to_hex(handles[row % 3].get_facecolor())
    assert legend_texts(plots.partition(part, color=np.where(part.volumes() > 0.001, "large", "small"))) == [
        "large",
        "small",
    ]
    assert scale_labels(plots.partition(part, color=np.arange(len(part)), label="row")) == ["row"]
    with pytest.raises(ShapeError, match="one colour per region"):
        plots.partition(part, color=np.zeros(3))
    with pytest.raises(InputError, match="color must be"):
        plots.partition(part, color="depth")


def test_random_colours_mean_nothing_and_tell_neighbours_apart(part):
    figure = plots.partition(part, color="random")
    assert legend_texts(figure) == scale_labels(figure) == []
    kinds = random_kinds(part.codes)
    assert kinds.min() == 0
    assert kinds.max() == 5
    binary = rs.load(default_network([2, 16, 16, 1], seed=0))
    other = rs.partition(binary, rs.Box(-2, 2, 2))
    kinds = random_kinds(other.codes)
    alone = np.diff(other.facets.flip_offsets) == 1
    assert (kinds[other.facets.left] != kinds[other.facets.right])[alone].all()
    # Equal codes look alike in every picture.
    window = rs.partition(binary, rs.Box(-0.5, 0.5, 2))
    assert np.array_equal(random_kinds(window.codes), kinds[other.locate(window.witnesses)])


def test_values_that_are_no_numbers_have_no_colour(part):
    values = part.volumes().copy()
    values[::2] = np.nan
    figure = plots.partition(part, color=values, label="half")
    assert legend_texts(figure) == ["no value"]
    constant = plots.partition(part, color=np.full(len(part), 2.5), label="weight")
    assert legend_texts(constant) == ["weight 2.5 everywhere"]
    assert scale_labels(constant) == []


@pytest.mark.slow
def test_a_network_without_gates_of_two_pieces():
    pool = rs.load(torch.nn.MaxPool1d(3), input_shape=(1, 3))
    part = rs.partition(pool, rs.Plane([0, 0, 0], [1, 0, 0], [0, 1, 0], margin=1.0))
    assert legend_texts(plots.partition(part)) == []
    with pytest.raises(InputError, match="gates of two pieces"):
        plots.partition(part, color="activation_rate")
    assert legend_texts(plots.boundaries(part)) == [f"1. {pool.gates[0].name} (3)"]


DRAW = {
    "regions": plots.partition,
    "classes": lambda part: plots.partition(part, color="class"),
    "area": lambda part: plots.partition(part, color="area"),
    "gates": plots.boundaries,
    "flips": lambda part: plots.boundaries(part, by="flips"),
}


@pytest.mark.parametrize("draw", DRAW.values(), ids=DRAW.keys())
def test_empty_partitions_are_drawn_and_say_so(draw, empty):
    figure = draw(empty)
    assert "no regions were finished before work stopped" in texts(figure)
    assert "<svg" in plots.to_svg(figure)


@pytest.mark.parametrize("draw", [plots.partition, plots.boundaries, lambda part: plots.partition(part, color="class")])
def test_empty_lines_are_drawn_and_say_so(draw):
    figure = draw(empty_partition(NET, rs.Segment(X[0], X[1])))
    assert "no regions were finished before work stopped" in texts(figure)
    assert plots.to_png(figure)


@pytest.mark.few(1)
@pytest.mark.parametrize("draw", DRAW.values(), ids=DRAW.keys())
def test_one_region(draw):
    part = rs.partition(rs.load([(np.eye(2), np.zeros(2))]), rs.Box(-1, 1, 2))
    assert len(part) == 1
    figure = plots.boundaries(part)
    assert "one region, without boundaries inside the window" in texts(figure)
    if draw is not DRAW["area"]:
        assert plots.to_png(plots.partition(part, color="class"))


@pytest.mark.parametrize("draw", [DRAW["regions"], DRAW["classes"], DRAW["gates"]])
def test_work_that_stopped_early_is_seen(draw, stopped):
    assert stopped.num_open
    figure = draw(stopped)
    assert "not reached: work stopped early" in legend_texts(figure)
    assert any(patch.get_hatch() for patch in figure.axes[0].patches)


def test_first_gates_that_were_not_finished_leave_the_rest_hatched(stopped):
    """And not white, which would say that there are no boundaries."""
    for coarse, hatched in ((rs.partition(stopped.network, stopped.domain), 0), (stopped, 1)):
        figure = plots.partition(stopped, coarse=coarse)
        assert sum(bool(patch.get_hatch()) for patch in figure.axes[0].patches) == hatched
        assert sum("work stopped early" in text for text in legend_texts(figure)) == hatched


def test_points_off_the_plane_are_hollow(part):
    figure = plots.partition(part, samples=X[[0, 5]], sample_labels=["on", "off"])
    faces = [line.get_markerfacecolor() for line in figure.axes[0].lines]
    assert faces == ["#ffffff", "none"]
    with pytest.raises(ShapeError, match="one label per sample"):
        plots.partition(part, samples=X[[0, 5]], sample_labels=["on"])
    with pytest.raises(ShapeError, match="64 entries"):
        plots.partition(part, samples=np.zeros((2, 3)))


def test_a_clipped_window_has_its_outline():
    part = rs.partition(NET, PLANE.clip(rs.Box(-0.1, 1.05, 64)))
    figure = plots.partition(part)
    corners = {tuple(np.round(corner, 9)) for corner in figure.axes[0].patches[-1].get_xy()}
    assert corners == {tuple(np.round(corner, 9)) for corner in part.domain.window.vertices()}


def test_very_long_windows_are_stretched_and_say_so():
    part = rs.partition(rs.load(default_network([2, 4, 1])), rs.Box([0, 0], [30, 1]))
    axes = plots.partition(part).axes[0]
    assert axes.get_aspect() == "auto"
    assert "different scales" in axes.get_xlabel()


def test_a_line_shows_its_outputs_as_exact_curves(line):
    figure = plots.partition(line, color="class")
    axes, strip = figure.axes[0], figure.axes[0].child_axes[0]
    assert legend_texts(figure) == [f"output {one}" for one in range(10)]
    order = np.argsort(line.vertices[:, 0])
    for one, curve in enumerate(axes.lines):
        assert np.array_equal(curve.get_xdata(), line.vertices[order, 0])
        assert np.array_equal(curve.get_ydata(), line.outputs[order, one])
        assert curve.get_marker() == "o"
    assert strip.get_ylabel() == "largest"
    found = class_intervals(line)
    drawn = {to_hex(one.get_facecolors()[0]): one for one in strip.collections if len(one.get_facecolors())}
    for index in range(10):
        ends = found.ends[found.classes == index]
        color = tint(CATEGORIES[index], 0.62)
        assert (color in drawn) == bool(len(ends))
        if len(ends):
            boxes = [polygon for path in drawn[color].get_paths() for polygon in path.to_polygons()]
            assert np.allclose([(box[:, 0].min(), box[:, 0].max()) for box in boxes], ends)


@pytest.mark.parametrize(("color", "label"), [(None, "share of active units"), ("area", "length")])
def test_a_strip_of_a_line_has_a_scale(line, color, label):
    assert scale_labels(plots.partition(line, color=color)) == [label]


def test_a_line_through_many_outputs_shows_those_that_win():
    net = rs.load(default_network([2, 8, 40], seed=0))
    figure = plots.partition(rs.partition(net, rs.Segment([-9, -9], [9, 8])), color="class")
    assert figure.axes[0].get_ylabel() == "outputs, 10 of 40"
    assert len(figure.axes[0].lines) == 10


def test_a_line_with_missing_regions_is_interrupted(line):
    wide = rs.load(default_network([2, 64, 64, 2], seed=0))
    part = rs.partition(wide, rs.Segment([-20, -20], [20, 19]), budget=rs.Budget(regions=5))
    figure = plots.partition(part)
    if part.num_open:
        assert "not reached: work stopped early" in legend_texts(figure)


def test_a_loaded_line_has_no_outputs(line, tmp_path):
    line.save(tmp_path / "line.arrow")
    figure = plots.partition(rs.Partition.load(tmp_path / "line.arrow"))
    assert "no outputs: the partition was loaded without its network" in texts(figure)


def test_kinks_of_a_line_gate_by_gate(line):
    figure = plots.boundaries(line, samples=X[[0, 5]], sample_labels=["first", "off"])
    axes = figure.axes[0]
    counts = np.bincount(line.facets.gates, minlength=3)
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == [f"{i + 1}. {gate.name} ({counts[i]})" for i, gate in enumerate(NET.gates)]
    for index, collection in enumerate(axes.collections):
        at = np.concatenate([path.vertices[::2, 0] for path in collection.get_paths()])
        assert np.array_equal(
            np.sort(at), np.sort(line.vertices[line.facets.vertices[line.facets.gates == index, 0], 0])
        )
    assert texts(figure) == ["first", "off"]
    assert [mark.get_linestyle() for mark in axes.lines] == ["-", "--"]
    with pytest.raises(InputError, match="by their gate"):
        plots.boundaries(line, by="flips")


def test_bars_show_the_counts():
    found = distinct_codes(sample_codes(NET, X))
    figure = plots.distinct_codes(found, len(X))
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["relu", "pool", "relu_1", "all gates"]
    assert [text.get_text() for text in axes.texts] == [
        f"{number:.0f}" for table in (found, found.summary) for number in table["num_distinct_codes"].value
    ]
    widths = [bar.get_width() for bar in axes.patches]
    assert widths[1::2] == [*found["num_distinct_codes"].value, *found.summary["num_distinct_codes"].value]


def test_a_dot_for_every_segment():
    pairs = choose_pairs(X, DATA.labels, 10)
    counts = count_along_segments(NET, X[pairs.first], X[pairs.second])
    figure = plots.segment_counts(counts, (~pairs.same).astype(int), ["same", "different"])
    axes = figure.axes[0]
    dots = [np.asarray(collection.get_offsets())[:, 0] for collection in axes.collections]
    assert sorted(dots[0]) == sorted(counts["num_regions_on_segment"].value[pairs.same])
    assert sorted(dots[1]) == sorted(counts["num_regions_on_segment"].value[~pairs.same])
    assert f"median {np.median(counts['num_regions_on_segment'].value[pairs.same]):g}" in [
        text.get_text() for text in axes.texts
    ]


def test_svg_is_well_formed_repeatable_and_follows_the_page(part):
    texts = [plots.to_svg(plots.partition(part, color="class"), name="map", ink="currentColor") for _ in range(2)]
    assert texts[0] == texts[1]
    # One family of fonts for a text, and not the list of all that matplotlib would try.
    assert "sans-serif" in texts[0]
    assert "Bitstream" not in texts[0]
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


@pytest.mark.slow
def test_many_regions_become_pixels(large, monkeypatch):
    monkeypatch.setattr("reluscope.plots.drawing.polygon_paths.RASTER_ABOVE", 1_000)
    svg = plots.to_svg(plots.partition(large, color=large.volumes(), label="area"))
    assert "data:image/png;base64" in svg
    assert svg.count("<path") < 500
    assert "data:image" not in plots.to_svg(
        plots.partition(rs.partition(large.network, rs.Box(0, 0.1, 2)), color="random")
    )


@pytest.mark.parametrize("pieces", [1, 3, 2_000])
def test_compound_paths_are_the_polygons(part, pieces, monkeypatch):
    monkeypatch.setattr("reluscope.plots.drawing.polygon_paths.PIECES", pieces)
    areas = class_areas(part)
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
