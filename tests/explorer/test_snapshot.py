"""Snapshots: small, whole, equal for equal subjects, and free of what a subject's names could smuggle in."""

import base64
import gzip
import re
import struct
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import reluscope as rs
from reluscope.datasets.demo import loaded_demo_network
from reluscope.errors import InputError
from reluscope.explorer.exchange.answers import Answer
from reluscope.explorer.exchange.bundled import fingerprint, program
from reluscope.explorer.exchange.condensing import condensed
from reluscope.explorer.exchange.wire import unpack
from reluscope.explorer.scene.session import Session
from reluscope.explorer.serving.desk import Desk
from reluscope.explorer.serving.snapshot import kept_answers, snapshot_page, still_text

NET = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])


def restored(answer):
    """Undo what was condensed, as a reader of the format does."""
    header = dict(answer.header)
    arrays = {}
    for listed in header.pop("condensed"):
        kind = np.dtype(listed["dtype"])
        planes = answer.arrays[listed["name"]].reshape(kind.itemsize, -1)
        arrays[listed["name"]] = np.frombuffer(planes.T.tobytes(), kind).reshape(listed["shape"])
    vertices = arrays.pop("vertices", None)
    for name, whole in (("corner_vertices", "corners"), ("edge_vertices", "edge_ends")):
        if name in arrays:
            arrays[whole] = vertices[arrays.pop(name)]
    return Answer(header, arrays)


def held(page):
    """Return the answers that a page holds."""
    text = re.search(r'<script type="text/plain">([^<]*)</script>', page).group(1)
    packed, at, found = gzip.decompress(base64.b64decode(text)), 0, []
    while at < len(packed):
        length, zero = struct.unpack_from("<II", packed, at)
        assert (zero, at % 8) == (0, 0)
        found.append(restored(unpack(packed[at + 8 : at + 8 + length])))
        at += 8 + -(-length // 8) * 8
    return found


PLACES = st.integers(0, 3).map(lambda whole: np.float32(whole) / 4)


@given(
    hnp.arrays(np.float32, st.tuples(st.integers(0, 6), st.just(2)), elements=PLACES),
    hnp.arrays(np.float32, st.tuples(st.integers(0, 4), st.just(2), st.just(2)), elements=PLACES),
    hnp.arrays(np.int32, st.integers(0, 5)),
)
def test_condensed_answers_are_whole(corners, ends, rows):
    answer = Answer({"answer": "partition"}, {"rows": rows, "corners": corners, "edge_ends": ends})
    small = condensed(answer)
    back = restored(small)
    assert back.header == answer.header
    assert set(back.arrays) == set(answer.arrays)
    for name, array in answer.arrays.items():
        assert back.arrays[name].tobytes() == array.tobytes()
        assert back.arrays[name].shape == array.shape
    assert small.arrays["vertices"].size <= 8 * (len(corners) + 2 * len(ends))


def test_zeros_of_both_signs_stay_apart():
    corners = np.array([[0.0, -0.0], [-0.0, 0.0]], dtype=np.float32)
    assert restored(condensed(Answer({}, {"corners": corners}))).arrays["corners"].tobytes() == corners.tobytes()


def test_a_page_holds_what_it_can_be_asked():
    data = rs.datasets.digits("test")
    answers = kept_answers(Desk(Session.of(loaded_demo_network(), data)))
    hello, plane = answers[:2]
    assert hello.header["still"] is True
    assert plane.header["num_regions"]["claim"] == "EXACT"
    regions = len(plane.arrays["region_area"])
    asked = [answer.header["question"] for answer in answers[2:]]
    assert {"of": "norm"} in asked
    assert [one["gates"] for one in asked if one.get("of") == "prefix"] == [0, 1, 2, 3]
    assert {answer.header["answer"] for answer in answers[2:]} == {"values", "samples"}
    assert all(len(one.arrays["values"]) == regions for one in answers[2:] if one.header["answer"] == "values")
    groups = [
        len(np.unique(one.arrays["values"])) for one in answers if one.header.get("question", {}).get("of") == "prefix"
    ]
    assert groups == sorted(groups)
    assert groups[0] == 1
    assert groups[-1] == plane.header["num_regions"]["value"]


def test_the_page_is_the_answers_and_equal_each_time():
    pages = [snapshot_page(Desk(Session.of(NET, np.eye(2), labels=[1, 1]))) for _ in range(2)]
    fresh = kept_answers(Desk(Session.of(NET, np.eye(2), labels=[1, 1])))
    for old, new in zip(held(pages[0]), fresh, strict=True):
        assert old.header == new.header
        for name, array in new.arrays.items():
            np.testing.assert_array_equal(old.arrays[name], array)
    assert pages[0] == pages[1]


def test_nothing_runs_in_the_page_but_the_program():
    page = snapshot_page(Desk(Session.of(NET)))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1).replace("&#x27;", "'")
    assert policy.startswith(f"default-src 'none'; script-src {fingerprint(program())};")
    assert "unsafe" not in policy
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", page, flags=re.DOTALL)
    assert [kind.strip() for kind, _ in scripts] == ['type="text/plain"', 'type="module"']
    assert scripts[1][1] == program()
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", scripts[0][1])


def test_what_shows_space_is_in_pages_of_space_alone(tmp_path):
    solid = rs.load([(np.eye(3), np.zeros(3)), (np.array([[1.0, 1, 1], [0, 0, 1]]), np.array([0.0, 0.2]))])
    page = snapshot_page(Desk(Session.of(solid)))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1).replace("&#x27;", "'")
    assert policy.startswith(f"default-src 'none'; script-src {fingerprint(program(space=True))};")
    assert page.count("<script") == page.count("</script") == 2
    answers = held(page)
    spaces = [one for one in answers if one.header["answer"] == "space"]
    assert answers[0].header["space"]["held"] == [one.header["of"] for one in spaces] == ["regions", "decision"]
    assert spaces[0].header["found"]["value"] == 8
    assert len(program(space=True)) > len(program()) + 10_000
    # Where it would be large, a page does without.
    asked = Desk(Session.of(solid))
    assert kept_answers(asked, space=False)[0].header["space"] is None


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)> \" ' & <!--"


def test_names_are_data(tmp_path):
    session = Session.of(NET, np.eye(2), labels=[1, 1], class_names=[HOSTILE, "b"], name=HOSTILE)
    page = snapshot_page(Desk(session))
    assert page.count("<script") == page.count("</script") == 2
    assert "onerror" not in page.replace("&lt;img src=x onerror=alert(1)&gt;", "")
    assert held(page)[0].header["class_names"][0] == HOSTILE


def test_a_snapshot_of_ten_thousand_regions_is_small():
    torch.manual_seed(1)
    sizes = (2, 64, 64, 64, 10)
    layers = [part for a, b in pairwise(sizes) for part in (torch.nn.Linear(a, b), torch.nn.ReLU())]
    net = rs.load(torch.nn.Sequential(*layers[:-1]).double(), input_shape=(2,))
    plane = {"anchors": None, "window": {"center": [0.0, 0.0], "reach": [2.0, 2.0]}}
    answers = kept_answers(Desk(Session.of(net)), plane)
    regions = answers[1].header["num_regions"]["value"]
    assert regions > 8_000
    bytes_each = len(still_text(answers)) / regions
    assert len(program()) + 10_000 * bytes_each < 0.8e6


def test_files(tmp_path):
    explorer = rs.explore(NET)
    path = explorer.snapshot(tmp_path / "plane.html")
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    explorer.snapshot(str(path))
    with pytest.raises(InputError, match="name another place"):
        explorer.snapshot(path / "below.html")


def test_without_anywidget_a_notebook_shows_a_snapshot(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "anywidget", None)
    from reluscope.explorer.serving import widget

    monkeypatch.setattr(widget, "_widget_class", widget._widget_class.__wrapped__)
    explorer = rs.explore(NET, np.eye(2), labels=[1, 1], class_names=[HOSTILE, "b"])
    shown = explorer._repr_mimebundle_()
    assert shown["text/plain"] == repr(explorer)
    page = shown["text/html"]
    assert "pip install &quot;reluscope[notebook]&quot;" in page
    assert 'sandbox="allow-scripts"' in page
    assert page.count("<script") == 0
    assert "<!doctype" not in page
