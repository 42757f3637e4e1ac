"""The opening of a report on networks of which something is known: what it says differs, is true, and comes first."""

import re

import numpy as np
import pytest

import reluscope as rs
from reluscope.datasets.dataset import dataset_of
from reluscope.findings import Claim, Finding
from reluscope.report import Settings, Subject, build_report
from reluscope.report.apart import apart
from reluscope.report.page import render, render_beside
from reluscope.report.parts.content import Content, Number, ReportTable, numbers
from reluscope.report.parts.document import SectionResult
from reluscope.report.parts.known_values import REFERENCES, SURPRISING, surprise
from reluscope.report.parts.merged_tables import merged, shared_samples
from reluscope.report.parts.sentences import Sentence, located, said
from reluscope.report.sections import all_sections
from reluscope.report.story import MAX_NUMBERS, MAX_SENTENCES, story_of

KEPT = ("network", "fit", "codes", "plane", "segments")
SECTIONS = tuple(section for section in all_sections() if section.name in KEPT)
GENERATOR = np.random.default_rng(0)
# Three blobs in the plane.
CENTERS = np.array([[0.0, 2.0], [-2.0, -1.0], [2.0, -1.0]])
LABELS = np.repeat(np.arange(3), 40)
POINTS = CENTERS[LABELS] + 0.5 * GENERATOR.normal(size=(120, 2))
DATA = dataset_of(POINTS, LABELS, name="blobs")
FIRST = GENERATOR.normal(size=(16, 2)), GENERATOR.normal(size=16)
LAST = GENERATOR.normal(size=(3, 16)), np.zeros(3)


def trained():
    """Hidden units at random; the last layer is fitted to the labels by least squares, as one is trained."""
    hidden = np.maximum(POINTS @ FIRST[0].T + FIRST[1], 0.0)
    weights = np.linalg.lstsq(np.column_stack([hidden, np.ones(120)]), np.eye(3)[LABELS], rcond=None)[0].T
    return [FIRST, (weights[:, :-1], weights[:, -1])]


NETWORKS = {
    "dead layer": [FIRST, (-np.abs(GENERATOR.normal(size=(8, 16))), -np.ones(8)), (np.ones((3, 8)), np.arange(3.0))],
    "linear": [(CENTERS, np.zeros(3))],
    "random": [FIRST, (0.01 * LAST[0], np.array([5.0, 0.0, 0.0]))],
    "trained": trained(),
    "duplicated": [
        (np.concatenate([FIRST[0][:8]] * 2), np.concatenate([FIRST[1][:8]] * 2)),
        LAST,
    ],
}


@pytest.fixture(scope="module")
def reports():
    subjects = {
        name: Subject(rs.load(layers), DATA, name, Settings(num_segments=6)) for name, layers in NETWORKS.items()
    }
    return {name: build_report(subject, sections=SECTIONS) for name, subject in subjects.items()}


def opening(report):
    return [sentence.text for sentence in story_of(report.sections).sentences]


@pytest.mark.slow
def test_a_dead_layer_is_said_first(reports):
    first = opening(reports["dead layer"])[0]
    assert first.startswith("All 8 units of relu 1 are dead on these 120 samples")
    hidden = np.maximum(POINTS @ FIRST[0].T + FIRST[1], 0.0)
    weights, biases = NETWORKS["dead layer"][1]
    assert (hidden @ weights.T + biases < 0).all()


def test_a_linear_network_is_said_to_be_one(reports):
    assert opening(reports["linear"])[0] == "The network has no gates: it is one affine map, the same everywhere."
    assert "The network does not bend on the plane through three samples: it is one linear region." in opening(
        reports["linear"]
    )


def test_a_random_network_is_said_to_know_nothing(reports):
    first = opening(reports["random"])[0]
    assert first == "The network gives all 120 samples one class, 0; 33.3 % are classified as labelled."


def test_a_trained_network_is_told_by_its_fit(reports):
    network = rs.load(NETWORKS["trained"])
    right = float((network(POINTS).argmax(1).numpy() == LABELS).mean())
    assert right > 0.9
    assert f"Of the 120 samples, {100 * right:.1f} % are classified as labelled." in opening(reports["trained"])


def test_copies_are_counted(reports):
    told = [text for text in opening(reports["duplicated"]) if "repeat it" in text]
    assert len(told) == 1
    number = int(re.match(r"\d+", told[0])[0])
    is_on = POINTS @ FIRST[0][:8].T + FIRST[1][:8] > 0
    changing = int((is_on.any(axis=0) & ~is_on.all(axis=0)).sum())
    assert number >= changing, "each unit that bends has a copy"
    others = [text for text in opening(reports["trained"]) if "repeat it" in text]
    assert all(int(re.match(r"\d+", text)[0]) < number for text in others)


def test_stories_differ_and_have_their_size(reports):
    stories = {name: story_of(report.sections) for name, report in reports.items()}
    assert len({tuple(sentence.text for sentence in story.sentences) for story in stories.values()}) == len(NETWORKS)
    for story in stories.values():
        assert 3 <= len(story.sentences) <= MAX_SENTENCES
        assert 1 <= len(story.numbers) <= MAX_NUMBERS
        assert story.picture is not None


@pytest.mark.parametrize("name", NETWORKS)
def test_the_number_of_regions_that_is_told_is_that_of_the_codes(reports, name):
    network = rs.load(NETWORKS[name])
    distinct = len(np.unique(np.asarray(network.codes(POINTS).to_array()), axis=0)) if network.gates else 1
    content = next(section for section in reports[name].sections if section.name == "codes").content
    if content is None:
        assert not network.gates
    elif distinct > 1:
        assert f" {distinct:,} linear regions" in content.sentences[0].text


def test_few_samples_make_no_headline():
    few, many = (
        Finding.of(0.5, name=name, domain=f"{n} samples", num_samples=n) for name, n in (("few", 9), ("many", 10))
    )
    said_of = (Sentence("Of nine.", 9.0, 9), Sentence("Of ten.", 0.0, 10))
    sections = [
        SectionResult(one.name, one.name, "done", content=Content((numbers(one),), Number(one), sentences=(sentence,)))
        for one, sentence in zip((few, many), said_of, strict=True)
    ]
    story = story_of(sections)
    assert [sentence.text for sentence in story.sentences] == ["Of ten."]
    assert [shown.number.finding.name for shown in story.numbers] == ["many"]


def test_bounds_are_rounded_to_the_side_on_which_they_hold():
    assert said(Finding.of(0.14869, upper=1.0)) == "at least 0.148"
    assert said(Finding.of(0.14861, lower=0.0)) == "at most 0.149"
    assert said(Finding.of(0.98765, upper=1.0, is_share=True)) == "at least 98.7 %"
    assert located(Finding.of(0.14869, upper=0.33333), "changes") == (
        "changes no earlier than 0.148 and no later than 0.334 away"
    )


def test_surprise_is_nothing_between_the_references():
    for name, reference in REFERENCES.items():
        middle = (reference.initial + reference.trained) / 2
        assert surprise(name, middle) == 0.0
        assert surprise(name, 1.0 - middle if reference.is_share and middle < 0.5 else 0.0) >= SURPRISING


def test_what_is_the_same_stands_once():
    exact, bound = (Number(Finding.of(2.5, upper=upper, domain="20 samples", num_samples=20)) for upper in (None, 3.0))
    table = ReportTable(("gate", "least", "most", "bound"), (("a", exact, exact, bound), ("b", exact, exact, bound)))
    assert merged(table).columns == ("gate", "least = most", "bound")
    assert merged(table).rows == (("a, b", exact, bound),)
    assert shared_samples(table) == 20


def test_several_models_stand_in_columns(reports):
    told = apart([reports["trained"], reports["random"]])
    page = render_beside(told)
    assert page.count('<article class="opening') == 2
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    links = set(re.findall(r'(?:href="#|url\(#)([^")]+)', page))
    assert links <= set(ids)
    for report in told:
        for text in opening(report):
            assert text in page
    assert {block.name for report in told for block in report.blocks if block.kind == "attachment"} == {
        "regions.parquet",
        "regions-2.parquet",
    }
    assert told[0] is reports["trained"]
    assert "<article" in render(reports["trained"])


def test_claims_are_words():
    assert said(Finding.estimate(0.5)) == "about 0.5"
    assert Finding.estimate(0.5).claim is Claim.ESTIMATE


def test_one_class_is_said_without_labels_and_tells_nothing_of_nearest_codes():
    """Seen red where the nearest code was of the same class in 100 % of cases, as all of them are."""
    network = rs.load([FIRST, (0.01 * LAST[0], np.array([5.0, 0.0, 0.0]))])
    code_map = tuple(section for section in all_sections() if section.name == "code_map")
    report = build_report(Subject(network, dataset_of(POINTS[:40], None), "one", Settings()), sections=code_map)
    said_first, *others = opening(report)
    assert said_first == "The network gives all 40 samples one class, 0."
    assert not any("of the same class" in one for one in others)
    assert all(one.name != "nearest of same class" for one in report.sections[0].content.findings)
