"""Sections on codes, local maps and sizes of regions, for networks and data of every kind."""

import json
import warnings

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from networks.models import branched, layers
from reluscope.analyses.codespace import distinct_codes, sample_codes
from reluscope.datasets.dataset import dataset_of
from reluscope.datasets.demo import demo_network
from reluscope.datasets.digits import digits
from reluscope.report import Settings, Subject, build_report
from reluscope.report.page import render
from reluscope.report.parts.content import ReportPicture, ReportTable, Text
from reluscope.report.sections import all_sections

SECTIONS = tuple(section for section in all_sections() if section.name in ("codes", "code_map", "maps", "balls"))
DATA = digits("test").limited(80)


def pool():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16, 3))
    return rs.load(model, input_shape=(3, 6, 6))


NETWORKS = {
    "demo": lambda: rs.load(demo_network(), input_shape=(1, 8, 8)),
    "dense": lambda: rs.load(layers([5, 9, 7, 3])),
    "no gates": lambda: rs.load(layers([4, 3])),
    "one input": lambda: rs.load(layers([1, 6, 3])),
    "one output": lambda: rs.load(layers([4, 6, 1])),
    "branched": branched,
    "pool": pool,
    "constant": lambda: rs.load([(np.zeros((2, 3)), np.ones(2)), (np.zeros((2, 2)), np.zeros(2))]),
    "zero biases": lambda: rs.load([(np.eye(3), np.zeros(3)), (np.ones((2, 3)), np.zeros(2))]),
    "many classes": lambda: rs.load(layers([4, 12, 40])),
}


def report_on(network, points, labels=None, only=("codes", "code_map", "maps", "balls"), **settings):
    data = dataset_of(points, labels).reshaped(network.input_shape)
    kept = tuple(one for one in SECTIONS if one.name in only)
    return build_report(Subject(network, data, "net", Settings(**settings)), sections=kept)


def section(report, name):
    return next(one for one in report.sections if one.name == name)


def words(report, name):
    return " ".join(block.text for block in section(report, name).content.blocks if isinstance(block, Text))


def find(report, name, what):
    return next(one for one in section(report, name).content.findings if one.name == what)


def of_all_gates(report, name, what):
    """The number of a section that is about all gates together, from a table with a row for each."""
    found = section(report, name).content.findings
    return next(one for one in found if one.name == what and "all gates" in one.domain)


ORDINARY = ("demo", "no gates", "one input", "one output", "branched", "pool", "constant", "zero biases")
FEW = (("demo", 1), ("dense", 2), ("one output", 1), ("no gates", 1))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size"), [*((name, 30) for name in ORDINARY), *FEW])
def test_sections_for_every_network(name, size):
    net = NETWORKS[name]()
    points = np.random.default_rng(0).normal(size=(size, net.num_inputs))
    if name == "zero biases":
        points[0] = 0.0
    report = report_on(net, points)
    missing = {"codes", "code_map", "balls"} if name == "no gates" else set()
    missing |= {"code_map"} if size < 3 else set()
    for one in report.sections:
        assert one.status == ("not applicable" if one.name in missing else "done"), one.sentence
    text = render(report)
    assert "nan" not in text.replace("nanmedian", "").lower().split()
    json.dumps(report.to_dict(), allow_nan=False)


@pytest.mark.slow
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_regression_has_no_classes(task):
    net = NETWORKS["dense"]()
    points = np.random.default_rng(0).normal(size=(20, 5))
    report = report_on(net, points, task=task, only=("codes", "maps", "balls"))
    everything = json.dumps(report.to_dict())
    assert ('"mean code distance, all pairs"' in everything) == (task == "regression")
    for name in ("mean code distance, within classes", "margin slope", "median decision distance in l2"):
        assert (f'"{name}"' in everything) == (task == "classification")
    if task == "regression":
        assert "class" not in words(report, "codes") + words(report, "maps") + words(report, "balls")


@pytest.mark.slow
def test_numbers_are_those_of_the_analyses():
    net = NETWORKS["demo"]()
    report = build_report(Subject(net, DATA, "net", Settings()), sections=SECTIONS)
    assert (
        find(report, "codes", "number of distinct codes").value
        == distinct_codes(sample_codes(net, DATA.points)).summary["num_distinct_codes"].value[0]
    )
    arrays = net.codes(DATA.points).to_array()
    same = DATA.labels[:, None] == DATA.labels
    differ = (arrays[:, None] != arrays).sum(axis=2)
    off_diagonal = ~np.eye(80, dtype=bool)
    assert find(report, "codes", "mean code distance, within classes").value == pytest.approx(
        differ[same & off_diagonal].mean()
    )
    assert find(report, "codes", "median code distance, between classes").value == np.median(differ[~same])
    norms = [np.linalg.norm(weight, 2) for weight in net.linearize(DATA.points).weight.numpy()]
    assert find(report, "maps", "median spectral norm").value == pytest.approx(np.median(norms))
    data = section(report, "balls").content.data
    assert sorted(data["samples"]) == list(range(80))
    row = data["ball_samples"][3]
    ball = rs.region(net, DATA.points[row]).polyhedron.intersect(rs.Box(0, 1, 64).polyhedron).insphere()
    assert data["ball_radii"][3] == pytest.approx(ball.radius, rel=1e-6)
    assert "the box [0, 1]^64" in words(report, "balls")
    pictures = [block for block in section(report, "maps").content.blocks if isinstance(block, ReportPicture)]
    assert [len(picture.drawings) for picture in pictures] == [1, 2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "drawings"),
    [
        ((1, 8, 8), 2),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in (((8, 8), 2), ((64,), 1), ((4, 4, 4), 1))),
    ],
)
def test_flat_inputs_are_images_if_the_data_were(shape, drawings):
    net = rs.load(layers([64, 5, 10]))
    data = dataset_of(DATA.points[:9].reshape(9, *shape)).reshaped(net.input_shape)
    report = build_report(
        Subject(net, data, "net", Settings()), sections=tuple(one for one in SECTIONS if one.name == "maps")
    )
    pictures = [block for block in section(report, "maps").content.blocks if isinstance(block, ReportPicture)]
    assert len(pictures[-1].drawings) == drawings


@pytest.mark.slow
def test_classes_beyond_the_table_are_said():
    net = NETWORKS["many classes"]()
    points = np.random.default_rng(0).normal(size=(300, 4))
    labels = np.arange(300) % 35
    report = report_on(net, points, labels, only=("codes",))
    blocks = section(report, "codes").content.blocks
    table = next(block for block in blocks if isinstance(block, ReportTable) and block.columns[0] == "class")
    assert len(table.rows) == 20
    assert "The 20 largest of 35 classes are shown" in table.caption
    picture = [block for block in blocks if isinstance(block, ReportPicture)][-1]
    assert "15 are left out" in picture.caption


def test_samples_on_kinks_are_said():
    net = NETWORKS["zero biases"]()
    points = np.r_[np.zeros((1, 3)), np.random.default_rng(0).normal(size=(5, 3))]
    assert "1 of them lie on a facet" in words(report_on(net, points, only=("balls",)), "balls")


def test_balls_that_would_take_too_long_are_left_out():
    report = report_on(NETWORKS["demo"](), DATA.points, only=("balls",), seconds=0.01)
    assert section(report, "balls").status == "done"
    assert "more than this section takes on" in words(report, "balls")
    assert find(report, "balls", "median boundary distance in l2").claim == "ESTIMATE"


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("target", "keeps"), [("inscribed_balls", True), ("region_sizes", True), ("certified_radius", False)]
)
def test_ctrl_c_keeps_distances(target, keeps, monkeypatch):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"reluscope.report.sections.balls.{target}", stop)
    report = report_on(NETWORKS["demo"](), DATA.points, only=("balls",))
    found = section(report, "balls")
    assert found.status == "interrupted"
    assert (found.content is not None) == keeps
    render(report)


def test_huge_maps_are_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr("reluscope.report.sections.maps.MAX_BYTES", 1000)
    maps = next(one for one in SECTIONS if one.name == "maps")
    assert "10 x 64 numbers" in maps.why_not(Subject(NETWORKS["demo"](), DATA, "net", Settings()))


@pytest.mark.slow
def test_progress_goes_up():
    for one in SECTIONS:
        told = []
        subject = Subject(NETWORKS["demo"](), DATA, "net", Settings())
        assert one.seconds(subject) > 0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            one.content(subject, told.append)
        assert told == sorted(told)
        assert told[-1] <= 1.0


def test_the_map_of_codes_says_how_near_codes_are_and_of_which_class():
    net = NETWORKS["demo"]()
    report = report_on(net, DATA.points, DATA.labels, only=("code_map",))
    pieces = net.codes(DATA.points).to_array()
    table = (pieces[:, None] != pieces).sum(axis=2).astype(float)
    np.fill_diagonal(table, np.inf)
    assert of_all_gates(report, "code_map", "median distance to nearest").value == np.median(table.min(axis=1))
    shares = [
        np.mean([DATA.labels[other] == DATA.labels[row] for other in np.flatnonzero(table[row] == table[row].min())])
        for row in range(len(DATA))
    ]
    found = of_all_gates(report, "code_map", "nearest of same class")
    assert found.value == pytest.approx(np.mean(shares))
    picture = next(block for block in section(report, "code_map").content.blocks if isinstance(block, ReportPicture))
    assert "4 gates" not in picture.caption  # all of them are shown
