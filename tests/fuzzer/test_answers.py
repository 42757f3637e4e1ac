"""Answers of the oracle against known values, in fractions where they are rational."""

from fractions import Fraction

import numpy as np
import pytest

from fuzzer import true_answers as answers
from fuzzer import true_cones as cones
from fuzzer import true_topology
from fuzzer.true_layers import Dense, TruePointwise
from fuzzer.truth import TrueDomain, Truth

ZERO, ONE = Fraction(0), Fraction(1)


def dense(weight, bias):
    return Dense(tuple(tuple(map(Fraction, row)) for row in weight), tuple(map(Fraction, bias)))


def relu(units):
    return TruePointwise(((ZERO,),) * units, (((ZERO, ZERO), (ONE, ZERO)),) * units)


def square(half=1, dimension=2):
    rows = []
    for axis in range(dimension):
        for sign in (1, -1):
            rows.append((*(Fraction(sign * (axis == j)) for j in range(dimension)), Fraction(half)))
    return TrueDomain(dimension, tuple(rows))


# |x| + |y|, and min(x, y) beside it.
NORM = [
    dense([[1, 0], [-1, 0], [0, 1], [0, -1], [1, -1]], [0] * 5),
    relu(5),
    dense([[1, 1, 1, 1, 0], [1, -1, 0, 0, -1]], [0, 0]),
]


@pytest.fixture(scope="module")
def norm():
    return Truth(NORM, square(2))


def test_volumes_and_maxima_of_the_l1_norm(norm):
    ball = answers.parts_of(norm, [(ONE, ZERO)], [ONE])  # |x| + |y| <= 1
    assert answers.total_volume(ball, 2) == 2
    assert answers.largest(norm, [ONE, ZERO]) == 4
    assert answers.largest(norm, [ZERO, -ONE]) == 2
    assert not answers.parts_of(norm, [(ONE, ZERO)], [Fraction(-1, 10**30)])
    assert answers.parts_of(norm, [(ONE, ZERO)], [ZERO])  # one point
    assert answers.value_at(norm, (ONE, Fraction(-1, 2))) == (Fraction(3, 2), Fraction(-1, 2))


def test_outputs_and_the_volume_of_an_image(norm):
    # (|x| + |y|, min(x, y)) for |x|, |y| <= 2: (4, 2) is one, (4, -2.5) and (1, 0.75) are none.
    assert answers.is_output(norm, (Fraction(4), Fraction(2)))
    assert not answers.is_output(norm, (Fraction(4), Fraction(-5, 2)))
    assert not answers.is_output(norm, (ONE, Fraction(3, 4)))
    # For each m = min(x, y) the norm goes from 2 m to 2 + m (m >= 0), and from |m| to 2 + |m| (m <= 0).
    assert answers.image_volume(norm) == 2 + 4


def test_a_union_counts_what_overlaps_once():
    unit = [(ONE, ZERO, ZERO), (-ONE, ZERO, ONE), (ZERO, ONE, ZERO), (ZERO, -ONE, ONE)]
    moved = [(ONE, ZERO, Fraction(-1, 2)), (-ONE, ZERO, Fraction(3, 2)), *unit[2:]]
    parts = [cones.polyhedron(2, rows) for rows in (unit, moved, unit)]
    assert answers.union_volume(parts) == Fraction(3, 2)


def test_distances_to_a_square_in_three_norms():
    box = cones.polyhedron(2, [(ONE, ZERO, ZERO), (-ONE, ZERO, ONE), (ZERO, ONE, ZERO), (ZERO, -ONE, ONE)])
    point = (Fraction(4), Fraction(-4))
    assert answers.distance_power(box, point, "l2") == 25
    assert answers.distance_power(box, point, "l1") == 7
    assert answers.distance_power(box, point, "linf") == 4
    assert answers.distance_power(box, (ONE, ZERO), "l2") == 0


def test_distances_to_random_polyhedra_are_those_of_fine_grids():
    generator = np.random.default_rng(0)
    for _ in range(5):
        rows = generator.integers(-3, 4, (4, 2))
        rows = [(*map(Fraction, row.tolist()), Fraction(3)) for row in rows if row.any()]
        cone = cones.polyhedron(2, [*rows, *square(2).rows])
        grid = np.stack(np.meshgrid(*[np.linspace(-2, 2, 401)] * 2), axis=-1).reshape(-1, 2)
        values = grid @ np.array([[float(entry) for entry in row[:-1]] for row in cone.rows]).T
        values = values + [float(row[-1]) for row in cone.rows]
        inside = grid[(values[:, 1:] >= -1e-9).all(1)]
        point = generator.integers(-5, 6, 2)
        for norm, order in (("l1", 1), ("l2", 2), ("linf", np.inf)):
            found = float(answers.distance_power(cone, tuple(map(Fraction, point.tolist())), norm))
            found = found**0.5 if norm == "l2" else found
            assert abs(found - np.linalg.norm(inside - point, ord=order, axis=1).min()) < 0.03


def test_where_classes_change_and_where_they_only_touch():
    # |x| - t is of class 1 outside of [-t, t]; -|x| never is above 0, and touches it.
    for weight, bias, distance in (([[1, 1]], [-1], Fraction(1, 2)), ([[-1, -1]], [0], None)):
        layers = [dense([[1], [-1]], [0, 0]), relu(2), dense(weight, bias)]
        truth = Truth(layers, TrueDomain(1, ()))
        point = (Fraction(1, 2),)
        label, ties = answers.class_at(truth, point)
        assert (label, ties) == (0, False)
        found = [answers.distance_power(part, point, "l2") for part in answers.changed_parts(truth.regions, label)]
        assert min(found, default=None) == (None if distance is None else distance**2)


def test_facets_by_the_dual_norm():
    truth = Truth([dense([[3, 4]], [0]), relu(1), dense([[1]], [0])], TrueDomain(2, ()))
    cell = next(cell for cell in truth.regions if cell.code == (1,))
    found = {norm: answers.facet_distance(cell, (ONE, ONE), norm) for norm in ("l1", "l2", "linf")}
    assert found == {"l1": Fraction(7, 4), "l2": Fraction(49, 25), "linf": ONE}


def test_a_loop_is_its_steps_one_after_the_other():
    layers = [dense([[1, 0], [0, 1]], [0, 0]), relu(2), dense([[1, -1]], [0])]
    matrix, control, shift = [(ONE, ONE), (ZERO, ONE)], [(ONE,), (Fraction(-1, 2),)], (ZERO, ONE)
    looped = Truth(answers.loop_layers(layers, matrix, control, shift, 3), square())
    once = Truth(layers, square(50))
    state = (Fraction(1, 3), Fraction(-1, 5))
    expected = state
    for _ in range(3):
        (output,) = answers.value_at(once, expected)
        expected = (expected[0] + expected[1] + output, expected[1] - output / 2 + 1)
    assert answers.value_at(looped, state) == expected


@pytest.mark.parametrize(
    ("level", "sign", "expected"),
    [
        (1, 0, [1, 1, 0]),
        (1, -1, [1, 0, 0]),
        (1, 1, [1, 1, 0]),
        (3, 1, [4, 0, 0]),
        (0, 0, [1, 0, 0]),
        (-1, -1, [0, 0, 0]),
    ],
)
def test_homology_of_the_l1_norm(norm, level, sign, expected):
    sets = []
    for cell in norm.regions:
        form = (*cell.outputs[0][:-1], cell.outputs[0][-1] - level)
        part = (cones.below, cones.on, cones.above)[sign + 1](cell.cone, cones.integers(form))
        sets += [] if part.is_empty else [part]
    assert true_topology.betti_numbers(sets, 2) == expected


def test_a_hollow_in_space():
    faces = []
    cube = cones.polyhedron(3, square(1, 3).rows)
    for _, members in cones.facets(cube):
        faces.append(cones.face(cube, members))
    closed = [cones.polyhedron(3, [*face.rows[1:], *_flat(face)]) for face in faces]
    assert true_topology.betti_numbers(closed, 3) == [1, 0, 1, 0]
    assert true_topology.betti_numbers(closed[1:], 3) == [1, 0, 0, 0]


def _flat(face):
    """Return the row that vanishes on a face, turned round."""
    row = next(row for row in face.rows[1:] if not any(cones.dot(row, ray) for ray in face.rays))
    return [tuple(-entry for entry in row)]


def test_lengths_count_what_lies_on_another_segment_once():
    def segment(low, high):
        return cones.polyhedron(2, [(ONE, ZERO, -low), (-ONE, ZERO, high), (ZERO, ONE, ZERO), (ZERO, -ONE, ZERO)])

    pieces = [segment(Fraction(0), Fraction(2)), segment(Fraction(1), Fraction(3)), segment(Fraction(5), Fraction(6))]
    assert true_topology.union_length(pieces) == 4.0
    assert true_topology.union_length([cones.polyhedron(1, [(ONE, ZERO), (-ONE, ZERO)])] * 2) == 1.0
