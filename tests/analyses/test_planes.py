"""Areas of classes against rational arithmetic; the view of a plane against the network itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reluscope as rs
from oracles.fractions_plane import rectangle, relu_layers, split
from reluscope.analyses.classification import predicted_classes
from reluscope.analyses.planes import class_areas, view_plane
from reluscope.analyses.planes.view import class_shares
from reluscope.datasets.demo import demo_network
from reluscope.datasets.digits import digits
from reluscope.errors import DegenerateGeometryError, InputError
from reluscope.testing import strategies

DATA = digits("test")
X = DATA.points.reshape(len(DATA), -1)
NET = rs.load(demo_network(), input_shape=(1, 8, 8))
BOX = rs.Box(-1, 1, 2)


@pytest.fixture(scope="module")
def view():
    return view_plane(NET, X[[0, 1, 2]])


def exact_areas(parameters, num_outputs):
    """Areas of classes in [-1, 1]^2: the winning candidate of one more max gate, in rational arithmetic."""
    layers = [*relu_layers(parameters), ("max", [list(range(num_outputs))])]
    areas = np.zeros(num_outputs)
    for piece in split(layers, rectangle(-1, 1)):
        areas[piece.code[-1]] += float(piece.measure)
    return areas


@given(st.data(), st.integers(2, 4))
def test_areas_of_classes_are_those_of_rational_arithmetic(data, num_outputs):
    parameters = data.draw(strategies.networks(num_inputs=2, max_layers=2, max_width=4, num_outputs=num_outputs))
    areas = class_areas(rs.partition(rs.load(parameters), BOX)).by_class(num_outputs)
    assert np.allclose(areas, exact_areas(parameters, num_outputs), atol=1e-9)


def test_a_class_that_wins_only_inside_a_region():
    # On one region: two outputs with opposite slopes, and a third above both around their tie and at no corner.
    affine = rs.load([(np.array([[4.0, 0.0], [-4.0, 0.0], [0.0, 0.0]]), np.array([0.0, 0.0, 1.0]))])
    areas = class_areas(rs.partition(affine, BOX))
    assert areas.by_class(3) == pytest.approx([1.5, 1.5, 1.0])
    assert len(areas) == 3


def test_polygons_hold_their_class_and_fill_the_window(view):
    areas = view.areas
    window = view.partition.domain.window
    assert areas.areas().sum() == pytest.approx(window.volume, rel=1e-12)
    assert (areas.areas() > 0).all()
    middles = np.add.reduceat(areas.corners, areas.offsets[:-1], axis=0) / np.diff(areas.offsets)[:, None]
    assert (predicted_classes(NET, view.partition.domain.lift(middles)) == areas.classes).all()
    assert (view.partition.locate(middles) == areas.regions).mean() > 0.999


def test_shares_sum_to_one(view):
    shares = class_shares(view)
    assert sum(map(float, shares)) == pytest.approx(1.0)
    assert {share.claim for share in shares} == {"EXACT"}


def test_a_single_output_has_two_classes():
    net = rs.load([(np.eye(2), np.full(2, 5.0)), (np.array([[1.0, 0.0]]), np.array([-5.5]))])
    assert class_areas(rs.partition(net, BOX)).by_class(2) == pytest.approx([3.0, 1.0])


def test_the_view_knows_its_samples(view):
    assert np.allclose(view.partition.domain.lift(view.samples), X[[0, 1, 2]])
    assert view.sample_classes.tolist() == predicted_classes(NET, X[[0, 1, 2]]).tolist()
    assert view.facet_gates.min() >= 0
    assert view.facet_gates.max() == 2
    regions, facets, length = view.findings()
    assert int(regions) == len(view.partition)
    assert int(facets) == len(view.partition.facets)
    assert float(length) == view.boundary.length
    assert {one.claim for one in view.findings()} == {"EXACT"}


def test_the_boundary_is_where_polygons_of_other_classes_meet(view):
    # The decision boundary is half the perimeter of all classes, the window's own sides left out.
    areas = view.areas
    following = np.arange(1, len(areas.corners) + 1)
    following[areas.offsets[1:] - 1] = areas.offsets[:-1]
    middles = (areas.corners + areas.corners[following]) / 2
    sides = np.linalg.norm(areas.corners - areas.corners[following], axis=1)
    outputs = NET(view.partition.domain.lift(middles)).numpy()
    two = np.sort(outputs, axis=1)[:, -2:]
    tied = two[:, 1] - two[:, 0] < 1e-9
    assert sides[tied].sum() / 2 == pytest.approx(view.boundary.length, rel=1e-6)


def test_a_spent_budget_gives_lower_bounds(view):
    part = view_plane(NET, X[[0, 1, 2]], budget=500)
    assert {one.claim for one in part.findings()} == {"LOWER"}
    assert all(float(some) <= float(whole) for some, whole in zip(part.findings(), view.findings(), strict=True))
    assert {share.claim for share in class_shares(part)} <= {"ESTIMATE"}


def test_an_empty_view_is_one():
    part = view_plane(NET, X[[0, 1, 2]], budget=rs.Budget(seconds=0.0))
    assert len(part.partition) == len(part.areas) == len(part.boundary) == 0


def test_three_points_on_a_line():
    with pytest.raises(DegenerateGeometryError):
        view_plane(NET, np.stack([X[0], X[1], (X[0] + X[1]) / 2]))


def test_areas_need_a_plane():
    with pytest.raises(InputError, match="need a partition of a plane"):
        class_areas(rs.partition(NET, rs.Segment(X[0], X[1])))
