"""Conclusions and differences follow from findings: true for every value between their ends, else they are silent."""

import math
from dataclasses import replace

import pytest

import reluscope as rs
from reluscope.findings import Finding
from reluscope.report import Settings, Subject, build_report
from reluscope.report.apart import apart
from reluscope.report.conclusions import MAX_CONCLUSIONS, RULES, conclusions_of
from reluscope.report.model_differences import MORE, differences_between
from reluscope.report.page import render, render_beside
from reluscope.report.parts.content import Content, Number, numbers
from reluscope.report.parts.document import SectionResult
from reluscope.report.parts.sentences import Sentence, ends_of, located
from reluscope.report.sections import all_sections
from reluscope.report.story import story_of

BY_NAME = {section.name: section for section in all_sections()}


def section(name, value, lower=None, upper=None, samples=100, **content):
    finding = Finding.of(value, lower, upper, name=f"number of {name}", num_samples=samples)
    return SectionResult(name, name, "done", content=Content((numbers(finding),), Number(finding), **content))


def texts(*sections):
    return [one.text for one in conclusions_of(sections, "image")]


def test_gradients_explain_little_where_the_class_reaches_much_farther():
    balls = section("balls", 0.01)
    assert "170 times as far" in texts(balls, section("robustness", 1.7, upper=3.0))[0]
    # Of bounds it is told what is certain: the first unit is not known to bend as late as the upper end says.
    (first, *_) = texts(section("balls", 0.01, upper=0.02), section("robustness", 1.7, upper=3.0))
    assert "bends at a distance of at least 0.01" in first
    assert "85 times as far" in first
    # A lower bound that is near proves nothing, however far the upper one is.
    assert not any("gradient" in one for one in texts(balls, section("robustness", 0.05, upper=3.0)))
    assert "nearly all" in texts(balls, section("robustness", 0.012))[0]


def test_a_radius_is_rough_where_its_ends_are_apart():
    (rough,) = texts(section("robustness", 0.2, upper=0.5))
    assert "factor of 2.5" in rough
    assert "within 0.2" in rough
    assert texts(section("robustness", 0.2)) == []
    assert texts(section("robustness", 0.2, upper=math.inf)) == []
    assert texts(section("robustness", 0.0, lower=0.0, upper=0.5)) == []


def test_patterns_group_samples_or_are_too_fine():
    assert "too fine" in texts(section("codes", 100))[0]
    assert "group these images" in texts(section("codes", 10))[0]
    assert texts(section("codes", 50)) == []
    assert texts(section("codes", 5, upper=50)) == []  # there may be many


def test_classes_in_a_region_are_told_where_at_least_two_are_proved():
    assert "9.2 classes" in texts(section("classes", 9.2))[0]
    assert texts(section("classes", 1.5)) == []
    assert texts(section("classes", 2.5, lower=1.0, upper=4.0)) == []


def test_labels_that_the_network_does_not_know_come_first():
    fit = section("fit", 0.1, sentences=(Sentence("10 % are right.", surprise=3.0),))
    found = texts(fit, section("codes", 100), section("classes", 9.0))
    assert "does not do what the labels say" in found[0]
    assert len(found) == 3


@pytest.mark.parametrize(
    ("regions", "expected"),
    [((10, 20), "between images of different classes than"), ((20, 10), "between images of one class than")],
)
def test_regions_crowd_by_length(regions, expected):
    data = {"same_class": [True, False], "regions": regions, "lengths": [1.0, 1.0], "claims": ["EXACT", "EXACT"]}
    assert expected in texts(section("segments", 1.0, data=data))[0]
    same = {**data, "lengths": [float(one) for one in regions]}
    assert "about as dense" in texts(section("segments", 1.0, data=same))[0]
    even = {"same_class": [True] * 4 + [False], "lengths": [1.0] * 5, "claims": ["EXACT"] * 5}
    even["regions"] = [1, 10, 20, 30, 30]  # the median within a class is 15
    assert "2 times as many" in texts(section("segments", 1.0, data=even))[0]
    assert texts(section("segments", 1.0, data={**data, "claims": ["EXACT", "LOWER"]})) == []


def test_the_first_gate_that_loses_something_is_named():
    gates = [{"name": "relu", "open_dimensions": [0, 0]}, {"name": "relu_1", "open_dimensions": [0, 3]}]
    assert "relu keeps all" in texts(section("invariance", 1, data={"gates": gates}))[0]
    assert texts(section("invariance", 1, data={"gates": gates[:1]})) == []
    assert texts(section("invariance", 1, data={"gates": gates[1:]})) == []


def test_regressions_have_conclusions_of_their_own():
    assert "crosses 17.5 affine maps" in texts(section("segments", 17.5))[0]
    assert texts(section("segments", 2)) == []
    data = {"shares": [0.56, 0.709]}
    assert "at least 56 % of its variation" in texts(section("sensitivity", 1.0, data=data))[0]
    assert texts(section("sensitivity", 1.0, data={"shares": [0.9, 0.3]})) == []
    assert "moves the outputs by up to 2.5" in texts(section("maps", 2.5))[0]


def test_one_output_has_no_condition_number_to_tell():
    network = rs.load([([[1.0, 0.5], [-1.0, 1.0]], [0.0, 0.1]), ([[1.0, -1.0]], [0.0])])
    points = [[0.1 * row, 0.07 * row**1.5 - 1] for row in range(20)]
    subject = Subject(network, rs.datasets.dataset_of(points, None), "net", Settings())
    (stability,) = build_report(subject, sections=(BY_NAME["stability"],)).sections
    assert stability.content.sentences[0].text.startswith("There is one output")
    assert stability.content.sentences[0].surprise == 0


def test_rules_name_sections_that_exist_and_at_most_five_are_told():
    assert {name for rule in RULES for name in rule.needs} <= set(BY_NAME)
    assert set(MORE) <= set(BY_NAME)
    assert MAX_CONCLUSIONS == 5


def differences(first, second):
    return differences_between(["A", "B"], [[first], [second]])


def test_what_is_proved_to_differ_is_said_and_what_is_not_is_named():
    (said,) = differences(section("balls", 3.0), section("balls", 1.0))
    assert said == "A is one affine map farther around a typical sample than B: 3 against 1, 3 times as much."
    (said,) = differences(section("balls", 1.0, upper=2.0), section("balls", 4.0, upper=9.0))
    assert said.startswith("B is one affine map farther")
    assert said.endswith("at least 4 against at least 1, 2 times as much or more.")
    assert differences(section("balls", 1.0, upper=5.0), section("balls", 4.0)) == (
        "Not told apart by these numbers: number of balls.",
    )
    assert differences(section("network", 4), section("network", 4)) == ("Equal: number of network.",)


def test_numbers_about_different_samples_are_not_compared():
    first, second = (section("plane", value, data={"samples": [value, 1, 2]}) for value in (10, 20))
    assert differences(first, second) == (
        "Not compared, as each model was asked at samples of its own: number of plane.",
    )


def test_models_without_a_section_are_not_compared_there():
    missing = SectionResult("plane", "plane", "not applicable", "why")
    assert differences(section("plane", 3), missing) == ()


def test_bounds_and_estimates_of_places_read_differently():
    bound, estimate = Finding.of(0.2, upper=0.5), Finding.of(0.3, 0.2, 0.5)
    assert located(bound, "changes") == "changes no earlier than 0.2 and no later than 0.5 away"
    assert located(estimate, "changes") == "changes about 0.3 away (between 0.2 and 0.5)"
    assert ends_of(estimate) == (0.2, 0.5)
    assert ends_of(Finding.of(3)) == (3, 3)
    assert ends_of(replace(bound, interval=None)) == (0.2, math.inf)


def test_a_page_reads_on_and_ends_with_what_it_means():
    network = rs.load(
        [([[1.0, 0.5], [-1.0, 1.0], [0.3, -1.0]], [0.0, 0.1, -0.2]), ([[1.0, -1.0, 1.0], [0, 1, -1]], [0.0, 0.0])]
    )
    points = [[0.1 * row, 0.07 * row**1.5 - 1] for row in range(20)]
    chosen = tuple(BY_NAME[name] for name in ("network", "codes", "plane", "segments", "directions"))
    subject = Subject(network, rs.datasets.dataset_of(points, None), "net", Settings(num_segments=4))
    report = build_report(subject, sections=chosen)
    page = render(report)
    # What the opening tells is unfolded with its picture, and the rest is a line.
    assert '<section id="plane">' in page
    first = page.index("All numbers of this section")
    assert min(page.index(f'<section id="{name}">') for name in story_of(report.sections).told) < first
    assert '<section class="folded">' in page
    expected = conclusions_of(report.sections, "sample")
    assert expected
    assert page.index('id="meaning"') < page.index(expected[0].closer) < page.index('id="methods"')
    both = render_beside(apart([report, report]))
    assert "What differs" in both
    assert "Equal: " in both
