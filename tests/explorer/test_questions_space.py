"""Space as it is answered: the regions of `partition`, the surfaces of `level_set` and `decision_surface`, exactly."""

from itertools import pairwise

import numpy as np
import pytest

import reluscope as rs
from explorer.asking import ask, network, refused, session

# A network whose four classes meet in several pairs.
SEVERAL = 1


def solid():
    return session((3, 8, 8, 3), seed=4)


def places(found):
    """Return the corners of all polygons in input space."""
    room, scale = found.header["room"], found.header["scale"]
    return np.array(room["center"]) + scale * found.arrays["points"].astype(np.float64)


def box_of(found):
    center, reach = np.array(found.header["room"]["center"]), np.array(found.header["room"]["reach"])
    return rs.Box(center - reach, center + reach)


def volume_within(corners, polygons, normals):
    """The divergence theorem, polygon by polygon."""
    total = 0.0
    for polygon, normal in zip(polygons, normals, strict=True):
        points = corners[polygon]
        area = sum(np.cross(points[k] - points[0], points[k + 1] - points[0]) for k in range(1, len(points) - 1)) / 2
        total += points[0] @ normal * np.linalg.norm(area) / 3
    return total


def test_every_region_is_enclosed_by_its_polygons():
    asked = solid()
    found = ask(asked, {"ask": "space", "of": "regions"})
    part = rs.partition(asked.network, box_of(found))
    assert found.header["found"] == {**found.header["found"], "value": len(part), "claim": "EXACT"}
    corners, arrays = places(found), found.arrays
    polygons = [arrays["polygons"][a:b] for a, b in pairwise(arrays["offsets"])]
    middles = np.array(found.header["room"]["center"]) + found.header["scale"] * arrays["region_middle"]
    rows = part.locate(middles.astype(np.float64))
    assert sorted(rows.tolist()) == list(range(len(part)))
    volumes = part.volumes()
    for region in range(0, len(part), 7):
        own = np.flatnonzero(arrays["piece_region"] == region)
        enclosed = volume_within(corners, [polygons[k] for k in own], arrays["normals"][own].astype(np.float64))
        assert enclosed == pytest.approx(volumes[rows[region]], rel=1e-3, abs=1e-6 * box_of(found).volume())
        assert arrays["region_volume"][region] == pytest.approx(volumes[rows[region]], rel=1e-5)


def test_outputs_at_corners_tell_the_class_within_polygons():
    asked = solid()
    found = ask(asked, {"ask": "space", "of": "regions"})
    corners, arrays, draw = places(found), found.arrays, np.random.default_rng(0)
    for piece in draw.integers(0, len(arrays["offsets"]) - 1, 200):
        ids = arrays["polygons"][arrays["offsets"][piece] : arrays["offsets"][piece + 1]]
        weights = draw.dirichlet(np.ones(len(ids)))
        scores = np.sort(weights @ arrays["scores"][ids])
        expected = asked.network((weights @ corners[ids])[None]).numpy()[0]
        assert np.allclose(np.sort(expected), scores, atol=1e-4)
        if scores[-1] - scores[-2] > 1e-3:
            assert (weights @ arrays["scores"][ids]).argmax() == expected.argmax()


def test_the_level_is_reached_on_its_surface():
    asked = solid()
    found = ask(asked, {"ask": "space", "of": "level", "output": 1, "level": 0.1})
    surface = rs.level_set(asked.network, box_of(found), output=1, level=0.1)
    assert found.header["found"]["value"] == len(surface) > 10
    values = asked.network(places(found)).numpy()[:, 1]
    assert np.abs(values - 0.1).max() < 1e-4


def test_two_classes_tie_on_the_decision_boundary():
    asked = session((3, 8, 8, 4), seed=SEVERAL)
    found = ask(asked, {"ask": "space", "of": "decision"})
    arrays = found.arrays
    outputs = asked.network(places(found)).numpy()
    assert found.header["found"]["value"] == len(rs.decision_boundary(asked.network, box_of(found))) > 5
    assert len(np.unique(arrays["piece_classes"], axis=0)) > 1
    for piece, (a, b) in enumerate(pairwise(arrays["offsets"])):
        at = outputs[arrays["polygons"][a:b]]
        first, second = arrays["piece_classes"][piece]
        assert np.abs(at[:, first] - at[:, second]).max() < 1e-4
        assert np.abs(at.max(axis=1) - at[:, first]).max() < 1e-4


def test_a_box_that_takes_too_long_is_made_smaller_and_says_so():
    asked = session((3, 16, 16, 3), seed=1)
    found = ask(asked, {"ask": "space", "of": "regions", "budget": {"regions": 300, "seconds": 60}})
    whole = ask(asked, {"ask": "space", "of": "regions"})
    assert found.header["scale"] < whole.header["scale"]
    assert "part around its middle" in found.header["note"]
    assert len(found.arrays["region_rate"]) == found.header["found"]["value"]


def test_the_plane_of_space_goes_through_its_points():
    asked = solid()
    home = ask(asked, {"ask": "hello"}).header
    assert home["space"] is not None
    assert "space" in home["features"]
    found = ask(asked, {"ask": "partition"})
    frame = found.header["frame"]
    for anchor, place in zip(home["home"]["anchors"], found.header["anchors_at"], strict=True):
        at = np.array(frame["origin"]) + np.array(place) @ np.array(frame["basis"])
        assert np.allclose(at, anchor["at"])
    # The window holds the whole section of the box.
    room = home["space"]
    assert np.abs(frame["basis"]).round(12).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert (np.array(found.header["window"]["reach"]) >= np.array(room["reach"])[:2] * 0.999).all()


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"of": "volume"}, "one of regions, decision, level"),
        ({"of": "level", "output": 3}, "from 0 to 2"),
        ({"of": "level", "level": float("nan")}, "level"),
        ({"of": "regions", "budget": {"regions": 0}}, "regions"),
        ({"of": "regions", "epoch": 0}, "no training"),
        ({"of": "regions", "more": 1}, "no field"),
    ],
)
def test_what_makes_no_sense_is_refused(question, said):
    kind, message = refused(solid(), {"ask": "space", **question})
    assert kind == "input"
    assert said in message


def test_other_networks_have_no_space():
    for sizes in ((2, 6, 2), (5, 6, 2)):
        asked = session(sizes)
        hello = ask(asked, {"ask": "hello"}).header
        assert hello["space"] is None
        assert ("space" in hello["features"]) == (hello["fourth"] is not None) == (sizes[0] > 3)
        assert "three inputs" in refused(asked, {"ask": "space", "of": "regions"})[1]


@pytest.mark.parametrize("at", [[1, 2], [1, 2, "3"], [1, 2, float("inf")], None, 3])
def test_points_that_are_none(at):
    anchors = [{"kind": "point", "at": at}, {"kind": "random", "seed": 1}, {"kind": "random", "seed": 2}]
    kind, message = refused(solid(), {"ask": "partition", "anchors": anchors})
    assert kind == "input"
    assert "3 finite numbers" in message


def test_degenerate_networks_have_a_space():
    flat = rs.load([(np.zeros((4, 3)), np.zeros(4)), (np.zeros((2, 4)), np.ones(2))])
    twins = network((3, 4, 2))
    for net in (flat, twins):
        asked = type(solid()).of(net)
        assert ask(asked, {"ask": "space", "of": "regions"}).header["found"]["value"] >= 1
        ask(asked, {"ask": "space", "of": "level", "level": 1.0})
        ask(asked, {"ask": "space", "of": "decision"})
