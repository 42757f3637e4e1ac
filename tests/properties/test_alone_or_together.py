"""Law: whatever takes many things answers for each as if it were alone, f(all)[i] == f([i])."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from properties.taking_many import BOX, BY_POSITION, DIGITS, EACH, NOT_OF_EACH, columns, taking_many
from reluscope.testing import default_network
from reluscope.testing.strategies import networks

# Shares of samples whose outputs are estimates, by which of them is the largest: where they tie, rounding decides.
OF_TIES = ("mapped_agreement", "mapped_accuracy", "drop")


def equal(name, all_together, alone, rtol=1e-9, atol=1e-12):
    assert all_together.keys() == alone.keys(), name
    for part, one in all_together.items():
        one, other = np.asarray(one), np.asarray(alone[part])
        assert one.shape == other.shape, (name, part)
        if one.dtype == object:
            equal(f"{name}: {part}", dict(enumerate(one.ravel())), dict(enumerate(other.ravel())), rtol, atol)
        elif one.dtype.kind == "f":
            np.testing.assert_allclose(one, other, rtol=rtol, atol=atol, err_msg=f"{name}: {part}")
        else:
            assert np.array_equal(one, other), (name, part, one, other)


def points(dim):
    entry = st.integers(-16, 16).map(lambda n: n / 8)
    point = st.lists(entry, min_size=dim, max_size=dim)
    return st.lists(point, min_size=2, max_size=4).map(np.array)


@pytest.mark.parametrize("name", EACH)
@settings(max_examples=4)
@given(parameters=networks(num_inputs=2, num_outputs=2), x=points(2), far=st.sampled_from([0.0, 0.0, 1.5]))
def test_points(name, parameters, x, far):
    net, function = rs.load(parameters), EACH[name]
    x[-1] += far * 0.37
    together = function(net, x)
    assert len(together) == len(x)
    for row in range(len(x)):
        alone = np.repeat(x[row : row + 1], row + 1 if name in BY_POSITION else 1, axis=0)
        equal(name, together[row], function(net, alone)[-1], DIGITS.get(name, 1e-9))


def test_every_function_that_takes_many_is_in_a_table():
    each = {name.split(" ")[0] for name in EACH}
    assert taking_many() == each | NOT_OF_EACH
    assert not each & NOT_OF_EACH


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
    for one, together in zip(segments, rs.partitions(net, segments), strict=True):
        equal("partition", of_partition(together), of_partition(rs.partitions(net, [one])[0]))
        equal("partition", of_partition(together), of_partition(rs.partition(net, one)))


@settings(max_examples=4)
@given(parameters=networks(num_inputs=3), corners=points(3))
def test_planes(parameters, corners):
    net = rs.load(parameters)
    planes = [rs.Plane(corner, corner + np.array([1, 0, 0.5]), corner + np.array([0, 1, -0.25])) for corner in corners]
    for one, together in zip(planes, rs.partitions(net, planes), strict=True):
        equal("partition", of_partition(together), of_partition(rs.partition(net, one)))


@settings(max_examples=4)
@given(parameters=networks(num_inputs=2, num_outputs=2))
def test_quantities_of_regions(parameters):
    part = rs.partition(rs.load(parameters), BOX)
    together = rs.measure_regions(part, "all")
    table, frame = part.to_table("all"), part.to_pandas("all")
    for name in together.columns:
        alone = rs.measure_regions(part, [name])
        of_all = dict(columns(together))
        equal(name, {part: of_all[part] for part, _ in columns(alone)}, dict(columns(alone)))
        of_one, frame_of_one = part.to_table([name]), part.to_pandas([name])
        assert of_one.equals(table.select(of_one.column_names)), name
        assert frame_of_one.equals(frame[list(frame_of_one.columns)]), name


@settings(max_examples=4)
@given(several=st.lists(networks(num_inputs=2, num_outputs=2), min_size=3, max_size=3))
def test_pairs_of_networks(several):
    nets = {str(place): rs.load(parameters) for place, parameters in enumerate(several)}
    x = np.random.default_rng(0).normal(size=(12, 2))
    labels = (x[:, 0] > 0).astype(int)
    together = rs.similarity.compare(nets, x, labels)
    for pair in combinations(nets, 2):
        alone = rs.similarity.compare({name: nets[name] for name in pair}, x, labels)
        for first, second in zip(alone.keys["first"], alone.keys["second"], strict=True):
            tables = [found.where(first=first, second=second) for found in (together, alone)]
            parts = [{part: one for part, one in columns(found) if not part.startswith(OF_TIES)} for found in tables]
            # Some are roots of differences of moments: of a number that is rounded to 1e-16.
            equal(f"compare {first} {second}", *parts, atol=1e-7)


@pytest.mark.slow
def test_segments_that_bounds_on_rounding_join():
    rng = np.random.default_rng(1)
    sizes = [32] + [100] * 10 + [1]
    layers = [(rng.normal(size=(b, a)) * (2 / a) ** 0.5, 0.01 * rng.normal(size=b)) for a, b in pairwise(sizes)]
    angle = np.linspace(0, 2 * np.pi, 401)[:, None]
    one, other = rng.normal(size=(2, 32))
    parts = rs.partitions(rs.load(layers), rs.polyline(np.cos(angle) * one + np.sin(angle) * other))
    assert (sum(map(len, parts)), {str(part.claim) for part in parts}) == (2522, {"EXACT"})


def test_budgets_of_regions_are_those_of_each_segment():
    net = rs.load(default_network([2, 40, 40, 1], seed=0))
    segments = rs.polyline([[-3.0, -3.0], [3.0, -2.0], [2.0, 3.0], [0.0, 0.1]])
    whole = rs.partitions(net, segments)
    for most in (10, 10_000):
        parts = rs.partitions(net, segments, budget=rs.Budget(regions=most))
        for part, one in zip(parts, whole, strict=True):
            assert len(part) >= min(most, len(one))
            assert (part.note == "") == (len(one) <= most) or len(part) == len(one)


def test_an_ended_budget_of_seconds_gives_every_segment():
    net = rs.load(default_network([2, 40, 40, 1], seed=0))
    segments = rs.polyline([[-3.0, -3.0], [3.0, -2.0], [2.0, 3.0], [0.0, 0.1]])
    parts = rs.partitions(net, segments, budget=rs.Budget(seconds=0))
    assert [len(part) > 0 or part.num_open > 0 for part in parts] == [True] * 3
    assert {part.note.split(":")[0] for part in parts if part.num_open} <= {"budget of 0 s"}
