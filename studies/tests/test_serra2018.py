"""The studies of serra2018: numbers of the reference, truths that bind counts and bounds, work that goes on."""

from dataclasses import replace
from fractions import Fraction
from math import comb, prod

import numpy as np
import pytest

import reluscope as rs
from reluscope.citations import CITATIONS
from reluscope.stopping import INTERRUPTED
from reluscope.studies import Setting, all_studies
from reluscope_studies.serra2018 import _split_networks, depth_and_width, one_input, splits
from reluscope_studies.serra2018._zigzag import zigzag
from reluscope_studies.training import Training

pytestmark = pytest.mark.slow

PLAN = splits.Plan(5, 2, Training("Adam", 0.01, 8, 128))


@pytest.fixture
def setting(monkeypatch):
    monkeypatch.setitem(splits.PLANS, "small", PLAN)
    return Setting("small", rs.datasets.digits("train").limited(300), rs.datasets.digits("test"))


def test_studies_are_found():
    found = all_studies()
    assert {study.source for study in found} <= set(CITATIONS)
    assert len({study.name for study in found}) == len(found)
    assert all(study.sentence and study.sentence[0].islower() and study.sentence[-1] != "." for study in found)


def test_counts_lie_under_their_bounds(setting):
    outcome = splits.protocol(setting)
    assert not outcome.interrupted
    assert len(setting.records) == 8
    for record in setting.records.values():
        found = {name: rs.Finding.from_dict(one) for name, one in record.plain["findings"].items()}
        count, first = found["regions"], record.plain["split"][0]
        assert count.claim is rs.Claim.EXACT
        assert 1 <= int(count) <= int(found["bound"]) <= sum(comb(5, s) for s in range(first + 1))
        assert found["test accuracy"].claim is rs.Claim.EXACT


def test_counts_are_those_of_codes_at_many_points(setting):
    splits.protocol(setting)
    rng = np.random.default_rng(0)
    points = rng.random((4000, 64)) ** rng.choice([0.2, 1.0, 5.0], size=(4000, 1))
    seen = []
    for record in setting.records.values():
        layers = [(record.arrays[f"W{i}"], record.arrays[f"b{i}"]) for i in range(3)]
        distinct = len(rs.load(layers).codes(points).unique())
        count = record.plain["findings"]["regions"]["value"]
        assert distinct <= count
        seen.append(distinct / count)
    assert np.mean(seen) > 0.5


def test_a_finished_study_does_nothing_again(setting, monkeypatch):
    first = splits.protocol(setting)
    monkeypatch.setattr(_split_networks, "train_classifiers", None)
    monkeypatch.setattr(rs, "count", None)
    again = splits.protocol(setting)
    assert again.tables == first.tables
    assert [f.value for f in again.findings] == [f.value for f in first.findings]


@pytest.mark.slow
def test_an_interrupted_study_goes_on_to_the_same_end(setting, monkeypatch):
    whole = splits.protocol(replace(setting, records={}))
    original, calls = rs.count, []

    def struck(*arguments, **options):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return original(*arguments, **options)

    monkeypatch.setattr(rs, "count", struck)
    part = splits.protocol(setting)
    assert part.interrupted
    assert sum("regions" in record.plain["findings"] for record in setting.records.values()) == 3
    assert len(part.pictures) == 2
    rest = splits.protocol(setting)
    assert not rest.interrupted
    assert len(calls) == 4 + 5
    assert rest.tables == whole.tables


@pytest.mark.slow
def test_an_interruption_within_a_count_keeps_no_part_of_it(setting, monkeypatch):
    def struck(*arguments, **options):
        return rs.Finding(3, rs.Claim.LOWER, stop=INTERRUPTED)

    monkeypatch.setattr(rs, "count", struck)
    assert splits.protocol(setting).interrupted
    assert not any("regions" in record.plain["findings"] for record in setting.records.values())


def test_an_interruption_before_anything(setting, monkeypatch):
    def struck(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(_split_networks, "train_classifiers", struck)
    outcome = splits.protocol(setting)
    assert outcome.interrupted
    assert len(outcome.tables[0].rows) == 4


@pytest.mark.slow
def test_budgets_give_lower_bounds_until_there_is_more_time(setting):
    short = splits.protocol(replace(setting, seconds=0.0))
    claims = {row[0]: row[5] for row in short.tables[0].rows}
    assert "LOWER" in claims.values()
    assert any("lower bounds" in sentence for sentence in short.sentences)
    kept = {name: record.plain for name, record in setting.records.items()}
    assert splits.protocol(replace(setting, seconds=0.0)).tables == short.tables
    assert {name: record.plain for name, record in setting.records.items()} == kept
    long = splits.protocol(setting)
    assert {row[5] for row in long.tables[0].rows} == {"EXACT"}
    for name, plain in kept.items():
        assert plain["findings"]["regions"]["value"] <= setting.records[name].plain["findings"]["regions"]["value"]


def test_networks_of_which_no_region_is_found_in_time_have_one_at_least(setting, monkeypatch):
    """Seen red on a machine that was busy: a count of no seconds ended the study."""

    def late(*_, **__):
        raise rs.errors.BudgetExceededError("count found nothing")

    monkeypatch.setattr(rs, "count", late)
    found = splits.protocol(replace(setting, seconds=0.0))
    assert {row[5] for row in found.tables[0].rows} == {"LOWER"}
    kept = [record.plain["findings"]["regions"] for record in setting.records.values()]
    assert kept
    assert all((one["value"], one["claim"]) == (1, "LOWER") for one in kept)


def test_data_are_needed_and_their_classes(setting):
    with pytest.raises(rs.errors.InputError, match="needs data"):
        splits.protocol(Setting("small"))
    bare = rs.datasets.Dataset(setting.test.points, name="bare")
    with pytest.raises(rs.errors.InputError, match="without labels"):
        splits.protocol(replace(setting, train=bare))


@pytest.mark.slow
def test_progress_has_a_share(setting):
    told = []
    splits.protocol(
        replace(setting, seconds=30.0, progress=lambda what, share=None, left=None: told.append((what, share, left)))
    )
    counting = [entry for entry in told if entry[0].startswith("Counting")]
    assert len(counting) == 8
    assert [share for _, share, _ in counting] == sorted(share for _, share, _ in counting)
    assert all(left is not None and left <= 240 for _, _, left in counting)


def test_depth_and_width_cross_where_the_reference_says():
    outcome = depth_and_width.protocol(Setting("small"))
    by_units = {row[0]: row for row in outcome.tables[0].rows}
    assert by_units["8"][2] == "5"
    assert by_units["22"][2:] == ("12", "4,194,304", "2,449,868")
    assert [by_units[u][4] for u in ("4", "6", "8", "10", "16")] == ["11", "42", "163", "638", "39,203"]
    assert "up to 4 inputs" in outcome.sentences[0]
    values = [int(f) for f in outcome.findings]
    assert {23, 144, 1794, 14848, 53824} <= set(values)


@pytest.mark.parametrize("widths", [(3,), (3, 3), (4, 3), (3, 5, 4), (9, 3), (6,)])
def test_zigzags_reach_the_bound(widths):
    network = zigzag(widths)
    assert int(rs.partition(network, rs.Box(0, 1, 1)).finding()) == prod(width + 1 for width in widths)


def test_zigzags_by_a_dull_count():
    # Changes of the code between neighbours of a grid of exact numbers, finer than the shortest piece.
    network = zigzag((3, 3))
    grid = np.array([[float(Fraction(2 * k + 1, 2048))] for k in range(1024)])
    codes = network.codes(grid).to_array()
    assert 1 + int((codes[1:] != codes[:-1]).any(axis=1).sum()) == 16
    outputs = network(grid).numpy()[:, 0]
    assert outputs.max() > 0.9


def test_zigzags_need_three_units():
    with pytest.raises(rs.errors.InputError, match="three or more units"):
        zigzag((3, 2))
    with pytest.raises(rs.errors.InputError, match="three or more units"):
        zigzag(())


def test_one_input_is_exact():
    outcome = one_input.protocol(Setting("small"))
    assert "reached by 9 of 9" in outcome.sentences[0]
    for row in outcome.tables[0].rows:
        assert row[1] == row[2] == row[3] == row[4].removesuffix(" (EXACT)")
