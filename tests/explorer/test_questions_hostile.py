"""Questions from anybody: whatever comes, there is an answer of one sentence, and the session goes on."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from explorer.asking import ask, check_form, home, refused, session
from reluscope.explorer.questions import known_questions as questions
from reluscope.explorer.questions.known_questions import LESSON_QUESTIONS, QUESTIONS, answer
from reluscope.explorer.scene.looked_lesson import lesson_session
from reluscope.explorer.scene.session import Session

ASKED = session((3, 5, 3), samples=12, budget=rs.Budget(regions=300, seconds=1.0))
PLANE = session((2, 5, 3), samples=12, budget=rs.Budget(regions=300, seconds=1.0))
LESSON = lesson_session(None, "xor", {"hidden": 1, "width": 3})
VALID = {
    "hello": {},
    "partition": {
        "anchors": home(ASKED)[0],
        "window": {"center": [0.1, 0.2], "reach": [1.0, 0.8]},
        "budget": {"regions": 50, "seconds": 0.5},
        "certify": False,
        "aspect": None,
        "fit": False,
        "epoch": None,
        "lesson": None,
        "solid": None,
    },
    "certify": {"version": 1},
    "space": {
        "of": "level",
        "output": 1,
        "level": 0.2,
        "about": [0.0, 0.1, 0.2],
        "budget": {"regions": 50, "seconds": 0.5},
        "epoch": None,
        "solid": None,
    },
    "values": {"version": 1, "of": "unit", "gate": 0, "unit": 1, "gates": 1},
    "region": {"version": 1, "row": 0, "point": [0.0, 0.0]},
    "radius": {"version": 1, "row": 0},
    "locate": {"version": 1, "points": [[0.0, 0.0], [0.1, 0.5]]},
    "samples": {"of": "class", "class": 1, "search": "farthest_codes", "offset": 0, "count": 5},
    "segment": {"version": 1, "ends": [[-0.5, -0.5], [0.5, 0.5]]},
    "code_space": {"gate": 0},
    "epochs": {},
    "export": {"version": 1, "as": "python", "row": 0},
    "lesson": {},
    "learn": {"lesson": 1, "steps": 2, "since": 0},
    "teach": {"lesson": 1, "settings": {"rate": 0.1}, "problem": "xor", "anew": False},
    "unit_weights": {"lesson": 1, "gate": 0, "unit": 1, "epoch": 0},
    "move_unit": {
        "lesson": 1,
        "gate": 0,
        "unit": 1,
        "epoch": None,
        "bias": 0.1,
        "scale": 1.0,
        "weight": {"from": 0, "value": 0.5},
        "since": -1,
    },
}

ONE, TWO = {"kind": "sample", "row": 1}, {"kind": "sample", "row": 2}
BETWEEN = {"kind": "between", "from": ONE, "to": TWO, "share": 0.5}

anchors = st.one_of(
    st.fixed_dictionaries({"kind": st.just("sample"), "row": st.integers(-2, 14)}),
    st.fixed_dictionaries({"kind": st.just("mean"), "class": st.integers(-1, 4)}),
    st.fixed_dictionaries({"kind": st.just("adversary"), "of": st.integers(-1, 3)}),
    st.fixed_dictionaries({"kind": st.just("random"), "seed": st.integers(-1, 5)}),
    st.fixed_dictionaries({"kind": st.just("point"), "at": st.lists(st.floats(), min_size=2, max_size=4)}),
)
anchors = st.one_of(
    anchors,
    st.fixed_dictionaries({"kind": st.just("between"), "from": anchors, "to": anchors, "share": st.floats(-0.5, 1.5)}),
)
anything = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.integers(-3, 12),
        st.floats(),
        st.floats(-2, 2),
        st.text(max_size=8),
        st.sampled_from(["all", "class", "unit", "norm", "prefix", "inradius", "parquet", "python", "sample"]),
        anchors,
        st.lists(anchors, min_size=3, max_size=3),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(["kind", "row", "center", "reach", "regions", "x"]), inner, max_size=4),
    ),
    max_leaves=6,
)
places = st.lists(st.lists(st.floats(), min_size=2, max_size=2), max_size=4)


def check_survives(asked, question):
    """There is an answer, it is not a fault of ours, and the session goes on."""
    found = answer(asked, question)
    check_form(found)
    assert found.header.get("kind") != "internal", (question, found.header)
    if found.header["answer"] == "error":
        message = found.header["message"]
        assert 10 < len(message) < 2500
        assert "\n" not in message
        assert not found.arrays
    else:
        assert found.header["answer"] == question["ask"]
    assert ask(asked, {"ask": "hello"}).header["plane"] in ("anchors", "inputs")


@given(st.data(), st.sampled_from(sorted(VALID)), st.booleans())
def test_mutated_questions(data, name, is_plane):
    asked = PLANE if is_plane else ASKED
    ask(asked, {"ask": "partition", "window": {"center": [0.0, 0.0], "reach": [1.0, 1.0]}})
    question = {"ask": name, **VALID[name]}
    if "version" in question:
        question["version"] = next(reversed(asked.views))
    known = sorted({field for fields in VALID.values() for field in fields})
    for field in data.draw(st.lists(st.sampled_from(known), max_size=3)):
        question[field] = data.draw(st.one_of(anything, places))
    for field in data.draw(st.lists(st.sampled_from(sorted(question)), max_size=2)):
        if field != "ask":
            question.pop(field, None)
    check_survives(asked, question)


@given(st.one_of(anything, st.dictionaries(st.text(max_size=6), anything, max_size=5)))
def test_what_is_no_question_at_all(question):
    found = answer(ASKED, question)
    assert found.header["answer"] == "error"
    assert found.header["kind"] == "input"


@given(st.lists(anchors, min_size=3, max_size=3))
def test_any_anchors(three):
    check_survives(ASKED, {"ask": "partition", "anchors": three})


@given(st.tuples(st.floats(), st.floats()), st.tuples(st.floats(), st.floats()), st.booleans())
def test_any_window(center, reach, is_plane):
    check_survives(PLANE if is_plane else ASKED, {"ask": "partition", "window": {"center": center, "reach": reach}})


def test_every_question_has_a_valid_form():
    assert set(VALID) == set(QUESTIONS)
    version = ask(ASKED, {"ask": "partition", **VALID["partition"]}).header["version"]
    row = int(ask(ASKED, {"ask": "locate", "version": version, "points": [[0, 0]]}).arrays["rows"][0])
    for name in sorted(set(VALID) - {"epochs", "values"}):
        there = {"version": version, "row": row}
        asked = LESSON if name in LESSON_QUESTIONS else ASKED
        ask(asked, {"ask": name, **{field: there.get(field, value) for field, value in VALID[name].items()}})


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"ask": "dance"}, "ask must be one of hello, partition, .*, got 'dance'"),
        ({"ask": ["hello"]}, r"ask must be one of .*, got \['hello'\]"),
        ({"ask": "hello", "colour": 1}, "the question hello has no field 'colour': leave it out"),
        ({"ask": "region", "row": 1}, "version of the question region must be a whole .*, got nothing"),
        ({"ask": "samples", "of": "some"}, "of of the question samples must be one of all, class, got 'some'"),
        ({"ask": "samples", "count": True}, "count of the question samples must be a whole number .*, got True"),
        ({"ask": "partition", "window": 3}, "window of the question partition must be an object, got 3"),
        (
            {"ask": "partition", "window": {"center": [0, float("nan")], "reach": [1, 1]}},
            r"center of window of the question partition must be a list of 2 finite numbers, got \[0, nan\]",
        ),
        ({"ask": "partition", "window": {"center": [0, 0], "reach": [1, 0]}}, "reach of the window must be two"),
        ({"ask": "partition", "window": {"center": [0, 1e9], "reach": [1, 1]}}, "this one is far away"),
        ({"ask": "partition", "window": {"center": [0, 0], "reach": [1e-15, 1e-15]}}, "smaller than float64 can show"),
        ({"ask": "partition", "anchors": [{"kind": "sample", "row": 1}] * 3}, "A and B are the same point"),
        ({"ask": "partition", "anchors": [ONE, TWO, BETWEEN]}, "A, B and C lie on a line"),
        ({"ask": "partition", "anchors": [{"kind": "sample", "row": 99}] * 3}, "row of anchor A of the plane must"),
        ({"ask": "partition", "anchors": [{"kind": "adversary", "of": 0}] * 3}, "the adversary of A needs a point"),
        ({"ask": "partition", "epoch": 0}, "there is no training to look at"),
        ({"ask": "epochs"}, "there is no training to look at"),
        ({"ask": "values", "version": 1, "of": "unit"}, "gate of the question values must be"),
    ],
)  # fmt: skip
def test_sentences(question, message):
    asked = session((3, 5, 3), samples=12)
    ask(asked, {"ask": "partition"})
    kind, said = refused(asked, question)
    assert kind == "input"
    assert re.search(message, said), said


def test_anchors_of_networks_of_two_inputs_are_refused():
    kind, said = refused(PLANE, {"ask": "partition", "anchors": home(ASKED)[0]})
    assert (kind, said) == ("input", "a network of two inputs is shown on its own plane: leave the anchors out")


def test_faults_of_ours_are_answers_too(monkeypatch, capsys):
    def fails(*_):
        raise ZeroDivisionError("by zero")

    monkeypatch.setitem(questions.QUESTIONS, "hello", fails)
    kind, message = refused(ASKED, {"ask": "hello", "seq": 3})
    assert kind == "internal"
    assert message == f"this failed inside reluscope {rs.__version__}: please report what the terminal says"
    assert "ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.parametrize("seq", [3, None, "x", 1e9, True, 2**70])
def test_answers_repeat_the_number_of_the_question(seq):
    for question in ({"ask": "hello", "seq": seq}, {"ask": "dance", "seq": seq}):
        assert answer(ASKED, question).header["seq"] == (3 if seq == 3 else None)


@pytest.mark.parametrize("tracker", [3, object(), ["run.parquet"]])
def test_what_is_no_training_is_refused(tracker):
    with pytest.raises(
        rs.errors.InputError, match="tracker must be a Tracker, its Records or the path of its file, got"
    ):
        Session.of(ASKED.network, tracker=tracker)


def test_networks_of_one_input_are_refused():
    with pytest.raises(rs.errors.InputError, match="this network has one input"):
        Session.of(rs.load([(np.ones((3, 1)), np.zeros(3))]))


inside = st.fixed_dictionaries({"kind": st.just("inside"), "at": st.lists(st.floats(), min_size=2, max_size=4)})


@settings(max_examples=60, deadline=None)
@given(
    st.lists(anchors, max_size=5),
    st.lists(st.one_of(anchors, inside), max_size=4),
    st.sampled_from(["space", "partition"]),
)
def test_solids_of_any_points_have_an_answer(solid, through, name):
    asked = session((4, 5, 3), samples=12, budget=rs.Budget(regions=100, seconds=1.0))
    fields = {"of": "decision"} if name == "space" else {"anchors": through or None}
    found = answer(asked, {"ask": name, "solid": solid, **fields})
    check_form(found)
    assert found.header.get("kind") in (None, "input"), found.header
