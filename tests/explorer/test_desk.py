"""Questions from several sides at once: computed one after the other, asked after and ended meanwhile."""

import threading
import time

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.explorer.exchange.answers import Answer
from reluscope.explorer.scene.session import Session
from reluscope.explorer.serving import desk as desks
from reluscope.explorer.serving.desk import Desk
from reluscope.explorer.serving.widget import Courier

NET = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
WINDOW = {"center": [0.0, 0.0], "reach": [1.0, 1.0]}


@pytest.fixture
def desk():
    return Desk(Session.of(NET))


@pytest.fixture
def slow(monkeypatch):
    """Questions that go on until they are cancelled, and say how far they are."""
    seen = {"running": 0, "most": 0, "threads": set()}

    def answer(session, question, *, progress, cancelled):
        seen["running"] += 1
        seen["most"] = max(seen["most"], seen["running"])
        seen["threads"].add(torch.get_num_threads())
        progress(0.25, 7)
        ended = time.monotonic() + 5
        while not cancelled() and time.monotonic() < ended:
            time.sleep(0.005)
        seen["running"] -= 1
        return Answer({"answer": "slow", "seq": question.get("seq"), "was_cancelled": cancelled()}, {})

    monkeypatch.setattr(desks, "answer", answer)
    return seen


def asked(desk, question, answers):
    """Ask in a thread of its own."""
    thread = threading.Thread(target=lambda: answers.append(desk.answer(question).header))
    thread.start()
    return thread


def progress_of(desk, number):
    """Wait until a question runs, and return how far it is."""
    for _ in range(1000):
        found = desk.answer({"ask": "progress", "of": number, "seq": 9}).header
        if found.get("regions"):
            return found
        time.sleep(0.002)
    raise AssertionError("it never ran")


def test_questions_are_answered_by_name_and_number(desk):
    hello = desk.answer({"ask": "hello", "seq": 4}).header
    assert (hello["answer"], hello["seq"], hello["plane"]) == ("hello", 4, "inputs")
    plane = desk.answer({"ask": "partition", "seq": 5, "anchors": None, "window": WINDOW})
    assert (plane.header["num_regions"]["value"], plane.header["num_regions"]["claim"]) == (4, "EXACT")


@pytest.mark.parametrize("question", [None, 3, [], "hello", {}, {"ask": None}, {"ask": "x", "seq": "y"}, {"seq": [1]}])
def test_nonsense_is_answered_by_an_error(desk, question):
    header = desk.answer(question).header
    assert (header["answer"], header["kind"], header["seq"]) == ("error", "input", None)
    assert desk.answer({"ask": "hello"}).header["answer"] == "hello"


def test_a_slow_question_is_asked_after_and_ended(desk, slow):
    answers = []
    thread = asked(desk, {"ask": "partition", "seq": 1}, answers)
    told = progress_of(desk, 1)
    assert (told["answer"], told["seq"], told["of"], told["running"]) == ("progress", 9, 1, True)
    assert (told["share"], told["regions"]) == (0.25, 7)
    assert 0 < told["seconds"] < 5
    assert desk.answer({"ask": "cancel", "of": 1, "seq": 10}).header["running"]
    thread.join(2)
    assert [one["was_cancelled"] for one in answers] == [True]
    assert not desk.answer({"ask": "progress", "of": 1}).header["running"]


def test_one_computes_at_a_time_with_one_thread(desk, slow):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    answers = []
    threads = [asked(desk, {"ask": "partition", "seq": number}, answers) for number in (1, 2, 3)]
    time.sleep(0.05)
    assert slow["most"] == 1
    desk.close()
    for thread in threads:
        thread.join(2)
    assert slow["most"] == 1
    assert slow["threads"] == {1}
    assert {one["seq"] for one in answers} == {1, 2, 3}
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)


@pytest.mark.parametrize("of", [None, "1", True, 1.0, [1], {}, 10**30])
def test_what_is_not_running_is_not_found(desk, of):
    for name in ("progress", "cancel"):
        header = desk.answer({"ask": name, "of": of, "seq": 2}).header
        assert (header["answer"], header["running"], header["seq"]) == (name, False, 2)


def test_a_courier_answers_in_order_and_meanwhile(desk, slow):
    sent = []
    courier = Courier(desk, lambda header, buffers: sent.append(header))
    courier.take({"ask": "partition", "seq": 1})
    progress_of(desk, 1)
    courier.take({"ask": "partition", "seq": 2})
    courier.take({"ask": "progress", "of": 1, "seq": 3})
    assert [(one["answer"], one["seq"]) for one in sent] == [("progress", 3)]
    courier.take({"ask": "cancel", "of": 1, "seq": 4})
    progress_of(desk, 2)
    assert [one["seq"] for one in sent] == [3, 4, 1]
    courier.close()
    time.sleep(0.05)
    assert [one["seq"] for one in sent] == [3, 4, 1], "a closed one is silent"


def test_a_courier_sends_arrays_as_buffers(desk):
    sent, done = [], threading.Event()
    courier = Courier(desk, lambda header, buffers: (sent.append((header, buffers)), done.set()))
    courier.take({"ask": "partition", "seq": 5, "anchors": None, "window": WINDOW})
    assert done.wait(5)
    header, buffers = sent[0]
    assert [one["name"] for one in header["arrays"]][:2] == ["corners", "piece_offsets"]
    areas = dict(zip([one["name"] for one in header["arrays"]], buffers, strict=True))["region_area"]
    assert np.frombuffer(areas, np.float32).tolist() == [1.0, 1.0, 1.0, 1.0]
    courier.close()
