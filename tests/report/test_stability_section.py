"""The section on the stability of the inverse: numbers of the analysis, every kind of network, limits."""

import json

import numpy as np
import pytest

import reluscope as rs
from networks.models import layers
from reluscope.datasets.dataset import dataset_of
from reluscope.report import Settings, Subject, build_report
from reluscope.report.page import render
from reluscope.report.sections import all_sections
from reluscope.report.sections import stability as section
from reluscope.testing import default_network

SECTIONS = tuple(one for one in all_sections() if one.name == "stability")
NETWORKS = {
    "dense": rs.load(default_network([4, 9, 7, 3], seed=1)),
    "one output": rs.load(layers([4, 6, 1])),
    "constant": rs.load([(np.zeros((2, 4)), np.ones(2)), (np.zeros((2, 2)), np.zeros(2))]),
    "dead": rs.load([(np.eye(4), -9 * np.ones(4)), (np.ones((2, 4)), np.zeros(2))]),
    "twins": rs.load([(np.ones((4, 4)), np.zeros(4)), (np.array([[1.0] * 4, [-1.0] * 4]), np.ones(2))]),
}
POINTS = np.random.default_rng(1).normal(size=(8, 4))


def report_on(network, points=POINTS, **settings):
    data = dataset_of(points, None).reshaped(network.input_shape)
    return build_report(Subject(network, data, "net", Settings(**settings)), sections=SECTIONS)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", NETWORKS)
def test_every_network_has_its_page(name):
    report = report_on(NETWORKS[name])
    assert report.sections[0].content is not None
    assert "Stability of the inverse" in render(report)
    json.dumps(report.sections[0].content.data, allow_nan=False)


def test_numbers_are_those_of_the_analysis():
    content = report_on(NETWORKS["dense"]).sections[0].content
    found = rs.stability.spectra(NETWORKS["dense"], POINTS)
    by_layer = [found.where(layer=layer.name) for layer in rs.stability.layers(NETWORKS["dense"])]
    assert content.headline.finding.value == pytest.approx(by_layer[-1].median("condition_number").value)
    which = "num_nonzero_singular_values"
    assert content.data[which] == [one.median(which).value for one in by_layer]
    assert len(content.data["samples"]) == len(POINTS)


def test_where_it_does_not_apply_it_says_why(monkeypatch):
    subject = Subject(rs.load(layers([4, 3])), dataset_of(POINTS, None), "net", Settings())
    assert "no gates" in section.why_not(subject)
    monkeypatch.setattr(section, "MEMORY", 10)
    subject = Subject(NETWORKS["dense"], dataset_of(POINTS, None), "net", Settings())
    assert "rs.stability.spectra(net, x)" in section.why_not(subject)


def test_one_sample_is_enough():
    content = report_on(NETWORKS["dense"], POINTS[:1]).sections[0].content
    assert str(content.headline.finding.claim) == "EXACT"
