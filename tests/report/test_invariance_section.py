"""The section on what layers cannot see: numbers of the analysis, every kind of network, one pair of images."""

import json

import numpy as np
import pytest

import reluscope as rs
from networks.models import layers
from reluscope.datasets.dataset import dataset_of
from reluscope.report import Settings, Subject, build_report
from reluscope.report.page import render
from reluscope.report.sections import all_sections
from reluscope.report.sections import invariance as section
from reluscope.testing import default_network

SECTIONS = tuple(one for one in all_sections() if one.name == "invariance")
NETWORKS = {
    "dense": rs.load(default_network([4, 9, 7, 3], seed=1)),
    "narrow": rs.load(default_network([4, 3, 7, 3], seed=1)),
    "one output": rs.load(layers([4, 6, 1])),
    "constant": rs.load([(np.zeros((2, 4)), np.ones(2)), (np.zeros((2, 2)), np.zeros(2))]),
    "dead": rs.load([(np.eye(4), -9 * np.ones(4)), (np.ones((2, 4)), np.zeros(2))]),
    "twins": rs.load([(np.ones((4, 4)), np.zeros(4)), (np.array([[1.0] * 4, [-1.0] * 4]), np.ones(2))]),
}
POINTS = np.random.default_rng(1).normal(size=(8, 4))


def report_on(network, points=POINTS, **settings):
    data = dataset_of(points, None)
    return build_report(Subject(network, data, "net", Settings(**settings)), sections=SECTIONS)


@pytest.mark.few(3)
@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("shape", [(4,), (2, 2)])
def test_every_network_has_its_page(name, shape):
    data = dataset_of(POINTS.reshape(8, *shape), None).reshaped((4,))
    report = build_report(Subject(NETWORKS[name], data, "net", Settings()), sections=SECTIONS)
    assert report.sections[0].content is not None
    assert "Preimages and invariances of layers" in render(report)
    json.dumps(report.sections[0].content.data, allow_nan=False)


def test_numbers_are_those_of_the_analysis():
    content = report_on(NETWORKS["dense"]).sections[0].content
    rows = content.data["samples"]
    for gate, listed in enumerate(content.data["gates"]):
        found = rs.preimages.classify_at(NETWORKS["dense"], POINTS[rows], gate=gate)
        assert listed["kinds"] == [found.kind(row).name.lower() for row in range(8)]
        assert listed["open_dimensions"] == found.dims.tolist()
    values = {finding.name: finding.value for finding in content.findings}
    assert values["relu 0: singleton preimages"] == content.data["gates"][0]["kinds"].count("singleton")


@pytest.mark.parametrize("name", ["narrow", "one output"])
def test_the_two_images_have_the_same_features(name):
    """Of the first gate where that leaves directions open, else of the outputs of the network."""
    network = NETWORKS[name]
    data = dataset_of(POINTS.reshape(8, 2, 2), None).reshaped((4,))
    content = build_report(Subject(network, data, "net", Settings()), sections=SECTIONS).sections[0].content
    pair = content.data["pair"]
    assert pair["change"] > 0.01
    assert pair["proved_within"] < 1e-9
    assert any(block.kind == "picture" for block in content.blocks)


def test_where_it_does_not_apply_it_says_why(monkeypatch):
    subject = Subject(rs.load(layers([4, 3])), dataset_of(POINTS, None), "net", Settings())
    assert "no gates" in section.why_not(subject)
    subject = Subject(NETWORKS["dense"], dataset_of(POINTS, None), "net", Settings())
    assert section.why_not(subject) is None
    monkeypatch.setattr(section, "MAX_INPUTS", 2)
    assert "rs.preimages.classify_at(net, x" in section.why_not(subject)


def test_ctrl_c_keeps_the_gates_before_it(monkeypatch):
    real, calls = section.classify_at, []

    def stops(*arguments, **options):
        calls.append(1)
        if len(calls) == 3:  # two blocks of the first gate
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(section, "classify_at", stops)
    content = report_on(NETWORKS["dense"]).sections[0].content
    assert content.interrupted
    assert len(content.data["gates"]) == 1


def test_little_time_gives_fewer_samples():
    content = report_on(NETWORKS["dense"], seconds=0.0).sections[0].content
    assert len(content.data["gates"][0]["kinds"]) == section.BLOCK
    assert "as many as there was time for" in content.blocks[1].text
