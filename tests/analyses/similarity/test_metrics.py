"""Every registered metric is what it declares: symmetry, range, value of itself, and exactly its invariances."""

import numpy as np
import pytest
from hypothesis import given, settings

import reluscope as rs
from analyses.similarity.networks import load, parameters, permuted, rescaled, scaled, translated
from reluscope.analyses.similarity.code_partitions import CodePartitions
from reluscope.analyses.similarity.metric import Invariance, Source
from reluscope.analyses.similarity.moments import moments_of
from reluscope.analyses.similarity.streamed_samples import entries_of
from reluscope.networks.evaluation.rounded_forward import rounded_forward
from reluscope.testing import strategies

METRICS = rs.similarity.METRICS
POINTS = np.random.default_rng(7).normal(size=(60, 3))
FIRST, SECOND = parameters([3, 6, 4, 2], 0), parameters([3, 5, 2], 1)
OF_NETWORKS = {
    Invariance.UNIT_PERMUTATION: permuted,
    Invariance.UNIT_RESCALING: rescaled,
    Invariance.SCALING: scaled,
    Invariance.TRANSLATION: translated,
}
OF_ENTRIES = [name for name, one in METRICS.items() if one.source in (Source.MOMENTS, Source.ENTRIES)]
OF_COEFFICIENTS = (Invariance.ORTHOGONAL, Invariance.LINEAR)


def coefficients(network):
    made = rs.coefficients.matrix(network, POINTS)
    return np.stack([made.output(j) for j in range(made.num_outputs)])


def source(metric, *networks, turned=None):
    """Return what a metric measures; rows of the first network's coefficients may be mapped before."""
    if metric.source is Source.OUTPUTS:
        return [rounded_forward(one, POINTS) for one in networks]
    if metric.source is Source.CODES:
        labels = [one.codes(POINTS).unique(return_inverse=True)[1] for one in networks]
        return CodePartitions(np.stack(labels), np.zeros((len(networks), len(POINTS)), dtype=bool))
    found = [coefficients(one) for one in networks]
    if turned is not None:
        found[0] = found[0] @ turned
    return entries_of(*found) if metric.source is Source.ENTRIES else moments_of(*(one[0] for one in found))


def value(metric, first=FIRST, second=SECOND, turned=None, order=(0, 1)):
    return float(metric.measure(source(metric, load(first), load(second), turned=turned), *order))


@pytest.mark.parametrize("name", METRICS)
def test_symmetry_range_and_value_of_itself(name):
    metric = METRICS[name]
    there, back = value(metric), value(metric, order=(1, 0))
    assert metric.name == name
    assert (abs(there - back) <= 1e-9) == metric.is_symmetric
    assert metric.low <= there <= metric.high
    itself = value(metric, FIRST, FIRST)
    if metric.of_itself is not None:
        assert itself == pytest.approx(metric.of_itself, abs=1e-6)
        assert (itself > there) == metric.grows_with_likeness
    else:
        assert itself != pytest.approx(value(metric, SECOND, SECOND), abs=1e-3)


@pytest.mark.few(11)
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("invariance", OF_NETWORKS, ids=lambda one: one.name)
def test_changes_of_a_network(name, invariance):
    metric = METRICS[name]
    before, after = value(metric), value(metric, OF_NETWORKS[invariance](FIRST))
    assert (abs(after - before) <= 1e-9) == (invariance in metric.invariances), (before, after)
    if metric.is_symmetric and invariance in metric.invariances:
        assert value(metric, FIRST, OF_NETWORKS[invariance](SECOND)) == pytest.approx(before, abs=1e-9)


@pytest.mark.parametrize(
    "name", [name for name, one in METRICS.items() if one.source in (Source.MOMENTS, Source.ENTRIES)]
)
@pytest.mark.parametrize("invariance", OF_COEFFICIENTS, ids=lambda one: one.name)
def test_maps_of_coefficients(name, invariance):
    metric, general = METRICS[name], np.random.default_rng(3).normal(size=(4, 4))
    turned = np.linalg.qr(general)[0] if invariance is Invariance.ORTHOGONAL else general
    before, after = value(metric), value(metric, turned=turned)
    assert (abs(after - before) <= 1e-9) == (invariance in metric.invariances), (before, after)


@pytest.mark.parametrize("name", sorted({*METRICS} - {*OF_ENTRIES}))
def test_what_compares_no_coefficients_declares_nothing_of_them(name):
    assert not METRICS[name].invariances & {*OF_COEFFICIENTS}


@given(layers=strategies.degenerate_networks(num_inputs=3, num_outputs=2))
@settings(max_examples=15, deadline=None)
def test_degenerate_networks_with_themselves(layers):
    network = load(layers)
    for metric in METRICS.values():
        found = metric.measure(source(metric, network, network), 0, 1)
        if found is not None and metric.of_itself is not None:
            assert float(found) == pytest.approx(metric.of_itself, abs=1e-6), metric.name
