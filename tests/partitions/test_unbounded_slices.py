"""Rays, lines and whole planes as slices: the law of slices, bounded slices far enough, pictures and files."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reluscope as rs
from oracles.fractions_line import pieces_of
from reluscope.errors import InputError, ShapeError
from reluscope.testing import default_network, networks

POINT = st.lists(st.integers(-8, 8).map(lambda k: k / 4), min_size=3, max_size=3)
FAR = 2.0**40
WINDOWS = {"a": rs.Polyhedron([[1.0]], [1.0]), "b": rs.Polyhedron([[-1.0]], [0.0]), "both": rs.Space(1)}


def codes_of(part):
    return sorted(map(bytes, np.ascontiguousarray(part.codes.words)))


def codes_in_fractions(layers, low, high):
    """The codes along a line with dyadic layers, each once."""
    knots = sorted({end for piece in pieces_of([*layers[:-1], _all_units(layers)], low, high) for end in piece[:2]})
    return {tuple(_code(layers, (a + b) / 2)) for a, b in itertools.pairwise(knots)}


def _all_units(layers):
    width = len(layers[-2][0])
    return np.eye(width), np.zeros(width)


def _code(layers, x):
    values = [x]
    for weight, bias in layers[:-1]:
        before = [
            sum((Fraction(w) * v for w, v in zip(row.tolist(), values, strict=True)), Fraction(b))
            for row, b in zip(weight, bias.tolist(), strict=True)
        ]
        yield from (one > 0 for one in before)
        values = [max(one, Fraction(0)) for one in before]


@given(networks(3, max_layers=2, num_outputs=2), POINT, POINT, st.sampled_from(["a", "b", "both"]))
def test_rays_and_lines_in_fractions(layers, a, b, beyond):
    a, step = np.array(a), np.array([0.0, 0.0, 1.0]) if a == b else np.array(b) - np.array(a)
    # A direction of length 1 would be rounded, and a unit that is constant along the other one would not be.
    net, domain = rs.load(layers), rs.Slice(a, step[None], WINDOWS[beyond])
    part = rs.partition(net, domain)
    assert part.claim is rs.Claim.EXACT
    assert codes_of(part) == codes_of(rs.partition(net.restrict(domain), domain.window))  # the law of slices
    (weight, bias), *rest = layers
    along = [((weight @ step)[:, None], weight @ a + bias), *rest]
    low, high = (-FAR if beyond != "b" else 0.0), (FAR if beyond != "a" else 1.0)
    truth = codes_in_fractions(along, low, high)
    assert {tuple(row) for row in part.codes.to_array().astype(bool)} == truth
    assert int(rs.count(net, domain)) == len(truth)


def test_what_a_slice_says_of_itself(tmp_path):
    ray, line = (rs.Segment([0.0, 0, 0], [0, 3, 4], beyond=beyond) for beyond in ("b", "both"))
    plane = rs.Slice([0.0, 0, 1], [[1, 0, 0], [0, 1, 0]], rs.Space(2))
    wedge = rs.Slice([0.0, 0, 1], [[1, 0, 0], [0, 1, 0]], rs.Polyhedron([[-1, 0]], [0]))
    said = ["ray in 3 inputs", "line in 3 inputs", "whole plane in 3 inputs", "unbounded plane in 3 inputs"]
    net = rs.load(default_network([3, 8, 1], 0))
    for domain, text in zip((ray, line, plane, wedge), said, strict=True):
        assert not domain.is_bounded()
        assert domain.describe() == text
        assert domain.volume() == np.inf
        assert domain.diameter().upper == np.inf
        part = rs.partition(net, domain)
        part.save(tmp_path / "part.arrow")
        again = rs.Partition.load(tmp_path / "part.arrow", net)
        assert again.domain.describe() == text
        assert codes_of(again) == codes_of(part)
        assert codes_of(rs.partition(net, domain, method="tree")) == codes_of(part)
    assert ray.contains([[0, 30, 40], [0, -3, -4], [0, 3, 5]]).tolist() == [True, False, False]
    clipped = line.clip(rs.Box(-1, 1, 3))
    assert clipped.is_bounded()
    assert clipped.volume() == pytest.approx(2.5)


@pytest.mark.parametrize("beyond", ["a", "b", "both"])
def test_pictures_show_all_regions(beyond):
    net = rs.load(default_network([3, 8, 8, 2], 0))
    part = rs.partition(net, rs.Segment([0.0, 0.3, 0], [0.6, 1.1, 0], beyond=beyond))
    figure = rs.plots.partition(part, color=part.volumes() < 1)
    low, high = figure.axes[0].get_xlim()
    assert low < part.vertices.min() < part.vertices.max() < high or beyond != "both"
    assert rs.plots.boundaries(part).axes[0].get_xlim() == (low, high)
    with pytest.raises(InputError, match="without one"):
        rs.plots.partition(rs.Partition(**{**vars_of(part), "network": None}))


def vars_of(part):
    return {name: value for name, value in vars(part).items() if name in part.__dataclass_fields__}


def test_pictures_of_whole_planes_and_of_one_region():
    net = rs.load(default_network([3, 6, 2], 0))
    plane = rs.partition(net, rs.Slice([0.0, 0, 0], [[1, 0, 0], [0, 1, 0]], rs.Space(2)))
    rs.plots.partition(plane, color="class")
    flat = rs.load([(np.ones((1, 3)), np.ones(1))])
    rs.plots.partition(rs.partition(flat, rs.Segment([0.0, 0, 0], [1, 0, 0], beyond="both")))


def test_where_an_end_is_needed():
    net = rs.load(default_network([3, 8, 2], 0))
    ray = rs.Segment([0.0, 0, 0], [1, 0, 0], beyond="b")
    with pytest.raises(ShapeError, match="ray in 3 inputs"):
        rs.local.pieces_along(net, ray)
    with pytest.raises(InputError, match="ray in 3 inputs"):
        rs.maximize(net, ray, np.array([1.0, 0.0]))
    with pytest.raises(InputError, match="beyond must be"):
        rs.Segment([0.0], [1.0], beyond="c")


def check_classes(net, domain):
    """Intervals of classes cover the domain, and have the class of the network at points of theirs, far away too."""
    part = rs.partition(net, domain)
    found = rs.planes.class_intervals(part)
    low, high = {"ray": (0.0, np.inf), "line": (-np.inf, np.inf)}[domain.describe().split()[0]]
    assert (found.ends[0, 0], found.ends[-1, 1]) == (low, high)
    assert (found.ends[1:, 0] == found.ends[:-1, 1]).all()
    for label, region, (start, end) in zip(found.classes, found.regions, found.ends, strict=True):
        inner = max(start, min(end, 0.0) - FAR), min(end, max(start, 0.0) + FAR)
        points = np.linspace(*inner, 7)[1:-1, None]
        outputs = net(domain.lift(points)).numpy()
        scores = outputs if outputs.shape[1] > 1 else np.concatenate([0 * outputs, outputs], axis=1)
        assert (scores[:, label] >= scores.max(axis=1) - 1e-6 * (1 + np.abs(scores).max())).all()
        assert (part.locate(points) == region).all()
    return found


@pytest.mark.parametrize("number", [1, 2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_classes_on_rays_and_lines(number, seed):
    net = rs.load(default_network([3, 8, 8, number], seed))
    for beyond in ("b", "both"):
        check_classes(net, rs.Segment([0.0, 0.3, 0], [0.6, 1.1, 0.5], beyond=beyond))


@given(networks(3, max_layers=2, num_outputs=3), POINT, st.sampled_from(["b", "both"]))
def test_classes_of_degenerate_networks(layers, a, beyond):
    check_classes(rs.load(layers), rs.Slice(a, [[0.0, 1.0, 1.0]], WINDOWS[beyond]))


def test_known_classes_beyond_all_kinks():
    # The scores |x| and 10 tie at 10 and -10, and nothing bends there; of equal scores the lower class wins.
    net = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]], [10.0, 0.0, 0.0])])
    line = rs.partition(net, rs.Space(1))
    found = rs.planes.class_intervals(line)
    assert found.classes.tolist() == [1, 0, 0, 1]
    assert found.ends.tolist() == [[-np.inf, -10.0], [-10.0, 0.0], [0.0, 10.0], [10.0, np.inf]]
    assert found.by_class(3).tolist() == [20.0, np.inf, 0.0]
