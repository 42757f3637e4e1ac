"""The studies of preimages: kinds on exact regions and beside Algorithm 1, images with equal features."""

from dataclasses import replace

import numpy as np
import pytest

import reluscope as rs
from reluscope.studies import Setting
from reluscope_studies.behrmann2018 import invariances, preimages, two_circles
from reluscope_studies.behrmann2018._networks import Architecture, Training
from reluscope_studies.labelled import labelled_data

pytestmark = pytest.mark.slow

Kind = rs.preimages.PreimageKind
QUICK = Training("Adam", 1e-2, 3, 32)


def blobs(number, seed):
    rng = np.random.default_rng(seed)
    labels = np.arange(number) % 5
    centers = np.random.default_rng(0).uniform(0.2, 0.8, size=(5, 1, 4, 4))
    points = np.clip(centers[labels] + rng.normal(0, 0.15, size=(number, 1, 4, 4)), 0, 1)
    return rs.datasets.dataset_of(points, labels, name="blobs")


def make_setting(**options):
    return Setting("small", blobs(100, 1), blobs(30, 2), **options)


def values(outcome):
    return {finding.name: finding.value for finding in outcome.findings}


def test_two_circles_on_exact_regions(monkeypatch):
    monkeypatch.setitem(two_circles.ATTEMPTS, "small", 3)
    monkeypatch.setattr(two_circles, "TRAINING", Training("Adam", 1e-2, 2, 64))
    found = two_circles.protocol(Setting("small"))
    numbers = values(found)
    by_kind = [numbers[f"{kind} preimages"] for kind in ("singleton", "compact", "unbounded")]
    assert sum(by_kind) == numbers["regions"]
    assert numbers["regions where kind and condition number go together as the paper says"] == numbers["regions"]
    assert [picture.name for picture in found.pictures] == ["two-circles"]
    assert sum(int(row[2]) for row in found.tables[2].rows) == 3


def test_kinds_are_constant_on_regions():
    """A region's kind, found at one point of it, is that at other points of it: what the picture rests on."""
    network = rs.load(rs.testing.default_network([2, 3, 2], seed=4))
    part = rs.partition(network, rs.Box(-4, 4, 2))
    points = np.random.default_rng(0).uniform(-4, 4, size=(300, 2))
    of_regions = rs.preimages.classify_at(network, part.witnesses).kinds
    assert len(set(of_regions.tolist())) > 1
    assert (rs.preimages.classify_at(network, points).kinds == of_regions[part.locate(points)]).all()


def test_a_point_with_condition_number_one_is_told(monkeypatch):
    """Orthogonal rows of one length: the paper's statement fails where both units are on, and the count says so."""
    network = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    looked = two_circles._look(network, np.zeros((1, 2)), np.zeros(1, dtype=int))
    assert two_circles._agreement(looked).value == 3
    assert two_circles._agreement(looked).claim is rs.Claim.EXACT


PLAN = preimages.AskedPlan(Architecture("dense", (), (18, 5)), QUICK, 20)


def test_kinds_beside_algorithm_1():
    setting = make_setting()
    found = preimages.report(setting, PLAN)
    numbers = values(found)
    assert sum(numbers[f"{kind} preimages"] for kind in ("singleton", "compact", "unbounded")) == 30
    said = [value for name, value in numbers.items() if name.startswith("answers of Algorithm 1")]
    assert sum(said) == 20
    counts = np.array([[int(cell) for cell in row[1:5]] for row in found.tables[1].rows])
    assert (counts[:, 0] == counts[:, 1:].sum(axis=1)).all()
    assert counts[:, 0].sum() == 30
    again = preimages.report(setting, PLAN)  # from the records
    assert values(again) == numbers


def test_kinds_are_those_of_the_analysis():
    setting = make_setting()
    found = preimages.report(setting, PLAN)
    network, _ = preimages.trained(setting, PLAN.architecture, QUICK, *labelled_data(setting))
    kinds = rs.preimages.classify_at(network, setting.test.points).kinds
    for kind in (Kind.SINGLETON, Kind.COMPACT, Kind.UNBOUNDED):
        assert values(found)[f"{kind.name.lower()} preimages"] == (kinds == kind).sum()


def test_work_on_kinds_that_was_stopped_goes_on(monkeypatch):
    monkeypatch.setattr(preimages, "BLOCK", 10)
    setting, whole = make_setting(), preimages.report(make_setting(), PLAN)
    real, calls = rs.preimages.classify_at, []

    def stops(*arguments, **options):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(rs.preimages, "classify_at", stops)
    part = preimages.report(setting, PLAN)
    assert part.interrupted
    assert "at 10 test samples" in part.sentences[0]
    monkeypatch.setattr(rs.preimages, "classify_at", real)
    rest = preimages.report(setting, PLAN)
    assert not rest.interrupted
    assert values(rest) == values(whole)


def test_little_time_gives_fewer_samples(monkeypatch):
    monkeypatch.setattr(preimages, "BLOCK", 10)
    found = preimages.report(make_setting(seconds=0.0), PLAN)
    assert "at 10 test samples" in found.sentences[0]
    assert not found.interrupted


def test_wendel():
    assert [preimages.wendel(rows, size) for rows, size in ((3, 2), (6, 3), (8, 4))] == [0.25, 0.5, 0.5]
    assert preimages.wendel(3, 5) == 0


def test_images_with_equal_features():
    setting = make_setting()
    plan = invariances.Plan(Architecture("dense", (), (6, 6)), QUICK)
    found = invariances.report(setting, plan)
    differences = [value for name, value in values(found).items() if name.endswith("difference of features")]
    assert len(differences) == 4  # classes 3 as 4 and 4 as 0, in two ways
    assert max(differences) < 1e-9
    assert [picture.name for picture in found.pictures] == ["invariances-most-alike", "invariances-nearest"]
    assert [row[0] for row in found.tables[1].rows] == ["3 as 4", "4 as 0"] * 2
    said = [row[-1] for row in found.tables[1].rows]
    assert said[:2] == said[2:]  # what the network says of the input, whatever the image found looks like


def test_images_found_until_an_interruption(monkeypatch):
    real, calls = rs.preimages.invariant, []

    def stops(*arguments, **options):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(rs.preimages, "invariant", stops)
    found = invariances.report(make_setting(), invariances.Plan(Architecture("dense", (), (6, 6)), QUICK))
    assert found.interrupted
    assert len(found.tables[1].rows) == 1


def test_the_papers_plans():
    full = preimages.PLANS["full"]
    assert full.architecture.hidden == (3500, 784)
    assert replace(full.training, learning_rate=0.0) == Training("Adam", 0.0, 25, 1000)
    assert invariances.PLANS["full"].architecture.hidden == (100,) * 10


@pytest.mark.slow
@pytest.mark.parametrize("study", [two_circles, preimages, invariances])
def test_the_small_size_runs(study):
    data = (None, None) if study.DATA is None else (rs.datasets.digits("train"), rs.datasets.digits("test"))
    found = study.protocol(Setting("small", *data))
    assert found.pictures
    if study is two_circles:
        assert {"singleton preimages", "compact preimages", "unbounded preimages"} <= {
            name for name, value in values(found).items() if value
        }
