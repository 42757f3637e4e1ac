"""Units are the user's: what analyses say of a network scales with its inputs and outputs, and nothing depends on it.

Powers of two change no digit of weights and points, so that a result in other units is the same number times a power of
two, which is read off a small change of units. Only what has units of its own, as probabilities have, is left out.
"""

import dataclasses
from enum import Enum

import numpy as np
import pytest

import reluscope as rs
from reluscope.analyses.samples.regression import fits
from reluscope.partitions.region_numbers import map_norms
from reluscope.testing import default_network

FIRST, SECOND = default_network([3, 6, 5, 3], seed=1), default_network([3, 6, 5, 3], seed=2)
POINTS = np.random.default_rng(0).normal(size=(6, 3))
TARGETS = np.random.default_rng(1).normal(size=(6, 3))
SMALL = 5
# Inputs times two to the first, outputs times two to the second.
SCALES = [(300, 300), (-300, 0), (-40, -300)]


class World:
    """A network, points, a box and a plane in which inputs, outputs and some hidden units have other units."""

    def __init__(self, inputs=0, outputs=0, hidden=0):
        self.unit, self.output_unit, self.hidden = 2.0**inputs, 2.0**outputs, hidden
        self.net, self.other = self.network(FIRST), self.network(SECOND)
        self.x = POINTS * self.unit
        self.targets = TARGETS * self.output_unit
        self.box = rs.Box(-3 * self.unit, 3 * self.unit, 3)
        self.plane = rs.Plane(*self.x[:3])

    def network(self, layers):
        (first, bias), (second, other), (last, constants) = layers
        sizes = 2.0 ** (self.hidden * np.array([1, 0, -1, 0, 1, 0]))
        return rs.load(
            [
                (first * sizes[:, None] / self.unit, bias * sizes),
                (second / sizes, other),
                (last * self.output_unit, constants * self.output_unit),
            ]
        )


def bodies(world):
    found = [region.polyhedron for region in rs.regions(world.net, world.x, domain=world.box)]
    return [(one.insphere(), one.volume(), one.vertices(), one.is_bounded()) for one in found]


def table(part):
    return len(part), part.claim, part.volumes(), part.is_bounded()


def aligned(world):
    found = rs.similarity.compare({"a": world.net, "b": world.other}, world.x, metrics=["features_cka", "procrustes"])
    pair = found.where(first="a", second="b")
    return [pair.finding(name) for name in ("features_cka", "features_procrustes")]


QUESTIONS = {
    "regions": bodies,
    "partition": lambda w: table(rs.partition(w.net, w.box)),
    "partition of a plane": lambda w: table(rs.partition(w.net, w.plane)),
    "count by the tree": lambda w: rs.count(w.net, w.box, method="tree"),
    "count in space": lambda w: rs.count(w.net, rs.Space(3)),
    "count by the tree in space": lambda w: rs.count(w.net, rs.Space(3), method="tree"),
    "region sizes": lambda w: rs.local.region_sizes(w.net, w.x[:2], domain=w.box),
    "null_space_rays": lambda w: rs.local.null_space_rays(w.net, w.x[:2], reach=0.2 * w.unit, count=20),
    "class shares": lambda w: rs.local.class_shares(w.net, w.x[:2], domain=w.box),
    "directions": lambda w: rs.local.directions(w.net, w.x[:2]),
    "pieces along": lambda w: rs.local.pieces_along(w.net, w.x[:2], w.x[2:4]),
    "inscribed balls": lambda w: rs.inscribed_balls(w.net, w.x[:2], domain=w.box),
    "certified": lambda w: rs.robustness.certified_radius(w.net, w.x[:2], norm="linf"),
    "boundary": lambda w: rs.robustness.boundary_distance(w.net, w.x[:2], norm="l2", domain=w.box),
    "decision": lambda w: rs.robustness.decision_distance(w.net, w.x[1:2], norm="l2", domain=w.box),
    "decision within": lambda w: rs.robustness.decision_distance_within(w.net, w.x[:2], norm="l2", domain=w.box),
    "local norms": lambda w: rs.coefficients.local_norms(w.net, w.x, margins=True),
    "margins": lambda w: rs.coefficients.linear_margins(w.net, w.x),
    "spectra": lambda w: rs.stability.spectra(w.net, w.x),
    "extremes": lambda w: rs.stability.extremes(w.net, w.x),
    "saliency": lambda w: rs.sensitivity.saliency(w.net, w.x),
    "complexity": lambda w: rs.sensitivity.local_complexity(w.net, w.x[:2], 0.5 * w.unit, norm="l2"),
    "ellipse": lambda w: rs.sensitivity.transitions(w.net, rs.sensitivity.ellipse(*w.x[:3])),
    "merged regions": lambda w: rs.compression.merge_regions(rs.partition(w.net, w.plane), 0.05 * w.output_unit),
    "adjacency": lambda w: rs.codespace.adjacency(w.net, w.x, domain=w.box),
    "preimage of a class": lambda w: rs.preimages.of(w.net, 1, domain=w.plane).volume(),
    "similarity": aligned,
    "fits": lambda w: fits(w.net, w.x, w.targets),
    "map norms": lambda w: map_norms.of(rs.partition(w.net, w.plane)),
}
# How an answer was found may depend on the last digit of solvers.
NO_ANSWER = {
    "work", "seconds", "num_branches", "definition", "domain", "method", "tolerance", "errors", "error", "quantity",
    "given",
}  # fmt: skip
# Points that are one of many, in the tolerance of a search.
LOOSE = {"beyond", "points"}


def leaves(value, path=()):
    """Yield what a result consists of: numbers, and words for all else."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        for place, number in enumerate(value.reshape(-1).tolist()):
            yield (*path, place), number
    elif isinstance(value, (float, np.floating)):
        yield path, float(value)
    elif isinstance(value, rs.Finding):
        yield from leaves((value.claim, float(value.value), value.interval), path)
    elif isinstance(value, dict):
        for name, one in value.items():
            if name not in NO_ANSWER | LOOSE:
                yield from leaves(one, (*path, name))
    elif isinstance(value, (tuple, list)) or (isinstance(value, np.ndarray) and value.dtype == object):
        for place, one in enumerate(value):
            yield from leaves(one, (*path, place))
    elif isinstance(value, np.ndarray):
        yield path, str(value.tolist())
    elif value is None or isinstance(value, (str, int, np.integer, np.bool_, Enum)):
        yield path, str(value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, (rs.Network, rs.Partition, rs.Box)):
        for field in dataclasses.fields(value):
            if field.name not in NO_ANSWER | LOOSE:
                yield from leaves(getattr(value, field.name), (*path, field.name))


def power(before, after):
    """Return the power of the unit in a number, None if it is none."""
    if before == after:
        return 0
    ratio = after / before if before and np.isfinite([before, after]).all() else -1.0
    exponent = np.log2(ratio) / SMALL if ratio > 0 else 0.5
    return round(exponent) if abs(exponent - round(exponent)) < 1e-7 else None


@pytest.mark.few(1)
@pytest.mark.parametrize("question", QUESTIONS)
def test_results_are_in_the_units_of_the_network(question):
    ask = QUESTIONS[question]
    here, *moved = (dict(leaves(ask(world))) for world in (World(), World(SMALL), World(0, SMALL)))
    units = {
        place: tuple(power(value, one[place]) for one in moved) if isinstance(value, float) else (0, 0)
        for place, value in here.items()
    }
    assert sum(None not in one for one in units.values()) > 0.5 * len(units)
    for scale in SCALES:
        there = dict(leaves(ask(World(*scale))))
        assert there.keys() == here.keys(), scale
        for place, value in here.items():
            if None in units[place]:
                continue
            if not isinstance(value, float):
                assert there[place] == value, (scale, place)
                continue
            exponent = int(np.dot(units[place], scale))
            with np.errstate(over="ignore"):
                expected = float(np.ldexp(value, exponent))
            if abs(exponent) < 1000:
                assert there[place] == pytest.approx(expected, rel=1e-7, abs=0.0), (scale, place)


# The maps of hidden layers are in the units of hidden units.
@pytest.mark.few(4)
@pytest.mark.parametrize("question", [question for question in QUESTIONS if question not in {"spectra", "extremes"}])
def test_hidden_units_may_have_any_scale(question):
    ask = QUESTIONS[question]
    here = dict(leaves(ask(World())))
    for exponent in (40, 300):
        there = dict(leaves(ask(World(hidden=exponent))))
        assert there.keys() == here.keys(), exponent
        for place, value in here.items():
            expected = pytest.approx(value, rel=1e-7, abs=0.0) if isinstance(value, float) else value
            assert there[place] == expected, (exponent, place)


def test_products_that_float64_does_not_hold_are_refused():
    with pytest.raises(rs.errors.InputError, match=r"between 1e-120 and 1e.120 in absolute value.*scale the network"):
        rs.partition(World(hidden=500).net, rs.Box(-3, 3, 3), method="incidence")


def test_cells_by_themselves_multiply_no_two_values():
    whole = rs.partition(World().net, rs.Box(-3, 3, 3))
    part = rs.partition(World(hidden=500).net, rs.Box(-3, 3, 3), method="cellwise")
    assert part.claim is rs.Claim.EXACT
    assert sorted(part.codes.to_array().tolist()) == sorted(whole.codes.to_array().tolist())
