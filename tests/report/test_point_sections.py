"""Sections on regions at samples: numbers against the analyses, every kind of network, regressions, limits, Ctrl-C."""

import json
from importlib import import_module

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from networks.models import layers
from reluscope.analyses.samples.data_box import data_box
from reluscope.datasets.dataset import dataset_of
from reluscope.report import Settings, Subject, build_report
from reluscope.report.page import render
from reluscope.report.parts.content import ReportPicture, ReportTable
from reluscope.report.sections import all_sections, robustness
from reluscope.testing import default_network

NAMES = ("directions", "surrounding_regions", "regions_at_boundaries", "classes", "robustness")
SECTIONS = tuple(one for one in all_sections() if one.name in NAMES)
RNG = np.random.default_rng(0)
DENSE = rs.load(default_network([5, 9, 7, 3], seed=1))
POINTS = np.random.default_rng(1).normal(size=(8, 5))  # of all three classes


def images():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 3, 2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(3, 3))
    return rs.load(model, input_shape=(1, 4, 4))


NETWORKS = {
    "dense": lambda: DENSE,
    "images": images,
    "one output": lambda: rs.load(layers([4, 6, 1])),
    "one input": lambda: rs.load(layers([1, 6, 3])),
    "no gates": lambda: rs.load(layers([4, 3])),
    "constant": lambda: rs.load([(np.zeros((2, 3)), np.ones(2)), (np.zeros((2, 2)), np.zeros(2))]),
    "zero biases": lambda: rs.load([(np.eye(3), np.zeros(3)), (np.array([[1.0, 1, 0], [0, 1, 1]]), np.zeros(2))]),
    "twins": lambda: rs.load([(np.ones((4, 3)), np.zeros(4)), (np.array([[1.0] * 4, [-1.0] * 4]), np.ones(2))]),
}


def report_on(network, points, labels=None, only=NAMES, **settings):
    data = dataset_of(points, labels).reshaped(network.input_shape)
    sections = tuple(one for one in SECTIONS if one.name in only)
    return build_report(Subject(network, data, "net", Settings(**settings)), sections=sections)


def section(report, name):
    return next(one for one in report.sections if one.name == name)


def values(report, name):
    return {one.name: one.value for one in section(report, name).content.findings}


@pytest.fixture(scope="module")
def dense():
    """Return what all sections say of a network, and what they told on the way."""
    subject = Subject(DENSE, dataset_of(POINTS), "net", Settings())
    contents, told = {}, {one.name: [] for one in SECTIONS}
    for one in SECTIONS:
        assert one.seconds(subject) > 0
        contents[one.name] = one.content(subject, told[one.name].append)
    return contents, told


@pytest.mark.slow
def test_progress_goes_up(dense):
    for shares in dense[1].values():
        assert shares == sorted(shares)
        assert shares[-1] <= 1.0


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["twins", *(pytest.param(one, marks=pytest.mark.slow) for one in NETWORKS)])
def test_sections_for_every_network(name):
    """Each is done or says in a sentence why not; degenerate networks and a sample on a kink are ordinary input."""
    net = NETWORKS[name]()
    points = RNG.normal(size=(7, net.num_inputs))
    points[0] = 0.0
    report = report_on(net, points)
    for one in report.sections:
        assert one.status in ("done", "not applicable"), one.sentence
        assert (one.content is None) == bool(one.sentence)
    text = render(report)
    assert "nan" not in text.lower().split()
    json.dumps(report.to_dict(), allow_nan=False)


@pytest.mark.slow
def test_numbers_are_those_of_the_analyses(dense):
    contents, _ = dense
    data = {name: content.data for name, content in contents.items()}
    found = {name: {one.name: one.value for one in content.findings} for name, content in contents.items()}
    box = data_box(POINTS)
    (angles,) = rs.local.directions(DENSE, POINTS[data["directions"]["sample"]])
    assert found["directions"]["mean angle between hyperplanes"] == angles.mean
    assert data["directions"]["pairs"] == angles.all_counts.tolist()
    around = data["surrounding_regions"]
    again = rs.local.null_space_rays(DENSE, POINTS[around["samples"]], count=30, reach=around["reach"], seed=0)
    assert around["regions"] == again["regions_along_rays"].value.tolist()
    for row, radius in zip(
        data["regions_at_boundaries"]["ball_samples"],
        data["regions_at_boundaries"]["radii"]["at the sample"],
        strict=True,
    ):
        ball = rs.region(DENSE, POINTS[row], domain=box).polyhedron.insphere()
        assert radius == pytest.approx(ball.radius, rel=1e-6)
    rows = data["classes"]["samples"]
    classes = rs.local.region_classes(DENSE, POINTS[rows], domain=box)
    assert found["classes"]["mean number of classes"] == classes.mean("num_classes").value
    assert data["classes"]["classes"] == [np.flatnonzero(row).tolist() for row in classes.details["occurs"]]
    rows = data["robustness"]["samples"]
    whole = rs.robustness.decision_distance(
        DENSE, POINTS[rows], norm="l2", budget=rs.Budget(regions=robustness.MAX_REGIONS)
    )
    assert contents["robustness"].headline.finding.value == whole.median("decision_distance").value


def test_ends_of_classes_are_on_the_way_between_two_classes(dense):
    shown = dense[0]["regions_at_boundaries"].data
    classes = DENSE(POINTS).argmax(1).numpy()
    for row, share, after in zip(
        shown["samples"],
        shown["share_of_segment"]["towards another class"],
        shown["class_after"]["towards another class"],
        strict=True,
    ):
        assert 0 <= share <= 1
        assert (after == -1) == (share == 1)
        assert after != classes[row]


@pytest.mark.slow
def test_lower_bounds_are_no_worse_than_the_nearest_facet(monkeypatch):
    monkeypatch.setattr("reluscope.report.sections.robustness.MAX_REGIONS", 1)
    report = report_on(DENSE, POINTS, only=("robustness",))
    shown = section(report, "robustness").content.data
    for norm in shown["distances"]:
        facets = rs.robustness.boundary_distance(DENSE, POINTS[shown["samples"]], norm=norm["norm"])
        nearest = facets["boundary_distance"].value
        for row, lower in enumerate(norm["lower"]):
            within = np.inf if norm["within"][row] is None else norm["within"][row]
            assert lower is None or lower >= min(nearest[row], within) - 1e-9
    text = render(report)
    assert "LOWER" in text


@pytest.mark.slow
@pytest.mark.parametrize("labels", [RNG.normal(size=(8, 3)), None])
def test_regression_has_no_classes(labels):
    report = report_on(DENSE, POINTS, labels, task="regression")
    assert {one.name: one.status for one in report.sections} == {
        **dict.fromkeys(("directions", "surrounding_regions"), "done"),
        **dict.fromkeys(("regions_at_boundaries", "classes", "robustness"), "not applicable"),
    }
    for name in ("regions_at_boundaries", "classes", "robustness"):
        assert section(report, name).sentence.startswith("This is a regression, so ")
    # The difference of two outputs means nothing: regions are counted, and not compared.
    assert list(values(report, "surrounding_regions")) == ["median regions along rays"]
    assert "logit" not in render(report)


def test_one_output_is_compared_in_a_regression():
    report = report_on(
        NETWORKS["one output"](), RNG.normal(size=(5, 4)), task="regression", only=("surrounding_regions",)
    )
    assert "median cosine of decision directions" in values(report, "surrounding_regions")


@pytest.mark.slow
def test_images_are_drawn_for_every_class():
    net = NETWORKS["images"]()
    report = report_on(net, RNG.uniform(size=(9, 16)), only=("classes",))
    blocks = section(report, "classes").content.blocks
    assert sum(isinstance(block, ReportPicture) for block in blocks) == 2
    table = next(block for block in blocks if isinstance(block, ReportTable))
    assert len(table.rows) == 5


def test_one_class_has_nowhere_to_go():
    classes = DENSE(POINTS).argmax(1).numpy()
    assert (
        "have one class"
        in section(
            report_on(DENSE, POINTS[classes == 0], only=("regions_at_boundaries",)), "regions_at_boundaries"
        ).sentence
    )


def test_labels_of_one_class_do_not_leave_the_others_without_a_target():
    report = report_on(DENSE, POINTS, np.zeros(8, dtype=int), only=("regions_at_boundaries",))
    assert section(report, "regions_at_boundaries").status == "not applicable"


@pytest.mark.parametrize("name", ["directions", "regions_at_boundaries", "classes", "robustness"])
def test_what_takes_too_long_says_what_to_call(name, monkeypatch):
    monkeypatch.setattr("reluscope.analyses.bodies.inscribed_balls.MULTIPLICATIONS", 1.0)
    monkeypatch.setattr("reluscope.report.sections.directions.MULTIPLICATIONS", 1.0)
    report = report_on(DENSE, POINTS, only=(name,))
    sentence = section(report, name).sentence
    assert "more than this section takes on" in sentence
    assert "rs." in sentence


@pytest.mark.parametrize(
    ("name", "target", "keeps"),
    [
        ("surrounding_regions", "null_space_rays", False),
        ("regions_at_boundaries", "last_of_class", False),
        ("regions_at_boundaries", "inscribed_balls", True),
        ("classes", "region_classes", False),
        ("robustness", "decision_distance", False),
    ],
)
def test_ctrl_c(name, target, keeps, monkeypatch):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"reluscope.report.sections.{name}.{target}", stop)
    report = report_on(DENSE, POINTS, only=(name,))
    found = section(report, name)
    assert found.status == "interrupted"
    assert (found.content is not None) == keeps
    render(report)


@pytest.mark.slow
def test_ctrl_c_keeps_the_first_samples_and_the_first_norm(monkeypatch):
    calls = {"_group": 0, "decision_distance": 0}

    def until(name, original):
        def run(*arguments, **options):
            calls[name] += 1
            if calls[name] > 1:
                raise KeyboardInterrupt
            return original(*arguments, **options)

        return run

    for home, name, module in (
        (import_module("reluscope.analyses.local.null_space_rays"), "_group", "surrounding_regions"),
        (import_module("reluscope.report.sections.robustness"), "decision_distance", "robustness"),
    ):
        monkeypatch.setattr(home, name, until(name, getattr(home, name)))
        report = report_on(DENSE, POINTS, only=(module,))
        assert section(report, module).status == "interrupted"
        assert section(report, module).content.headline is not None
        render(report)
