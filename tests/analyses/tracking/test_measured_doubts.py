"""Every source of doubt about a record counts, whichever it is: codes before, codes now, outputs that nearly tie."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.analyses.codespace.sampled import SampleCodes
from reluscope.analyses.tracking import measurement
from reluscope.codes import CodeLayout, GateLayout
from reluscope.codes.packed import Codes
from reluscope.errors import ReluscopeError
from reluscope.networks.evaluation.rounded_forward import RoundedForward
from reluscope.stopping import INTERRUPTED, Stop, StopReason

LAYOUT = CodeLayout((GateLayout("a", 2), GateLayout("b", 3)))


def sampled(first, second, doubtful=None):
    codes = Codes.from_pieces([np.array(first), np.array(second)], LAYOUT)
    doubts = np.zeros((len(first), 2), dtype=bool) if doubtful is None else np.array(doubtful, dtype=bool)
    return SampleCodes(codes, doubts, 0.5)


PIECES = [[[0, 0], [0, 1], [1, 1], [1, 1]], [[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1]]]
OTHERS = [[[0, 0], [0, 1], [1, 0], [1, 1]], [[0, 0, 0], [1, 1, 0], [1, 1, 1], [1, 1, 1]]]


def by_gate(found):
    assert isinstance(found, tuple)
    return found


def doubts(*rows):
    return [[(row, 0) in rows, (row, 1) in rows] for row in range(4)]


@pytest.mark.parametrize(("earlier", "later"), [([(0, 0)], []), ([], [(0, 0)]), ([(0, 0)], [(0, 0)])])
def test_changes_are_in_doubt_by_the_codes_before_or_now(earlier, later):
    found = measurement._changes(sampled(*PIECES, doubts(*earlier)), sampled(*OTHERS, doubts(*later)))
    samples, units = found["changed_samples"], found["changed_units"]
    assert (samples.claim, samples.value, samples.interval, samples.num_undecided) == ("ESTIMATE", 0.5, (0.25, 0.75), 1)
    # Four changed units in four samples, and one sample more could change all of its five.
    assert (units.claim, units.value, units.interval) == ("ESTIMATE", 1.0, (0.0, 2.25))
    first, second = by_gate(found["changed_samples_by_gate"])
    assert (first.claim, first.value, first.interval) == ("ESTIMATE", 0.25, (0.0, 0.5))
    assert (second.claim, second.value, second.interval) == ("EXACT", 0.25, None)
    first, second = by_gate(found["changed_units_by_gate"])
    assert (first.value, first.interval) == (0.25, (0.0, 0.75))
    assert (second.value, second.claim) == (0.75, "EXACT")


def test_two_different_samples_in_doubt_are_two():
    found = measurement._changes(sampled(*PIECES, doubts((0, 0))), sampled(*OTHERS, doubts((3, 1))))
    assert found["changed_samples"].num_undecided == 2
    assert found["changed_samples"].interval == (0.0, 1.0)
    assert [finding.num_undecided for finding in by_gate(found["changed_samples_by_gate"])] == [1, 1]
    sure = measurement._changes(sampled(*PIECES), sampled(*OTHERS))
    assert (sure["changed_samples"].claim, sure["changed_units"].claim) == ("EXACT", "EXACT")


def test_rates():
    found = measurement._rates(sampled(*PIECES, doubts((0, 0), (1, 1), (2, 1))))
    assert [finding.value for finding in by_gate(found["activation_rate_by_gate"])] == pytest.approx([5 / 8, 7 / 12])
    assert [finding.interval for finding in by_gate(found["activation_rate_by_gate"])] == [
        (3 / 8, 7 / 8),
        pytest.approx((1 / 12, 1.0)),
    ]
    assert found["activation_rate"].value == 12 / 20
    assert found["activation_rate"].num_undecided == 3
    assert found["activation_rate"].interval == (0.0, 1.0)


def labelled(outputs, errors, labels, doubtful=()):
    outputs = np.array(outputs, dtype=np.float64)
    errors = np.broadcast_to(np.array(errors, dtype=np.float64), outputs.shape)
    forward = RoundedForward(outputs, errors, np.array(doubts(*doubtful)))
    plan = SimpleNamespace(labels=np.array(labels))
    return measurement._labelled(forward, sampled(*PIECES, doubts(*doubtful)), plan)


def test_codes_of_correct_samples_are_in_doubt_by_their_outputs_or_by_their_codes():
    outputs = [[2.0, 1.0], [1.0, 2.0], [2.0, 1.0], [2.0, 1.0]]
    labels = [0, 1, 0, 1]  # the last is wrong; codes of the first three are different
    found = labelled(outputs, 0.1, labels)["distinct_codes_correct"]
    assert (found.value, found.claim, found.interval) == (3, "EXACT", None)
    by_code = labelled(outputs, 0.1, labels, [(0, 1)])["distinct_codes_correct"]
    assert (by_code.value, by_code.claim, by_code.interval, by_code.num_undecided) == (3, "UPPER", (2, 3), 1)
    wrong_one = labelled(outputs, 0.1, labels, [(3, 0)])["distinct_codes_correct"]
    assert (wrong_one.claim, wrong_one.num_undecided) == ("EXACT", 0)  # a doubt about a code that does not count
    by_output = labelled(outputs, [[0.1], [0.6], [0.1], [0.1]], labels)["distinct_codes_correct"]
    assert (by_output.claim, by_output.interval) == ("UPPER", (2, 3))
    # Also the wrong one may be right, and its code a new one.
    close_and_wrong = labelled(outputs, [[0.1], [0.1], [0.1], [0.6]], labels)["distinct_codes_correct"]
    assert (close_and_wrong.claim, close_and_wrong.interval) == ("LOWER", (3, 4))
    both = labelled(outputs, [[0.1], [0.6], [0.1], [0.1]], labels, [(0, 0)])["distinct_codes_correct"]
    assert (both.interval, both.num_undecided) == ((1, 3), 2)


def test_what_labels_give():
    outputs, labels = [[2.0, 1.0], [1.0, 2.0], [2.0, 1.0], [2.0, 1.0]], [0, 1, 0, 1]
    found = labelled(outputs, 0.1, labels)
    assert (found["accuracy"].value, found["accuracy"].claim) == (0.75, "EXACT")
    assert labelled(outputs, 0.6, labels)["accuracy"].claim == "ESTIMATE"
    assert found["cross_entropy"].claim == "ESTIMATE"
    assert labelled(outputs, 1e-12, labels)["cross_entropy"].claim == "EXACT"
    one = labelled([[1.0], [-1.0], [1.0], [1.0]], 0.1, [1, 0, 1, 0])
    assert "cross_entropy" not in one
    assert measurement._labelled(None, None, SimpleNamespace(labels=None)) == {}


def test_shares_are_shifted_by_what_is_in_doubt_and_stay_possible():
    samples = sampled(*PIECES)
    for value, unclear, most, interval in (
        (0.5, 1, 1, (0.25, 0.75)),
        (0.1, 1, 1, (0.0, 0.35)),
        (0.9, 1, 1, (0.65, 1.0)),
        (2.0, 1, 5, (0.75, 3.25)),
    ):
        found = measurement._share(samples, value, unclear, most)
        assert (found.value, found.claim) == (value, "ESTIMATE")
        assert found.interval == pytest.approx(interval)
    assert measurement._share(samples, 0.5, 0).claim == "EXACT"


class Interrupted:
    stop = INTERRUPTED


def plan(**given):
    return SimpleNamespace(
        **{
            "starts": (),
            "ends": (),
            "jacobians": (),
            "plane": None,
            "labels": None,
            "budget": rs.Budget(),
            "complexity_radius": None,
            **given,
        }
    )


def test_half_a_record_is_none(monkeypatch):
    for name, function, work in (
        ("count_along_segments", measurement._segments, plan()),
        ("local_norms", measurement._norms, SimpleNamespace(points=np.zeros((2, 2)), jacobians=np.array([0]))),
    ):
        monkeypatch.setattr(measurement, name, lambda *_, **__: Interrupted())
        with pytest.raises(KeyboardInterrupt):
            function(None, work)
    monkeypatch.setattr(measurement, "partition", lambda *_, **__: SimpleNamespace(stop=INTERRUPTED))
    with pytest.raises(KeyboardInterrupt):
        measurement._plane(None, plan(plane=rs.Box(-1, 1, 2)), [])
    measurement._pass_on(Stop(StopReason.SECONDS))
    measurement._pass_on(None)


def test_norms_that_are_not_finite_are_none(monkeypatch):
    def norms(spectral, frobenius):
        pair = {
            name: SimpleNamespace(value=value)
            for name, value in (("spectral_norm", spectral), ("frobenius_norm", frobenius))
        }
        return SimpleNamespace(stop=None, median=lambda quantity: pair[quantity.name])

    work = SimpleNamespace(points=np.zeros((2, 2)), jacobians=np.array([0]))
    for spectral, frobenius in ((np.nan, 1.0), (1.0, np.inf), (np.nan, np.nan)):
        monkeypatch.setattr(measurement, "local_norms", lambda *_, s=spectral, f=frobenius: norms(s, f))
        with pytest.raises(ReluscopeError, match="not finite"):
            measurement._norms(None, work)
    monkeypatch.setattr(measurement, "local_norms", lambda *_: norms(1.0, 2.0))
    assert measurement._norms(None, work)["frobenius_norm"].value == 2.0


def test_outputs_that_are_not_finite_leave_a_note():
    net = rs.load([(np.array([[1e150], [1.0]]), np.zeros(2)), (np.array([[1e150, 0.0], [0.0, 1.0]]), np.zeros(2))])
    found = measurement.measure(net, plan(points=np.array([[1e10], [1.0]])), None)
    assert (dict(found.findings), found.sampled) == ({}, None)
    assert "not finite" in found.notes[0]
    fine = measurement.measure(net, plan(points=np.array([[1e-10], [1e-20]])), None)
    assert fine.notes == ()
    assert "changed_samples" not in fine.findings
    again = measurement.measure(net, plan(points=np.array([[1e-10], [1e-20]])), fine.sampled)
    assert again.findings["changed_samples"].value == 0.0


@pytest.mark.filterwarnings("ignore:.*cross-entropy could not be measured")
def test_there_is_no_cross_entropy_behind_sigmoids(tmp_path):
    """The softmax of what comes before them gives no probabilities of the model."""
    points, labels = torch.randn(6, 2, generator=torch.Generator().manual_seed(0)), np.arange(6) % 2
    for end, is_there in ((nn.Identity(), True), (nn.Softmax(1), True), (nn.Sigmoid(), False)):
        model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2), end)
        file = tmp_path / f"{type(end).__name__}.jsonl"
        with rs.Tracker(model, points, file, labels=labels) as tracker:
            tracker.record(0.0)
        (row,) = rs.tracking.read_records(file).rows
        assert (row["cross_entropy"] is not None) == is_there
