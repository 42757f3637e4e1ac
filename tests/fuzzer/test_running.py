"""The fuzzer itself: a fixed set of cases without failures, planted faults that it sees, small reproductions."""

import numpy as np
import pytest

import reluscope as rs
from fuzzer.__main__ import main
from fuzzer.cases import BoxDomain, FuzzCase, PolyhedronDomain
from fuzzer.drawn_cases import KINDS, draw_case
from fuzzer.drawn_questions import ASKED, draw_asked
from fuzzer.fuzz_runs import check_case, reproduction, run_case, shrink
from fuzzer.layers import DenseLayer, GateModule
from reluscope.findings import Claim, Finding

CASES = 3
# Of questions; more of each are nightly, and 10,000 by hand: `--cases 10000 --kinds levels`. About a minute.
FEW = {
    "levels": 50,
    "boundaries": 50,
    "images": 50,
    "merges": 50,
    "loops": 30,
    "distances": 40,
    "properties": 20,
    "preimages": 20,
}


def told(outcome):
    return "\n\n".join(reproduction(outcome.case, failure) for _, failure in outcome.failures)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_false(kind):
    for number in range(CASES):
        outcome = run_case(1, number, (kind,))
        assert not outcome.failures, told(outcome)


@pytest.mark.slow
def test_nothing_is_false_in_some_of_all_kinds():
    assert main(["--cases", "100", "--seed", "2"]) == 0


@pytest.mark.parametrize("kind", FEW)
def test_no_answer_is_false_in_few_cases(kind):
    for number in range(FEW[kind]):
        outcome = run_case(1, number, (kind,))
        assert not outcome.failures, told(outcome)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ASKED)
def test_no_answer_is_false(kind, seed_of_day):
    assert main(["--cases", "200", "--seed", str(seed_of_day), "--kinds", kind]) == 0


@pytest.mark.parametrize("kind", [*KINDS, *ASKED])
def test_a_seed_gives_the_same_case_and_its_text_makes_it(kind):
    draw = draw_asked if kind in ASKED else draw_case
    first, again = (draw(kind, np.random.default_rng([3, 5])) for _ in range(2))
    assert first.source() == again.source()
    made = first.build()
    assert made["net"].num_inputs == first.num_inputs
    assert made["domain"].dim == first.domain.dimension


@pytest.fixture
def case():
    weight = np.array([[1.0, 0.25], [-0.5, 1.0], [0.75, 0.5]])
    return FuzzCase(
        "box",
        (
            DenseLayer(weight, np.array([0.25, -0.25, 0.5])),
            GateModule("leaky", (0.25,)),
            DenseLayer(np.array([[1.0, -1.0, 0.5], [0.5, 1.0, -1.0]]), np.array([0.25, -0.5])),
        ),
        BoxDomain(-np.ones(2), np.ones(2)),
    )


def seen(case, check):
    return {failure.check for failure in check_case(case, check)}


def changed(monkeypatch, name, change):
    right = getattr(rs.Partition, name)
    monkeypatch.setattr(rs.Partition, name, lambda self, *args: change(right(self, *args)))


def test_a_count_that_is_off(case, monkeypatch):
    assert not seen(case, "counts")
    right = rs.count

    def off_by_one(*args, **options):
        return Finding(int(right(*args, **options)) + 1, Claim.EXACT)

    monkeypatch.setattr(rs, "count", off_by_one)
    assert {f"count {name}: count" for name in ("activation", "proper_activation", "affine")} < seen(case, "counts")


def test_intervals_without_the_truth(case, monkeypatch):
    right = rs.Partition.finding
    for claim, shift in ((Claim.LOWER, 1), (Claim.UPPER, -1)):
        monkeypatch.setattr(rs.Partition, "finding", lambda self, c=claim, s=shift: Finding(int(right(self)) + s, c))
        assert "partition auto: count" in seen(case, "partitions")


@pytest.mark.parametrize(
    ("name", "change", "check"),
    [
        ("volumes", lambda found: found * (1 + 1e-6), "volumes auto"),
        ("is_bounded", lambda found: ~found, "bounded auto"),
        ("adjacency", lambda found: found * 0, "adjacency auto"),
        ("locate", lambda found: (found + 1) % 3, "locate auto"),
    ],
)
def test_wrong_shapes(case, monkeypatch, name, change, check):
    assert not seen(case, "partitions")
    changed(monkeypatch, name, change)
    assert check in seen(case, "partitions")


def test_lost_and_strange_regions(case, monkeypatch):
    right = rs.partition

    def on_less(network, domain, **options):
        return right(network, rs.Box([-1, -1], [1, 0]), **options)

    monkeypatch.setattr(rs, "partition", on_less)
    assert "partition tree: missing" in seen(case, "partitions")
    monkeypatch.setattr(rs, "partition", lambda network, domain, **options: right(network, rs.Box(-9, 9, 2), **options))
    assert "partition tree: codes" in seen(case, "partitions")


def test_errors_and_warnings_are_failures_and_shrink_to_little(case, monkeypatch):
    def fails(*_, **__):
        raise ZeroDivisionError("a fault of ours")

    monkeypatch.setattr(rs, "partition", fails)
    failures = check_case(case, "partitions")
    small, failure = shrink(case, "partitions", failures[0], seconds=60)
    assert failure.message == "ZeroDivisionError: a fault of ours"
    assert small.num_inputs == 1
    assert len(small.layers[0].bias) == 1
    assert small.layers[1].kind == "relu"
    monkeypatch.undo()
    names = {}
    exec(reproduction(small, failure), names)
    assert names["domain"].dim == 1


def test_flat_domains_are_not_cases():
    flat = PolyhedronDomain(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([0.0, 0.0]))
    layers = (DenseLayer(np.ones((1, 2)), np.zeros(1)), GateModule("relu"), DenseLayer(np.ones((1, 1)), np.zeros(1)))
    assert not FuzzCase("polyhedron", layers, flat).is_sound
    assert check_case(FuzzCase("polyhedron", layers, flat), "partitions") == []


def test_the_command_reports_what_it_tried(capsys):
    assert main(["--seconds", "0.1", "--seed", "1", "--kinds", "segment"]) == 0
    told = capsys.readouterr().out
    assert "segment" in told
    assert "tried" in told
