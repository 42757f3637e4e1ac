"""Law: whatever takes many things answers for each as if it were alone, f(all)[i] == f([i])."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from reluscope.testing import default_network
from reluscope.testing.strategies import networks

BOX = rs.Box(-4, 4, 2)


def of_findings(found):
    """What a table of findings says of each of its samples."""
    samples = np.asarray(found.keys["sample"])
    columns = {
        f"{name}.{part}": getattr(column, part)
        for name, column in found.columns.items()
        for part in ("value", "lower", "upper", "claims")
    }
    columns |= {"status": np.array([str(one) for one in found.status])}
    return [{name: np.asarray(one)[samples == row] for name, one in columns.items()} for row in np.unique(samples)]


def of_region(region):
    """What a region is, beside its witness: that may be any point inside."""
    polyhedron = region.polyhedron
    return {
        "code": region.code.words,
        "A": polyhedron.A,
        "b": polyhedron.b,
        "weight": region.map.weight,
        "bias": region.map.bias,
        "sources": region.sources,
    }


def of_regions(net, x):
    found = rs.find_regions(net.at(x))
    pairs = zip(found.regions, found.reasons, strict=True)
    return [{"missing": reason.split(" lies", 1)[-1]} if one is None else of_region(one) for one, reason in pairs]


def of_evaluation(net, x):
    at = net.at(x)
    parts = {"words": at.codes.words, "outputs": at.outputs, "status": np.array([str(s) for s in at.status])}
    parts |= {f"pieces {gate}": table for gate, table in enumerate(at.pieces)}
    parts |= {"weight": at.maps.weight, "bias": at.maps.bias}
    return [{name: table[row : row + 1] for name, table in parts.items()} for row in range(len(x))]


def each(function):
    """What a function returns as an array, row by row."""
    return lambda net, x: [{"row": one} for one in np.asarray(function(net, x))]


def of_preimages(net, x):
    found = rs.preimages.classify_at(net, x, gate=0)
    return [{"kind": str(found.kinds[row]), "dim": found.dims[row]} for row in range(len(x))]


POINTS = {
    "net": each(lambda net, x: net(x)),
    "net.codes": each(lambda net, x: net.codes(x).words),
    "net.at": of_evaluation,
    "find_regions": of_regions,
    "classification.predicted_classes": each(rs.classification.predicted_classes),
    "codespace.sample_codes": each(lambda net, x: rs.codespace.sample_codes(net, x).codes.words),
    "local.pgd": each(lambda net, x: rs.local.pgd(net, x, np.zeros(len(x), dtype=int), radius=0.5, steps=5)),
    "preimages.layer_inputs": each(lambda net, x: rs.preimages.layer_inputs(net, x, gate=0)),
    "similarity.features": each(lambda net, x: rs.similarity.features(net, x, gate=0)),
    "inscribed_balls": lambda net, x: of_findings(rs.inscribed_balls(net, x)),
    "inscribed_balls in a box": lambda net, x: of_findings(rs.inscribed_balls(net, x, domain=BOX)),
    "local.region_sizes": lambda net, x: of_findings(rs.local.region_sizes(net, x, domain=BOX)),
    "local.region_classes": lambda net, x: of_findings(rs.local.region_classes(net, x, domain=BOX)),
    "coefficients.linear_margins": lambda net, x: of_findings(rs.coefficients.linear_margins(net, x)),
    "coefficients.local_norms": lambda net, x: of_findings(rs.coefficients.local_norms(net, x)),
    "robustness.boundary_distance": lambda net, x: of_findings(rs.robustness.boundary_distance(net, x, norm="l2")),
    "robustness.certified_radius": lambda net, x: of_findings(rs.robustness.certified_radius(net, x, norm="l2")),
    "robustness.decision_distance": lambda net, x: of_findings(
        rs.robustness.decision_distance(net, x, norm="l2", domain=BOX)
    ),
    "sensitivity.jacobian_norms": lambda net, x: of_findings(rs.sensitivity.jacobian_norms(net, x)),
    "stability.spectra": lambda net, x: of_findings(rs.stability.spectra(net, x)),
}


def equal(name, all_together, alone):
    assert all_together.keys() == alone.keys(), name
    for part, one in all_together.items():
        one, other = np.asarray(one), np.asarray(alone[part])
        assert one.shape == other.shape, (name, part)
        if one.dtype.kind == "f":
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12, err_msg=f"{name}: {part}")
        else:
            assert np.array_equal(one, other), (name, part, one, other)


def points(dim):
    entry = st.integers(-16, 16).map(lambda n: n / 8)
    point = st.lists(entry, min_size=dim, max_size=dim)
    return st.lists(point, min_size=2, max_size=4).map(np.array)


@pytest.mark.parametrize("name", POINTS)
@settings(max_examples=4)
@given(parameters=networks(num_inputs=2, num_outputs=2), x=points(2), far=st.sampled_from([0.0, 0.0, 3.0]))
def test_points(name, parameters, x, far):
    net, function = rs.load(parameters), POINTS[name]
    x[-1] += far * 0.37
    together = function(net, x)
    assert len(together) == len(x)
    for row in range(len(x)):
        equal(name, together[row], function(net, x[row : row + 1])[0])


def of_partition(part):
    offsets, ids = part.region_vertices
    order = np.argsort(part.witnesses[:, 0])
    corners = [part.vertices[ids[offsets[row] : offsets[row + 1]]] for row in order]
    return {
        "claim": str(part.claim),
        "words": part.codes.words[order],
        "corners": np.concatenate(corners),
        "finding": str(part.finding()),
        "note": part.note,
    }


@settings(max_examples=10)
@given(parameters=networks(num_inputs=3), ends=points(3), length=st.sampled_from([1.0, 1.0, 1e-9, 1e6]))
def test_segments(parameters, ends, length):
    net = rs.load(parameters)
    starts = np.vstack([ends, ends[:1] + 1.0])
    stops = starts + np.array([1.0, 0.375, -0.25]) * length
    segments = [rs.Segment(a, b) for a, b in zip(starts, stops, strict=True)]
    segments.append(rs.Segment(starts[0], starts[0] + [0.5, 2.0, 0.0]))
    for one, together in zip(segments, rs.partition(net, segments), strict=True):
        equal("partition", of_partition(together), of_partition(rs.partition(net, [one])[0]))
        equal("partition", of_partition(together), of_partition(rs.partition(net, one)))


@pytest.mark.slow
def test_segments_that_bounds_on_rounding_join():
    rng = np.random.default_rng(1)
    sizes = [32] + [100] * 10 + [1]
    layers = [(rng.normal(size=(b, a)) * (2 / a) ** 0.5, 0.01 * rng.normal(size=b)) for a, b in pairwise(sizes)]
    angle = np.linspace(0, 2 * np.pi, 401)[:, None]
    one, other = rng.normal(size=(2, 32))
    parts = rs.partition(rs.load(layers), rs.polyline(np.cos(angle) * one + np.sin(angle) * other))
    assert (sum(map(len, parts)), {str(part.claim) for part in parts}) == (2522, {"EXACT"})


def test_budgets_of_regions_are_those_of_each_segment():
    net = rs.load(default_network([2, 40, 40, 1], seed=0))
    segments = rs.polyline([[-3.0, -3.0], [3.0, -2.0], [2.0, 3.0], [0.0, 0.1]])
    whole = rs.partition(net, segments)
    for most in (10, 10_000):
        parts = rs.partition(net, segments, budget=rs.Budget(regions=most))
        for part, one in zip(parts, whole, strict=True):
            assert len(part) >= min(most, len(one))
            assert (part.note == "") == (len(one) <= most) or len(part) == len(one)


def test_an_ended_budget_of_seconds_gives_every_segment():
    net = rs.load(default_network([2, 40, 40, 1], seed=0))
    segments = rs.polyline([[-3.0, -3.0], [3.0, -2.0], [2.0, 3.0], [0.0, 0.1]])
    parts = rs.partition(net, segments, budget=rs.Budget(seconds=0))
    assert [len(part) > 0 or part.num_open > 0 for part in parts] == [True] * 3
    assert {part.note.split(":")[0] for part in parts if part.num_open} <= {"budget of 0 s"}
