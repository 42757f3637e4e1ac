"""Slices of three dimensions through four points: what is answered of them is what the network does there."""

import numpy as np
import pytest

import reluscope as rs
from explorer.asking import ask, refused, session
from reluscope.explorer.scene.session import Session

SOLID = [
    {"kind": "sample", "row": 0},
    {"kind": "sample", "row": 3},
    {"kind": "mean", "class": 1},
    {"kind": "random", "seed": 5},
]


@pytest.fixture(scope="module")
def asked():
    return session((6, 9, 8, 4), seed=2)


def corners_of(asked):
    """The four points, each by hand."""
    labels = asked.labels
    low, high = asked.points.min(axis=0), asked.points.max(axis=0)
    mean = asked.points[labels == 1].mean(axis=0)
    return np.stack([asked.points[0], asked.points[3], mean, np.random.default_rng(5).uniform(low, high)])


def lifted(asked, found, places):
    """Points of the input space, from places of the box, by the four corners: barycentric coordinates."""
    ends = np.array(found.header["corners"])
    weights = np.linalg.solve(np.vstack([ends.T, np.ones(4)]), np.vstack([places.T, np.ones(len(places))]))
    return weights.T @ corners_of(asked)


def test_cells_are_the_regions_of_the_slice(asked):
    found = ask(asked, {"ask": "space", "of": "regions", "solid": SOLID})
    arrays, net = found.arrays, asked.network
    points = lifted(asked, found, arrays["region_middle"].astype(np.float64))
    assert len(np.unique(net.codes(points).words, axis=0)) == len(points) == found.header["found"]["value"] > 20
    assert (rs.classification.predicted_classes(net, points) == arrays["region_class"]).all()
    reach = np.array(found.header["room"]["reach"])
    assert arrays["region_volume"].sum() == pytest.approx(8 * reach.prod(), rel=1e-4)
    # Nowhere in the box is there another region.
    draw = np.random.default_rng(1).uniform(-1, 1, (4000, 3)) * reach / reach.max()
    seen = net.codes(lifted(asked, found, draw)).words
    assert {tuple(row) for row in seen.tolist()} <= {tuple(row) for row in net.codes(points).words.tolist()}
    ids = arrays["polygons"]
    places = arrays["points"][ids].astype(np.float64)
    outputs = net(lifted(asked, found, places)).numpy()
    assert np.allclose(outputs, arrays["scores"][ids], atol=2e-4)


def test_surfaces_of_the_slice(asked):
    found = ask(asked, {"ask": "space", "of": "decision", "solid": SOLID})
    outputs = np.sort(asked.network(lifted(asked, found, found.arrays["points"].astype(np.float64))).numpy(), axis=1)
    assert len(outputs) > 10
    assert (outputs[:, -1] - outputs[:, -2]).max() < 1e-4
    found = ask(asked, {"ask": "space", "of": "level", "output": 2, "level": 0.3, "solid": SOLID})
    values = asked.network(lifted(asked, found, found.arrays["points"].astype(np.float64))).numpy()[:, 2]
    assert len(values) > 5
    assert np.abs(values - 0.3).max() < 1e-4


def test_planes_lie_in_the_solid_where_they_are_said_to(asked):
    first = ask(asked, {"ask": "partition", "anchors": SOLID[:3], "solid": SOLID})
    assert np.allclose(first.header["frame"]["origin"], 0)
    assert np.allclose(first.header["frame"]["basis"], np.eye(3)[:2], atol=1e-9)
    inside = [{"kind": "inside", "at": at} for at in ([0.1, 0.2, 0.3], [1.0, 0.0, 0.5], [0.0, 1.0, -0.2])]
    found = ask(asked, {"ask": "partition", "anchors": inside, "solid": SOLID})
    frame = found.header["frame"]
    for anchor, place in zip(inside, found.header["anchors_at"], strict=True):
        at = np.array(frame["origin"]) + np.array(place) @ np.array(frame["basis"])
        assert np.allclose(at, anchor["at"])
    # The regions of the plane are those of the solid that it cuts: the same classes at the same places.
    view = asked.views[found.header["version"]]
    room = ask(asked, {"ask": "space", "of": "regions", "solid": SOLID})
    places = np.array(frame["origin"]) + (view.center + view.part.witnesses) @ np.array(frame["basis"])
    relative = (places - np.array(room.header["room"]["center"])) / room.header["scale"]
    points = lifted(asked, room, relative)
    assert (asked.network.codes(points).words == view.part.codes.words).all()


@pytest.mark.parametrize("last", [SOLID[3], {"kind": "adversary", "of": 1}])
def test_the_program_of_such_a_plane_makes_it_again(asked, last):
    inside = [{"kind": "inside", "at": at} for at in ([0.1, 0.2, 0.3], [1.0, 0.0, 0.5], [0.0, 1.0, -0.2])]
    found = ask(asked, {"ask": "partition", "anchors": inside, "solid": [*SOLID[:3], last]})
    code = ask(asked, {"ask": "export", "version": found.header["version"], "as": "python"}).arrays["bytes"]
    names = {"net": asked.network, "x": asked.points, "labels": asked.labels}
    exec(bytes(code).decode(), names)
    assert names["part"].codes.words.tolist() == asked.views[found.header["version"]].part.codes.words.tolist()


def test_a_picture_that_is_kept_is_seen_in_another_solid(asked):
    other = [*SOLID[:3], {"kind": "sample", "row": 9}]
    versions = [
        ask(asked, {"ask": "partition", "anchors": SOLID[:3], "solid": solid}) for solid in (None, SOLID, other)
    ]
    assert [one.header["frame"] is None for one in versions] == [True, False, False]
    assert len({one.header["plane_id"] for one in versions}) == 1


def test_a_fourth_point_is_of_another_class(asked):
    hello = ask(asked, {"ask": "hello"}).header
    rows = [anchor["row"] for anchor in [*hello["home"]["anchors"], hello["fourth"]]]
    assert len(set(rows)) == len(set(asked.classes[rows])) == 4
    assert ask(Session.of(asked.network), {"ask": "hello"}).header["fourth"]["kind"] == "random"


@pytest.mark.parametrize(
    ("solid", "said"),
    [
        (SOLID[:3], "list of four points"),
        ("all", "list of four points"),
        ([*SOLID[:3], SOLID[0]], "lie in a plane"),
        ([*SOLID[:3], {"kind": "between", "from": SOLID[0], "to": SOLID[1], "share": 0.5}], "lie in a plane"),
        ([*SOLID[:3], {"kind": "inside", "at": [0, 0, 0]}], "kind"),
        ([*SOLID[:3], {"kind": "sample", "row": 999}], "row"),
        ([*SOLID[:3], 4], "anchor D"),
    ],
)
def test_solids_that_are_none(asked, solid, said):
    for question in ({"ask": "space", "of": "regions"}, {"ask": "partition"}):
        kind, message = refused(asked, {**question, "solid": solid})
        assert kind == "input"
        assert said in message


def test_solids_are_for_more_than_three_inputs(asked):
    for sizes in ((2, 6, 3), (3, 6, 3)):
        kind, message = refused(session(sizes), {"ask": "partition", "solid": SOLID})
        assert kind == "input"
        assert "more than three inputs" in message
    inside = [{"kind": "inside", "at": [0, 0, 1]}] * 3
    assert refused(asked, {"ask": "partition", "anchors": inside})[0] == "input"
    assert "same point" in refused(asked, {"ask": "partition", "anchors": inside, "solid": SOLID})[1]
