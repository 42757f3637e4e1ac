"""The question of a plane: what is drawn is the partition of the window, at every magnification."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reluscope as rs
from explorer.asking import ZOOMS, ask, crossing, home, picture, pieces_at, polygon_areas, refused, session
from partitions.hostile import example
from partitions.layered import network_of
from reluscope.explorer.questions import plane_partition as partitioning
from reluscope.explorer.scene.session import Session

ASPECT = 1.25


def check_picture(found, view):
    """What is drawn covers the window once, and says which region and class each place has."""
    header, arrays = found.header, found.arrays
    part, unit = view.part, view.reach[1]
    window = 4 * view.reach.prod() / unit**2
    areas = polygon_areas(arrays["corners"], arrays["piece_offsets"])
    assert areas.min() >= -1e-6 * window
    assert areas.sum() == pytest.approx(window, rel=1e-5)
    # Pieces of one region have its area.
    by_region = np.bincount(arrays["piece_region"], weights=areas, minlength=len(part)) * unit**2
    np.testing.assert_allclose(by_region, part.volumes(), rtol=1e-3, atol=1e-6 * window * unit**2)
    np.testing.assert_allclose(arrays["region_area"], part.volumes(), rtol=1e-6)
    assert header["num_regions"]["value"] == len(part) == len(arrays["region_area"])
    places = np.random.default_rng(0).uniform(-1, 1, (200, 2)) * view.reach / unit
    piece = pieces_at(found, places)
    rows = part.locate(places * unit)
    agree = np.where(piece >= 0, arrays["piece_region"][piece], -1) == rows
    assert agree.mean() > 0.98
    return places[agree], piece[agree]


@pytest.mark.parametrize("zoom", ZOOMS)
@pytest.mark.parametrize("sizes", [(5, 12, 12, 4), (2, 16, 16, 3), (3, 10, 10, 1)])
def test_pieces_cover_the_window_and_are_where_locate_says(sizes, zoom):
    asked = session(sizes)
    found, view = picture(asked, zoom, crossing(asked))
    assert found.header["num_regions"]["value"] >= 4
    assert found.header["num_regions"]["claim"] == "EXACT"
    places, piece = check_picture(found, view)
    # Classes are those of the network itself, as far as floats can tell the places apart.
    if zoom == 1.0:
        outputs = view.network(view.domain.lift(places * view.scale)).numpy()
        values = outputs if outputs.shape[1] > 1 else np.hstack([0 * outputs, outputs])
        top = np.sort(values, axis=1)
        clear = top[:, -1] - top[:, -2] > 1e-5
        np.testing.assert_array_equal(found.arrays["piece_class"][piece][clear], values.argmax(axis=1)[clear])


@pytest.mark.parametrize("zoom", ZOOMS)
def test_the_picture_is_the_partition_of_the_same_slice(zoom):
    asked = session()
    found, view = picture(asked, zoom, crossing(asked, 1))
    plane = rs.Plane(*asked.points[[anchor["row"] for anchor in home(asked)[0]]])
    window = rs.Slice(plane.lift(view.center), plane.basis, rs.Box(-view.reach, view.reach))
    part = rs.certify(rs.partition(asked.network, window))
    assert {code.tobytes() for code in part.codes.words} == {code.tobytes() for code in view.part.codes.words}
    assert found.header["num_regions"]["value"] == len(part)


@given(st.integers(0, 10**6), st.sampled_from(ZOOMS))
def test_degenerate_networks_are_drawn_whole(seed, zoom):
    generator = np.random.default_rng(seed)
    layers, box = example(None, seed, ("relu", "max", "clamp") if seed % 2 else ("relu", "max"))
    asked = Session.of(network_of(layers, 2))
    center = generator.uniform(box.lo, box.hi)
    if zoom < 1.0:
        corners = rs.partition(asked.network, box).vertices
        center = corners[generator.integers(len(corners))]
    reach = (box.hi - box.lo) / 2 * zoom
    question = {"ask": "partition", "window": {"center": center.tolist(), "reach": reach.tolist()}}
    found = ask(asked, question)
    check_picture(found, asked.views[found.header["version"]])


def test_edges_are_between_their_regions_and_have_the_gate_that_bends():
    asked = session()
    found, view = picture(asked)
    arrays, part = found.arrays, view.part
    codes = part.codes.to_array()
    layout = part.codes.layout
    for ends, (left, right), gate, unit in zip(
        arrays["edge_ends"], arrays["edge_regions"], arrays["edge_gate"], arrays["edge_unit"], strict=True
    ):
        differing = np.flatnonzero(codes[left] != codes[right])
        assert layout.units(int(gate)).start + unit == differing[0]
        # The unit's pre-activation is zero along the edge.
        inputs = view.domain.lift(ends.astype(np.float64) * view.scale)
        values = view.network.preactivations(inputs)[gate][:, unit]
        assert np.abs(values.numpy()).max() < 1e-5
    deepest = np.full(len(part), -1)
    for (left, right), gate in zip(arrays["edge_regions"], arrays["edge_gate"], strict=True):
        deepest[[left, right]] = np.maximum(deepest[[left, right]], gate)
    np.testing.assert_array_equal(arrays["region_depth"], deepest)


def test_the_decision_boundary_is_where_two_outputs_tie():
    asked = session(seed=2)
    found, view = picture(asked)
    ends, classes = found.arrays["boundary_ends"].astype(np.float64), found.arrays["boundary_classes"]
    assert len(ends)
    outputs = view.network(view.domain.lift(ends.mean(axis=1) * view.scale)).numpy()
    first, second = (outputs[np.arange(len(ends)), classes[:, side]] for side in (0, 1))
    assert np.abs(first - second).max() < 1e-5
    assert (outputs.max(axis=1) - first).max() < 1e-5


def test_classes_of_regions_are_those_at_their_witnesses():
    asked = session(seed=2)
    found, view = picture(asked)
    assert (np.bincount(found.arrays["piece_region"]) > 1).any()
    outputs = view.network(view.domain.lift(view.part.witnesses)).numpy()
    np.testing.assert_array_equal(found.arrays["region_class"], outputs.argmax(axis=1))


def test_regression_has_regions_and_no_classes():
    generator = np.random.default_rng(0)
    points, targets = generator.normal(size=(30, 4)), generator.normal(size=(30, 2))
    asked = Session.of(session((4, 10, 2)).network, points, labels=targets)
    found, view = picture(asked)
    assert not ask(asked, {"ask": "hello"}).header["is_classifier"]
    assert set(found.arrays["piece_class"]) == {-1} == set(found.arrays["region_class"])
    assert len(found.arrays["boundary_ends"]) == 0 == len(found.header["classes_present"])
    check_picture(found, view)


def test_a_network_without_gates_is_one_region():
    asked = Session.of(rs.load([(np.eye(3), np.zeros(3))]), np.random.default_rng(0).normal(size=(9, 3)))
    found, view = picture(asked)
    check_picture(found, view)
    assert found.header["num_regions"]["value"] == 1
    assert np.isnan(found.arrays["region_rate"]).all()
    assert found.arrays["region_depth"].tolist() == [-1]


def test_windows_keep_the_aspect_that_was_asked_for():
    asked = session()
    anchors, window = home(asked)
    reach = [window["reach"][1] * ASPECT, window["reach"][1]]
    found = ask(asked, {"ask": "partition", "anchors": anchors, "window": {"center": window["center"], "reach": reach}})
    assert found.header["window"] == {"center": window["center"], "reach": reach}
    assert np.abs(found.arrays["corners"]).max(axis=0) == pytest.approx([ASPECT, 1.0])


def test_without_a_window_the_home_window_is_shown():
    asked = session()
    anchors, window = home(asked)
    found = ask(asked, {"ask": "partition", "anchors": anchors, "window": None})
    assert found.header["window"] == window == found.header["home"]
    places = np.array(found.header["anchors_at"])
    inside = np.abs(places - window["center"]) <= window["reach"]
    assert inside.all()
    view = asked.views[found.header["version"]]
    rows = [anchor["row"] for anchor in anchors]
    np.testing.assert_allclose(view.frame.origin + places @ view.frame.basis, asked.points[rows], atol=1e-12)
    assert found.header["anchors_said"] == [f"sample {row}" for row in rows]


def test_certified_pictures_say_so():
    asked = session((2, 8, 3))
    found, _ = picture(asked, 1e-6, crossing(asked))
    sure = ask(asked, {"ask": "certify", "version": found.header["version"]})
    assert sure.header["certified"]
    assert not found.header["certified"]
    assert found.header["certifiable"]
    assert sure.header["num_regions"]["claim"] == "EXACT"
    assert sure.header["window"] == found.header["window"]
    assert picture(asked, 1e-6, crossing(asked), certify=True)[0].header["certified"]


@pytest.mark.parametrize("aspect", [0.5, 3.0])
def test_home_windows_grow_to_the_aspect_of_the_stage(aspect):
    asked = session()
    shown = ask(asked, {"ask": "partition", "aspect": aspect}).header
    (width, height), (wide, high) = shown["home"]["reach"], shown["window"]["reach"]
    assert wide / high == pytest.approx(aspect)
    assert (wide, high) == pytest.approx((width, width / aspect) if wide == width else (height * aspect, height))
    assert wide >= width
    assert high >= height
    assert shown["window"]["center"] == shown["home"]["center"]


def test_what_would_take_too_long_is_not_certified(monkeypatch):
    asked = session()
    found, _ = picture(asked)
    number = found.header["num_regions"]["value"]
    monkeypatch.setattr(partitioning, "MOST_CERTIFIED", number - 1)
    for question in ({"ask": "certify", "version": found.header["version"]}, {"ask": "partition", "certify": True}):
        kind, said = refused(asked, question)
        assert kind == "input"
        assert said == (
            f"a picture of {number} regions would take too long in rational arithmetic, and at most {number - 1} of "
            "this network are certified: zoom in first"
        )
    monkeypatch.setattr(partitioning, "MOST_MULTIPLICATIONS", 100)
    kind, said = refused(asked, {"ask": "certify", "version": found.header["version"]})
    assert said.endswith(" multiplications is too large for rational arithmetic: it is not certified")
