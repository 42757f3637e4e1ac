"""Interactive pictures: what is under the pointer is true, polygons are the regions, too much is refused."""

import sys

import numpy as np
import pytest

import reluscope as rs
from empty_partitions import empty_partition
from reluscope.analyses.classification.class_predictions import predicted_classes
from reluscope.analyses.planes import class_areas
from reluscope.codes.activation_rate import activation_rate
from reluscope.errors import InputError, ReluscopeError
from reluscope.partitions.region_numbers import map_norms
from reluscope.plots.planes.interactive import region_grid, region_texts
from reluscope.testing import default_network

NET = rs.load(default_network([2, 12, 12, 4], seed=0))
BOX = rs.Box([-2, -1], [2, 1])
PART = rs.partition(NET, BOX)


@pytest.fixture
def plotly():
    return pytest.importorskip("plotly", reason="the extra [plotly] is not installed")


def named(figure, name):
    return next(trace for trace in figure.data if trace.name == name)


def test_texts_say_code_class_norm_and_area():
    classes, norms = predicted_classes(NET, PART.witnesses), map_norms.of(PART)
    rates, areas = activation_rate(PART.codes), PART.volumes()
    for row, text in enumerate(region_texts(PART, ["a", "b", "c", "d"])):
        first, code, kind, norm, area = text.split("<br>")
        assert first == f"region {row:,}"
        bits = PART.codes[row].to_array()[0, :12]
        digits = int(code.removeprefix("code ").split("…")[0], 16)
        assert [digits >> place & 1 for place in range(12)] == bits.tolist()
        assert f"{round(24 * rates[row])} of 24 units active" in code
        assert kind == "abcd"[classes[row]]
        assert norm == f"norm of the map {norms[row]:.4g}"
        assert area == f"area {areas[row]:.4g}"


def test_a_loaded_partition_tells_what_it_knows(tmp_path):
    PART.save(tmp_path / "part.arrow")
    text = region_texts(rs.Partition.load(tmp_path / "part.arrow"))[0]
    assert [line.split(" ")[0] for line in text.split("<br>")] == ["region", "code", "area"]


@pytest.mark.slow
def test_every_cell_of_the_grid_speaks_of_the_region_at_its_centre(plotly):
    x, y, rows = region_grid(PART)
    assert len(x) == pytest.approx(2 * len(y), rel=0.02)
    points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    assert NET.codes(points) == PART.codes[rows.reshape(-1)]
    figure = rs.plots.interactive(PART)
    cells, texts = named(figure, "cells"), np.array(region_texts(PART), dtype=object)
    assert (np.asarray(cells.text) == texts[rows]).all()
    assert np.array_equal(np.asarray(cells.x), x)
    witnesses = named(figure, "witnesses")
    assert list(witnesses.hovertext) == list(texts)
    assert np.array_equal(np.stack([witnesses.x, witnesses.y], 1), PART.witnesses)


def test_polygons_are_the_regions(plotly):
    kinds = np.arange(len(PART)) % 3
    figure = rs.plots.interactive(PART, color=kinds, label="kind")
    offsets, ids = PART.region_vertices
    for kind in range(3):
        trace = named(figure, f"kind {kind}")
        places = np.stack([trace.x, trace.y], axis=1)
        polygons = np.split(places, np.flatnonzero(np.isnan(places[:, 0])) + 1)[:-1]
        rows = np.flatnonzero(kinds == kind)
        assert len(polygons) == len(rows)
        for row, polygon in zip(rows, polygons, strict=True):
            corners = PART.vertices[ids[offsets[row] : offsets[row + 1]]]
            assert np.array_equal(polygon[:-1], np.r_[corners, corners[:1]])


def test_classes_have_their_areas_and_the_boundary(plotly):
    figure = rs.plots.interactive(PART, color="class")
    shown = {trace.name for trace in figure.data if trace.showlegend}
    assert shown == {*(f"class {one}" for one in class_areas(PART).classes), "decision boundary"}
    assert figure.layout.title.text == f"{len(PART)} (EXACT) regions, {BOX.describe()}"


@pytest.mark.few(2)
@pytest.mark.parametrize("color", [None, "area", "random", "map_norm"])
def test_colours_are_those_of_other_pictures(plotly, color):
    figure = rs.plots.interactive(PART, color=color)
    bars = [
        trace.marker.colorbar.title.text for trace in figure.data if trace.type == "scatter" and trace.marker.showscale
    ]
    assert bars == (
        [] if color == "random" else [{None: "share of active units", "area": "area"}.get(color, "map norm")]
    )


def test_windows_that_are_no_rectangles_and_empty_partitions(plotly):
    clipped = rs.Slice([0, 0], np.eye(2), rs.Polyhedron([[1, 1], [-1, 0], [0, -1]], [1, 0, 0]))
    figure = rs.plots.interactive(rs.partition(NET, clipped))
    assert np.isnan(np.asarray(named(figure, "cells").z, dtype=float)).mean() == pytest.approx(0.5, abs=0.02)
    empty = empty_partition(NET, BOX)
    for color in (None, "class"):
        assert rs.plots.interactive(empty, color=color).layout.title.text.startswith("no regions")


def test_too_many_regions_and_other_dimensions_are_refused(plotly):
    with pytest.raises(InputError, match="at most 10"):
        rs.plots.interactive(PART, most=10)
    with pytest.raises(InputError, match="partition of a plane"):
        rs.plots.interactive(rs.partition(NET, rs.Segment([0, 0], [1, 1])))


def test_without_plotly_there_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(ReluscopeError, match=r"pip install .reluscope\[plotly\]"):
        rs.plots.interactive(PART)
