"""Laws of the unions of polyhedra: preimages, violations, images, covers and approximations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from reluscope.geometry.unions.union_of_polyhedra import UnionOfPolyhedra
from reluscope.testing.strategies import networks

WHOLE, HALF = rs.Box(-1, 1, 2), rs.Box([-1.0, -1.0], [0.25, 1.0])
TARGET = rs.Polyhedron([[1.0, 0.0], [-1.0, 1.0]], [0.25, 0.5])
STAY = rs.reachability.Plant(np.zeros((2, 2)), np.eye(2))  # one step gives the network's outputs


def pieces(net, box):
    return rs.preimages.of(net, TARGET, domain=box)


def asked(net, box):
    return rs.preimages.of(net, TARGET, domain=box, method="boxes")


def violated(net, box):
    return rs.violations(net, rs.verification.Property([rs.verification.Case(box.lo, box.hi, [TARGET])]))


def image(net, box):
    return rs.image(net, box)


def cover(net, box):
    return rs.reach(net, STAY, box, 1, budget=rs.Budget(regions=1))[1]


def approximated(net, box):
    return rs.preimages.of(net, TARGET, domain=box, budget=rs.Budget(regions=30), method="approximate")


# How a union is made, and whether its points are outputs.
KINDS = [(pieces, False), (asked, False), (violated, False), (approximated, False), (image, True), (cover, True)]
EACH = pytest.mark.parametrize(("kind", "of_outputs"), KINDS, ids=[kind.__name__ for kind, _ in KINDS])


def drawn(parameters):
    net = rs.load(parameters)
    points = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    return net, points, net(points).reshape(200, -1).cpu().numpy()


def ends(finding):
    error = finding.tolerance or 0.0
    return finding.interval or (finding.value - error, finding.value + error)


def distance_to_rows(points):
    return np.abs((points @ TARGET.A.T - TARGET.b) / np.linalg.norm(TARGET.A, axis=1)).min(axis=1)


@EACH
@settings(max_examples=8)
@given(parameters=networks(num_outputs=2, max_layers=2), way=st.tuples(st.integers(-3, 3), st.integers(-3, 3)))
def test_points_volumes_and_maxima_fit_together(kind, of_outputs, parameters, way):
    net, points, outputs = drawn(parameters)
    found, direction = kind(net, WHOLE), np.array(way, dtype=float)
    assert isinstance(found, UnionOfPolyhedra)
    assert found.dim == 2
    if of_outputs:  # every output of the domain is in it
        inside = outputs
        assert found.contains(outputs, 1e-6).all()
    else:
        is_in, is_clear = found.contains(points), distance_to_rows(outputs) > 1e-6
        is_asked = TARGET.contains(outputs)
        assert not (is_in & is_clear & ~is_asked).any()
        assert kind is approximated or (is_in | ~is_asked | ~is_clear).all()
        inside = points[is_in]
        share, (low, high) = 4 * is_asked.mean(), ends(found.volume())
        assert low - 1.0 <= share <= high + 1.0  # seven deviations of the sample
    low, high = ends(found.maximum(direction))
    size = 1e-6 * (1 + np.abs(inside @ direction).max(initial=0.0))
    assert kind in (pieces, asked, violated) or (inside @ direction <= high + size).all()
    assert found.claim == found.volume().claim or of_outputs or kind is pieces


@EACH
@settings(max_examples=5)
@given(parameters=networks(num_outputs=2, max_layers=2))
def test_less_has_no_more_volume_and_no_larger_maximum(kind, of_outputs, parameters):
    net, direction = drawn(parameters)[0], np.array([1.0, -0.5])
    part, whole = kind(net, HALF), kind(net, WHOLE)
    assert ends(part.volume())[0] <= ends(whole.volume())[1] + 1e-9
    if kind not in (asked, violated, pieces):  # the others have certain ends
        assert ends(part.maximum(direction))[0] <= ends(whole.maximum(direction))[1] + 1e-9


@pytest.mark.parametrize("kind", [pieces, asked, violated])
@settings(max_examples=8)
@given(parameters=networks(num_outputs=2, max_layers=2))
def test_the_maximum_of_pieces_is_attained(kind, parameters):
    net = drawn(parameters)[0]
    found, direction = kind(net, WHOLE), np.array([1.0, 2.0])
    value = found.maximum(direction).value
    tops = [piece.maximize(direction).point for piece in found]
    assert found.contains(np.reshape(tops, (-1, 2)), 1e-9).all()
    assert np.isclose(value, max((float(top @ direction) for top in tops), default=-np.inf))
    # Nothing is known of how far rounding moved the pieces; of no pieces there is no value.
    assert found.maximum(direction).claim is (rs.Claim.ESTIMATE if len(found) else rs.Claim.LOWER)


@EACH
@settings(max_examples=4)
@given(parameters=networks(num_outputs=2, max_layers=2))
def test_a_file_and_a_table_hold_all_of_it(kind, of_outputs, parameters, tmp_path_factory):
    net, points, outputs = drawn(parameters)
    found, path = kind(net, WHOLE), tmp_path_factory.mktemp("unions") / "union.arrow"
    found.save(path)
    again = type(found).load(path)
    table, points = found.to_table(), outputs if of_outputs else points
    assert table.num_rows == len(found) == len(again)
    assert again.to_table().equals(table)
    assert (repr(again), again.volume().value, again.claim) == (repr(found), found.volume().value, found.claim)
    # Without its network an image has no fractions that show that its pieces are flat.
    assert isinstance(found, rs.reachability.Image) or again.volume() == found.volume()
    assert (again.contains(points) == found.contains(points)).all()
    if kind is not approximated:  # it has lost the network that proves its best points
        assert again.maximum([1.0, 0.5]) == found.maximum([1.0, 0.5])
    for one, other in zip(found, again, strict=True):
        assert all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("A", "b", "C", "d"))


@EACH
def test_others_files_and_points_are_refused(kind, of_outputs, tmp_path):
    found = kind(rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))]), WHOLE)
    noun = found.coordinates
    with pytest.raises(rs.errors.ShapeError, match=f"points of 2 {noun}"):
        found.contains(np.zeros((1, 3)))
    with pytest.raises(rs.errors.ShapeError, match=f"2 coefficients, one for each {noun[:-1]}, got 3"):
        found.maximum(np.zeros(3))
    with pytest.raises(rs.errors.InputError, match=f"index must be from 0 to {len(found) - 1}"):
        found[len(found)]
    rs.partition(rs.load([(np.eye(2), np.zeros(2))]), WHOLE).save(tmp_path / "part.arrow")
    with pytest.raises(rs.errors.InputError):
        type(found).load(tmp_path / "part.arrow")
