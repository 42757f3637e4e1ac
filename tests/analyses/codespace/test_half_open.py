"""Classes of codes against codes of points in relative interiors of faces, in rational arithmetic."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from partitions.layered import GATES, gate_layers, network_of
from reluscope.errors import DegenerateGeometryError, InputError
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.testing import boxes, degenerate_networks, reference_networks

MAX_REGIONS = 40


def exact_centers(part, cell_faces, region):
    """Return for every face the mean of its vertices as fractions, by the exact vertices of the region."""
    certificate = part.certificate
    exact = [certificate.vertices[corner] for corner in certificate.corners[region]]
    floats = np.array([[float(entry) for entry in vertex] for vertex in exact])
    nearest = [int(np.abs(floats - vertex).max(axis=1).argmin()) for vertex in cell_faces.vertices]
    assert sorted(set(nearest)) == sorted(nearest)
    return [
        [[sum(column) / len(face) for column in zip(*(exact[nearest[vertex]] for vertex in face), strict=True)]
         for face in level]
        for level in cell_faces.faces
    ]  # fmt: skip


def assert_classes_are_unions_of_faces(net, domain):
    part = rs.certify(rs.partition(net, domain))
    if part.certificate is None or len(part) > MAX_REGIONS:
        return
    exact = RationalNetwork(net)
    layout = part.codes.layout
    codes = set()
    for index in range(len(part)):
        region = rs.region(net, part.witnesses[index], domain=domain)
        if region.polyhedron.insphere().radius < 1e-4:
            return
        own = [region.code.to_array()[0, layout.units(gate)].tolist() for gate in range(len(layout))]
        cell = rs.codespace.half_open(region)
        faces = cell.faces()
        # The Euler characteristic of a polytope, itself included.
        assert sum((-1) ** dim * len(level) for dim, level in enumerate(faces.faces)) == 1
        for level, belongs in zip(exact_centers(part, faces, index), faces.belongs, strict=True):
            for center, is_in in zip(level, belongs, strict=True):
                pieces = exact.pieces(center)
                assert (pieces == own) == is_in
                codes.add(str(pieces))
        facets = cell.facets()
        assert sum(facets.belongs) == faces.belongs[-2].sum()
        assert len(facets.rows) == len(faces.faces[-2])
    # Codes without a region lie on faces of regions: together these are all codes.
    assert len(codes) == int(rs.count(net, domain, definition="activation", certify=True))


@given(degenerate_networks(num_inputs=st.integers(1, 2), max_layers=3, max_width=3), st.data())
@settings(max_examples=10)
def test_faces_have_the_code_or_not(parameters, data):
    net = rs.load(parameters)
    assert_classes_are_unions_of_faces(net, data.draw(boxes(net.num_inputs)))


@pytest.mark.slow
@given(
    st.integers(1, 2).flatmap(
        lambda dim: st.tuples(
            st.just(dim), gate_layers(dim, kinds=(*GATES, "max"), max_width=3, max_layers=2), boxes(dim)
        )
    )
)
@settings(max_examples=10)
def test_faces_with_all_kinds_of_gates(case):
    dim, layers, domain = case
    assert_classes_are_unions_of_faces(network_of(layers, dim), domain)


@pytest.mark.few(3)
@pytest.mark.parametrize("reference", [r for r in reference_networks() if len(r.parameters) > 1], ids=lambda r: r.name)
def test_reference_networks(reference):
    net = rs.load(reference.parameters)
    assert_classes_are_unions_of_faces(net, rs.Box(-4, 4, reference.num_inputs))


def test_a_redundant_strict_row_takes_a_corner_away():
    # Off are -x and -y, and on is x + y: the quadrant x, y >= 0 with its sides, but without the origin, where the third
    # row, redundant for the closure, is strict.
    weight = np.array([[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]])
    net = rs.load([(weight, np.zeros(3)), (np.ones((1, 3)), [0.0])])
    cell = rs.codespace.half_open(rs.region(net, [1.0, 1.0], domain=rs.Box(-2, 2, 2)))
    assert cell.is_strict.tolist() == [False, False, True, False, False, False, False]
    faces = cell.faces()
    assert [belongs.sum() for belongs in faces.belongs] == [3, 4, 1]
    assert cell.facets().belongs.all()
    assert cell.contains([[0.0, 0.0], [0.0, 1e-300], [2.0, 0.0]]).tolist() == [False, True, True]
    assert np.allclose(faces.centers(2), [[1.0, 1.0]])


@given(degenerate_networks(num_inputs=st.integers(1, 3), max_layers=3, max_width=4), st.data())
@settings(max_examples=25)
def test_membership_is_having_the_code(parameters, data):
    net = rs.load(parameters)
    dim = net.num_inputs
    quarters = st.lists(st.integers(-4, 4).map(lambda k: k / 4), min_size=dim, max_size=dim)
    points = np.array(data.draw(st.lists(quarters, min_size=2, max_size=12)))
    codes = net.codes(points)  # dyadic: without rounding
    for point, code in zip(points, codes, strict=True):
        try:
            region = rs.region(net, point)
        except DegenerateGeometryError:
            continue
        cell = rs.codespace.half_open(region)
        assert cell.contains(points).tolist() == [bool((other.words == code.words).all()) for other in codes]


def test_membership_is_exact_where_rounding_hides_it():
    net = rs.load([(np.array([[1.0, 1.0]]), np.array([-1.0])), (np.ones((1, 1)), [0.0])])
    cell = rs.codespace.half_open(rs.region(net, [1.0, 1.0]))
    tiny = 2.0**-60
    assert 1.0 + tiny == 1.0
    assert cell.contains([[1.0, 0.0], [1.0, tiny], [1.0, -tiny]]).tolist() == [False, True, False]
    assert bool(cell.contains([1.0, 1.0]))


def test_bad_input():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), [0.0])])
    cell = rs.codespace.half_open(rs.region(net, [1.0, 1.0]))
    with pytest.raises(InputError, match="bounded region"):
        cell.faces()
    with pytest.raises(InputError, match="2 coordinates"):
        cell.contains([1.0, 2.0, 3.0])
