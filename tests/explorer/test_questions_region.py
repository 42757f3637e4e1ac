"""The card of a region: what `reluscope.region` says of it, its sides and sizes, and the program that finds it."""

import numpy as np
import pytest

import reluscope as rs
from explorer.asking import ZOOMS, ask, crossing, home, picture, refused, session
from partitions.layered import network_of
from reluscope.explorer.scene.session import Session


def cards(asked, zoom=1.0, most=12):
    """Ask for the cards of some regions of a picture."""
    found, view = picture(asked, zoom, crossing(asked))
    rows = np.random.default_rng(0).permutation(len(view.part))[:most].tolist()
    return view, [ask(asked, {"ask": "region", "version": found.header["version"], "row": row}) for row in rows]


@pytest.mark.parametrize("sizes", [(5, 12, 12, 4), (2, 14, 3), (4, 10, 1)])
def test_cards_are_the_regions_at_their_witnesses(sizes):
    view, found = cards(session(sizes))
    for card in found:
        header, arrays = card.header, card.arrays
        row = header["row"]
        point = view.domain.lift(view.part.witnesses[row])
        region = rs.region(view.network, point)
        assert (region.code.words == view.part.codes.words[row]).all()
        weight, bias = (table[0].numpy() for table in (region.map.weight, region.map.bias))
        if sizes[-1] == 1:
            weight, bias = np.vstack([0 * weight, weight]), np.append(0.0, bias)
        values = weight @ point + bias
        order = np.argsort(-values)
        assert header["class"] == order[0] == header["outputs_at_point"][0]["index"]
        np.testing.assert_allclose(
            [entry["value"] for entry in header["outputs_at_point"]], values[order], rtol=1e-9, atol=1e-9
        )
        np.testing.assert_allclose(arrays["weight_winner"], weight[order[0]], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(arrays["weight_second"], weight[order[1]], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(arrays["weight_margin"], weight[order[0]] - weight[order[1]], rtol=1e-5, atol=1e-5)
        assert header["margin"] == pytest.approx(values[order[0]] - values[order[1]], rel=1e-6, abs=1e-9)
        assert [header["bias_winner"], header["bias_second"]] == pytest.approx(bias[order[:2]])
        active = [int(gate["active"]) for gate in header["code"]]
        assert sum(active) == int(view.part.codes.to_array()[row].sum())


@pytest.mark.parametrize("zoom", ZOOMS)
def test_sides_close_around_the_region_and_their_neighbors_differ_in_the_unit_that_flips(zoom):
    view, found = cards(session(), zoom)
    codes = view.part.codes.to_array()
    for card in found:
        header = card.header
        row, sides = header["row"], header["sides"]
        ends = np.array([side["ends"] for side in sides]) * view.scale
        corners = view.part[row].vertices
        around = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1).sum()
        lengths = [side["length"] for side in sides]
        assert sum(lengths) == pytest.approx(around, rel=1e-6)
        np.testing.assert_allclose(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1), lengths, rtol=1e-6)
        angles = np.arctan2(*(ends.mean(axis=1) - view.part.witnesses[row]).T[::-1])
        assert (np.diff(angles) >= 0).all()
        assert header["num_sides"] == len(sides)
        assert header["is_cut"] == any(side["neighbor"] < 0 for side in sides)
        for side in sides:
            if side["neighbor"] < 0:
                continue
            unit = view.part.codes.layout.units(side["gate"]).start + side["unit"]
            here, there = codes[row][unit], codes[side["neighbor"]][unit]
            assert here != there
            assert side["flips"].startswith(f"unit {side['unit']} of relu")
            assert ("turns on" if there else "turns off") in side["flips"]


def test_areas_and_discs_claim_what_the_window_shows():
    view, found = cards(session(), most=16)
    assert {card.header["is_cut"] for card in found} == {True, False}
    for card in found:
        header, region = card.header, view.part[card.header["row"]]
        claim = "LOWER" if header["is_cut"] else "EXACT"
        assert header["area"]["claim"] == header["inradius"]["claim"] == claim
        assert header["area"]["value"] == pytest.approx(region.volume)
        assert header["inradius"]["value"] == pytest.approx(region.polyhedron.insphere().radius, rel=1e-6, abs=1e-12)


def test_a_point_of_the_region_has_its_own_outputs_and_others_are_refused():
    asked = session()
    found, view = picture(asked)
    version = found.header["version"]
    point = np.array([0.123, -0.234])
    row = int(ask(asked, {"ask": "locate", "version": version, "points": [point.tolist()]}).arrays["rows"][0])
    card = ask(asked, {"ask": "region", "version": version, "row": row, "point": point.tolist()})
    outputs = view.network(view.domain.lift(point * view.scale)).numpy()[0]
    assert [entry["value"] for entry in card.header["outputs_at_point"]] == pytest.approx(sorted(outputs)[::-1])
    kind, message = refused(asked, {"ask": "region", "version": version, "row": row, "point": [50, 50]})
    assert kind == "input"
    assert message == f"the point must lie in region {row}, and is elsewhere: leave it out, or ask with locate"


def test_samples_inside_are_those_with_the_code_of_the_region():
    asked = session((2, 6, 3), samples=60)
    _, view = picture(asked)
    codes = asked.network.codes(asked.points)
    rows = view.part.locate(asked.points - view.center)
    assert len(set(rows.tolist())) < len(rows)
    for row in set(rows.tolist()):
        card = ask(asked, {"ask": "region", "version": view.version, "row": row})
        expected = np.flatnonzero((codes.words == view.part.codes.words[row]).all(axis=1))
        assert card.header["samples_inside"] == expected.tolist()
        assert card.header["num_samples_inside"] == len(expected) >= 1


@pytest.mark.parametrize("zoom", [1.0, 1e-6])
@pytest.mark.parametrize(
    "last",
    [
        {"kind": "sample", "row": 5},
        {"kind": "mean", "class": 0},
        {"kind": "adversary", "of": 0},
        {"kind": "random", "seed": 7},
        {"kind": "between", "from": {"kind": "sample", "row": 5}, "to": {"kind": "mean", "class": 0}, "share": 0.3},
    ],
)
def test_programs_find_the_region_again(last, zoom):
    asked = session()
    anchors = [*home(asked)[0][:2], last]
    shown = ask(asked, {"ask": "partition", "anchors": anchors}).header["window"]
    window = {"center": shown["center"], "reach": [side * zoom for side in shown["reach"]]}
    found = ask(asked, {"ask": "partition", "anchors": anchors, "window": window})
    view = asked.views[found.header["version"]]
    row = len(view.part) // 2
    card = ask(asked, {"ask": "region", "version": found.header["version"], "row": row})
    names = {"net": asked.network, "x": asked.points, "labels": asked.labels}
    exec(card.header["python"], names)
    np.testing.assert_array_equal(names["part"].codes.words, view.part.codes.words)
    assert names["row"] == row
    assert (names["whole"].code.words == view.part.codes.words[row]).all()
    export = ask(asked, {"ask": "export", "version": found.header["version"], "as": "python"})
    assert card.header["python"].startswith(export.arrays["bytes"].tobytes().decode())


def test_programs_of_networks_of_two_inputs():
    asked = session((2, 8, 3))
    found, view = picture(asked, 0.5)
    names = {"net": asked.network}
    exec(ask(asked, {"ask": "region", "version": found.header["version"], "row": 0}).header["python"], names)
    np.testing.assert_array_equal(names["part"].codes.words, view.part.codes.words)


def test_the_radius_is_that_of_a_largest_ball_in_the_whole_input_space():
    asked = Session.of(
        rs.load([(np.vstack([np.eye(3), -np.eye(3)]), np.ones(6)), (np.ones((2, 6)), np.zeros(2))]),
        np.random.default_rng(0).uniform(-0.9, 0.9, (8, 3)),
    )
    found, view = picture(asked, 0.1)
    assert len(view.part) == 1
    answered = ask(asked, {"ask": "radius", "version": found.header["version"], "row": 0}).header
    assert answered["radius"]["value"] == pytest.approx(1.0)
    assert answered["radius"]["claim"] == "EXACT"
    assert not answered["is_unbounded"]


def test_unbounded_regions_have_balls_of_every_size():
    asked = Session.of(rs.load([(np.eye(3), np.zeros(3)), (np.eye(3), np.zeros(3))]), np.eye(3) + 1)
    found, _ = picture(asked)
    rows = found.header["num_regions"]["value"]
    answered = ask(asked, {"ask": "radius", "version": found.header["version"], "row": rows - 1}).header
    assert answered["is_unbounded"]
    assert answered["radius"]["value"] is None


def test_max_gates_say_which_candidate_is_taken():
    layers = [("affine", np.random.default_rng(0).normal(size=(6, 3)), np.zeros(6)), ("max", [[0, 1, 2], [3, 4, 5]])]
    asked = Session.of(network_of(layers, 3), np.random.default_rng(0).normal(size=(9, 3)))
    found, _ = picture(asked)
    card = ask(asked, {"ask": "region", "version": found.header["version"], "row": 0})
    said = [side["flips"] for side in card.header["sides"] if side["neighbor"] >= 0]
    assert said
    assert all("takes candidate" in one for one in said)
