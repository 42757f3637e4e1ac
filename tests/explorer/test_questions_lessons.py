"""Questions of a lesson: steps and pictures of them, settings, units by hand, and two pages about one lesson."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reluscope as rs
from explorer.asking import ask, check_form, refused, session
from reluscope.explorer.exchange.bundled import program
from reluscope.explorer.questions.known_questions import LESSON_QUESTIONS, answer
from reluscope.explorer.scene.looked_lesson import lesson_session
from reluscope.explorer.serving.desk import Desk
from reluscope.explorer.serving.server import Server
from reluscope.explorer.serving.snapshot import kept_answers

SETTINGS = {"hidden": 2, "width": 5, "rate": 0.03}


@pytest.fixture
def taught():
    return lesson_session(None, "moons", SETTINGS)


def plane(asked, **fields):
    """Ask for the home plane, and return its answer and the network it is of."""
    found = ask(asked, {"ask": "partition", **fields})
    return found, asked.views[found.header["version"]].network


def test_hello_says_what_the_lesson_is(taught):
    header = ask(taught, {"ask": "hello"}).header
    lesson = header["lesson"]
    assert set(LESSON_QUESTIONS) <= set(header["features"])
    assert (header["model"]["name"], header["data"]["name"], header["plane"]) == ("2 x 5", "moons", "inputs")
    assert (lesson["lesson"], lesson["step"], lesson["stride"], lesson["problem"]) == (1, 0, 1, "moons")
    assert lesson["settings"]["width"] == 5
    assert [one["key"] for one in lesson["problems"]] == ["spirals", "circles", "moons", "xor"]
    assert lesson["samples"] == [300, 100]
    assert [len(row) for row in lesson["curve"]] == [5]
    assert ask(taught, {"ask": "lesson"}).header.items() >= {"step": 0, "movable": [True, True]}.items()


def test_without_a_lesson_there_are_no_questions_about_one():
    asked = session((2, 5, 3))
    header = ask(asked, {"ask": "hello"}).header
    assert header["lesson"] is None
    assert not set(LESSON_QUESTIONS) & set(header["features"])
    for name in LESSON_QUESTIONS:
        assert "there is no training here" in refused(asked, {"ask": name})[1]


def test_the_plane_is_that_of_the_newest_step(taught):
    before, first = plane(taught)
    samples = {"ask": "samples", "of": "all", "offset": 0, "count": 50}
    predicted = ask(taught, samples).arrays["predicted"]
    assert predicted.tolist() == rs.classification.predicted_classes(first, taught.points[:50]).tolist()
    found = ask(taught, {"ask": "learn", "lesson": 1, "steps": 20, "since": 0}).header
    assert (found["step"], [row[0] for row in found["curve"]]) == (20, [20])
    after, newest = plane(taught)
    training = taught.course.training
    assert newest.fingerprint == training.network_at(20).fingerprint == after.header["fingerprint"]
    assert after.header["fingerprint"] != before.header["fingerprint"]
    assert after.header["plane_id"] != before.header["plane_id"]
    # Numbers of regions are those of a partition of the same window.
    window = after.header["window"]
    low, high = (np.array(window["center"]) + sign * np.array(window["reach"]) for sign in (-1, 1))
    assert after.header["num_regions"]["value"] == len(rs.partition(newest, rs.Box(low, high)))
    # So are classes of samples, and the session's own.
    now = ask(taught, samples).arrays["predicted"]
    assert now.tolist() != predicted.tolist()
    assert now.tolist() == rs.classification.predicted_classes(newest, taught.points[:50]).tolist()


def test_any_step_is_looked_at_again(taught):
    ask(taught, {"ask": "learn", "lesson": 1, "steps": 8})
    for step in (0, 3, 8):
        found, network = plane(taught, epoch=step)
        assert found.header["epoch"] == step
        assert network.fingerprint == taught.course.training.network_at(step).fingerprint
        row = {"ask": "region", "version": found.header["version"], "row": 0}
        assert ask(taught, row).header["samples_inside"] is not None
    assert "step 9 is not kept" in refused(taught, {"ask": "partition", "epoch": 9})[1]


def test_a_unit_is_moved_and_the_picture_with_it(taught):
    ask(taught, {"ask": "learn", "lesson": 1, "steps": 3})
    unit = {"lesson": 1, "gate": 0, "unit": 2}
    was = ask(taught, {"ask": "unit_weights", **unit})
    before, _ = plane(taught)
    moved = ask(taught, {"ask": "move_unit", **unit, "bias": was.header["bias"] + 0.3, "since": 3}).header
    assert (moved["step"], [row[0] for row in moved["curve"]]) == (4, [4])
    ask(taught, {"ask": "move_unit", **unit, "bias": was.header["bias"] + 0.4})
    now = ask(taught, {"ask": "unit_weights", **unit})
    assert now.header["bias"] == pytest.approx(was.header["bias"] + 0.4)
    assert np.array_equal(now.arrays["weights"], was.arrays["weights"])
    after, _ = plane(taught)
    # Two moves are one step, whose pictures differ.
    assert taught.course.training.step == 4
    lines = [_ends(found, 0, 2) for found in (before, after)]
    assert not np.array_equal(*lines)
    weights = now.arrays["weights"] / taught.data.points.std(axis=0)
    shift = now.header["bias"] - weights @ taught.data.points.mean(axis=0)
    center, scale = np.array(after.header["window"]["center"]), after.header["window"]["reach"][1]
    for end in lines[1].reshape(-1, 2) * scale + center:
        assert weights @ end + shift == pytest.approx(0, abs=1e-5)
    earlier = ask(taught, {"ask": "unit_weights", **unit, "epoch": 3})
    assert earlier.header["bias"] == was.header["bias"]
    assert ask(taught, {"ask": "move_unit", "lesson": 1, "epoch": 1}).header["step"] == 5
    assert taught.network.fingerprint == taught.course.training.network_at(1).fingerprint


def _ends(found, gate, unit):
    """Return the edges on which a unit switches."""
    arrays = found.arrays
    return arrays["edge_ends"][(arrays["edge_gate"] == gate) & (arrays["edge_unit"] == unit)]


def test_settings_of_the_optimiser_hold_at_once_and_others_begin_anew(taught):
    ask(taught, {"ask": "learn", "lesson": 1, "steps": 5})
    found = ask(taught, {"ask": "teach", "lesson": 1, "settings": {"rate": 0.1, "batch_size": 8}}).header
    assert (found["lesson"], found["step"], found["settings"]["rate"]) == (1, 5, 0.1)
    found = ask(taught, {"ask": "teach", "lesson": 1, "anew": True}).header
    assert (found["lesson"], found["step"], found["settings"]["rate"]) == (2, 0, 0.1)
    plane(taught)
    found = ask(taught, {"ask": "teach", "lesson": 2, "settings": {"width": 7}, "problem": "xor"}).header
    assert (found["lesson"], found["problem"], found["settings"]["width"]) == (3, "xor", 7)
    hello = ask(taught, {"ask": "hello"}).header
    assert [gate["units"] for gate in hello["model"]["gates"]] == [7, 7]
    assert (hello["model"]["name"], hello["data"]["name"]) == ("2 x 7", "xor")
    assert not taught.views
    assert len(taught.points) == len(taught.classes) == len(taught.data)


def test_what_is_wrong_with_settings_loses_nothing(taught):
    ask(taught, {"ask": "learn", "lesson": 1, "steps": 5})
    before = taught.network.fingerprint
    for fields, words in (
        ({"settings": {"width": 0}}, "width of settings must be a whole number from 1 to 256"),
        ({"settings": {"depth": 3}}, "settings has no setting 'depth'"),
        ({"settings": 3}, "settings of the question teach must be an object, got 3"),
        ({"problem": "own"}, "problem of the question teach must be one of"),
        ({"settings": {"rate": 0.0}}, "rate of settings must be a number above 0"),
    ):
        kind, message = refused(taught, {"ask": "teach", "lesson": 1, **fields})
        assert (kind, words in message) == ("input", True), message
    assert taught.course.number == 1
    assert taught.course.training.step == 5
    assert taught.network.fingerprint == before


def test_a_lesson_that_another_page_has_begun_is_not_changed_unseen(taught):
    assert ask(taught, {"ask": "teach", "lesson": 1, "anew": True}).header["lesson"] == 2
    for question in (
        {"ask": "partition"},
        {"ask": "learn", "steps": 1},
        {"ask": "teach", "settings": {}},
        {"ask": "unit_weights", "gate": 0, "unit": 0},
        {"ask": "move_unit", "epoch": 0},
    ):
        kind, message = refused(taught, {"lesson": 1, **question})
        assert kind == "gone"
        assert "another page has begun a new lesson here" in message
    assert taught.course.training.step == 0


def test_a_training_that_diverges_is_told_and_stays_at_its_last_step():
    asked = lesson_session(None, "spirals", {"width": 32, "optimiser": "sgd", "rate": 10.0})
    kind, message = refused(asked, {"ask": "learn", "lesson": 1, "steps": 500})
    assert kind == "input"
    assert "choose a lower rate" in message
    assert ask(asked, {"ask": "lesson"}).header["step"] == asked.course.training.step > 0
    assert asked.network.fingerprint == asked.course.training.network_at().fingerprint


def test_steps_end_early_when_nobody_waits(taught):
    left = iter([False] * 4)
    found = answer(taught, {"ask": "learn", "lesson": 1, "steps": 900}, cancelled=lambda: next(left, True))
    assert found.header["step"] == 4


anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-2, 7),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.integers()),
)
settings_of_a_lesson = st.dictionaries(
    st.sampled_from(["rate", "width", "hidden", "seed", "batch_size", "dropout", "activation", "x"]),
    st.one_of(anything, st.sampled_from(["relu", "sgd", 0.5])),
    max_size=3,
)
HOSTILE = lesson_session(None, "xor", {"hidden": 1, "width": 3})


@given(
    st.sampled_from(LESSON_QUESTIONS),
    st.dictionaries(
        st.sampled_from(["steps", "since", "settings", "problem", "anew", "gate", "unit", "epoch", "bias", "scale"]),
        anything,
        max_size=6,
    ),
    st.one_of(st.none(), settings_of_a_lesson),
    st.dictionaries(st.sampled_from(["from", "value", "x"]), anything, max_size=3),
)
def test_whatever_is_asked_the_lesson_goes_on(name, fields, settings, weight):
    if isinstance(fields.get("steps"), int):
        fields["steps"] = min(fields["steps"], 3)
    if settings is not None:
        fields["settings"] = settings
    if isinstance(settings, dict) and isinstance(settings.get("width"), int):
        settings["width"] = min(settings["width"], 4)
    if weight:
        fields["weight"] = weight
    if name == "teach" and isinstance((settings or {}).get("hidden"), int):
        settings["hidden"] = min(settings["hidden"], 2)
    found = answer(HOSTILE, {"ask": name, "lesson": HOSTILE.course.number, **fields})
    check_form(found)
    assert found.header.get("kind") != "internal", (name, fields, found.header)
    ask(HOSTILE, {"ask": "hello"})
    assert HOSTILE.network.fingerprint == HOSTILE.course.training.network_at().fingerprint


def test_a_page_has_the_program_of_a_lesson_only_where_there_is_one(taught):
    with_lesson, without = Server(Desk(taught)), Server(Desk(session((2, 5, 3))))
    assert with_lesson.program() == program(live=True, space=False, learn=True)
    assert "reluscopeLearn={" in with_lesson.program()
    assert "reluscopeLearn={" not in without.program()
    for server in (with_lesson, without):
        server.server_close()


def test_a_snapshot_of_a_lesson_shows_its_newest_step(taught):
    ask(taught, {"ask": "learn", "lesson": 1, "steps": 3})
    kept = kept_answers(Desk(taught))
    assert kept[0].header["lesson"] is None
    assert kept[1].header["fingerprint"] == taught.network.fingerprint


def test_data_of_more_inputs_are_shown_on_planes_through_samples():
    x = np.random.default_rng(0).normal(size=(60, 5)) * 100
    asked = lesson_session(None, x, {"width": 4, "hidden": 1}, labels=(x[:, 0] > 0).astype(int))
    header = ask(asked, {"ask": "hello"}).header
    assert (header["plane"], header["lesson"]["problems"][0]) == ("anchors", {"key": "own", "name": "data"})
    ask(asked, {"ask": "learn", "lesson": 1, "steps": 60})
    assert asked.course.training.curve.newest.accuracy > 0.8
    found, network = plane(asked, anchors=header["home"]["anchors"])
    assert network.fingerprint == asked.network.fingerprint
    assert found.header["num_regions"]["value"] > 1
