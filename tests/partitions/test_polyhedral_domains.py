"""A polyhedron is its inequalities: partitions and counts of polygons and solids, exactly as their rows say."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reluscope as rs
from oracles import fractions_plane
from oracles.fractions_plane import relu_layers
from reluscope.analyses.counting.definitions import DEFINITIONS
from reluscope.errors import DegenerateGeometryError
from reluscope.findings import Claim
from reluscope.testing import check_certificate

ENGINES = ("incidence", "cellwise", "tree")
# A unit that is at most zero on the triangle, and zero at one of its corners.
TOUCHING = [(np.array([[-0.25, -2.0]]), np.array([-2.0])), (np.ones((1, 1)), np.zeros(1))]
TRIANGLE = rs.Polyhedron([[0, 1], [-1, -1], [1, 0]], [3, 1, 0])
TETRAHEDRON = rs.Polyhedron([[0, -1, 0], [0, 0, -2], [2, 1, 0], [-2, 0, 1]], [0, 1, 0, 2])


@pytest.mark.parametrize("definition", DEFINITIONS)
@pytest.mark.parametrize("certify", [False, True])
def test_a_corner_that_is_touched_is_not_cut_off(definition, certify):
    found = rs.count(rs.load(TOUCHING), TRIANGLE, definition=definition, certify=certify)
    assert (int(found), found.claim) == (1, Claim.EXACT)


@pytest.mark.parametrize("method", ENGINES)
def test_its_certificate_checks(method):
    net = rs.load(TOUCHING)
    part = rs.certify(rs.partition(net, TRIANGLE, method=method))
    assert check_certificate(part.certificate, net) == len(part) == 1


@pytest.mark.parametrize("method", ENGINES)
def test_a_tetrahedron_with_a_side_through_the_origin(method):
    net = rs.load([(np.array([[1.0, 2.0, -1.0]]), np.array([0.1])), (np.ones((1, 1)), np.zeros(1))])
    for part in (rs.partition(net, TETRAHEDRON, method=method), rs.certify(rs.partition(net, TETRAHEDRON))):
        assert (len(part), part.claim, len(part.facets)) == (2, Claim.EXACT, 1)


entries = st.integers(-3, 3)


@st.composite
def polygons(draw):
    """Integer rows with many zero offsets, some of them doubled, tripled, redundant or of extreme scale."""
    rows = draw(st.lists(st.tuples(entries, entries, st.integers(0, 3)), min_size=3, max_size=6))
    rows.append((-rows[0][0], -rows[0][1], 7))
    scales = [draw(st.sampled_from([1.0, 1.0, 3.0, 2.0**-40, 1e155, 1e-150])) for _ in rows]
    A = np.array([[scale * entry for entry in row[:2]] for row, scale in zip(rows, scales, strict=True)])
    b = np.array([scale * row[2] for row, scale in zip(rows, scales, strict=True)])
    polygon = rs.Polyhedron(A, b)
    corners = exact_corners(polygon)
    assume(corners is not None)
    return polygon, corners


def exact_corners(polygon):
    """Clip a large square by all rows; None if something of the square's sides is left, or nothing."""
    corners = [tuple(map(Fraction, corner)) for corner in fractions_plane.rectangle(-(10**6), 10**6)]
    for normal, bound in zip(polygon.A.tolist(), polygon.b.tolist(), strict=True):
        corners = fractions_plane._clip(corners, (*(-Fraction(entry) for entry in normal), Fraction(bound)))
    if len(corners) < 3 or fractions_plane.measure(corners) <= 0:
        return None
    diameter = max(
        abs(a - b) for one, other in itertools.combinations(corners, 2) for a, b in zip(one, other, strict=True)
    )
    if fractions_plane.measure(corners) <= diameter**2 / 10**12:  # flat but for rounding
        return None
    return None if any(abs(entry) == 10**6 for corner in corners for entry in corner) else corners


@st.composite
def small_networks(draw):
    widths = [2, *draw(st.lists(st.integers(1, 3), min_size=1, max_size=2)), 1]
    number = st.integers(-4, 4).map(lambda value: value / 4)
    return [
        (np.array([[draw(number) for _ in range(n)] for _ in range(m)]), np.array([draw(number) for _ in range(m)]))
        for n, m in itertools.pairwise(widths)
    ]


def exact_split(parameters, corners):
    identity = [(Fraction(1), Fraction(0), Fraction(0)), (Fraction(0), Fraction(1), Fraction(0))]
    pieces = [fractions_plane.Piece((), corners, identity)]
    for kind, *rest in relu_layers(parameters):
        step = {"affine": fractions_plane._affine, "pointwise": fractions_plane._pointwise}[kind]
        pieces = [child for piece in pieces for child in step(piece, *rest)]
    return {piece.code: float(piece.measure) for piece in pieces}


@given(polygons(), small_networks())
@settings(max_examples=60)
def test_polygons_by_rational_clipping(domain, parameters):
    polygon, corners = domain
    truth = exact_split(parameters, corners)
    net, total = rs.load(parameters), float(fractions_plane.measure(corners))
    for method in ENGINES:
        part = rs.partition(net, polygon, method=method)
        assert part.claim is Claim.EXACT
        codes = list(map(tuple, part.codes.to_array().tolist()))
        # Sides of very different scale leave slivers, thinner than what is told apart.
        assert all(truth[code] <= 1e-12 * total for code in truth.keys() ^ set(codes))
        if method != "tree":
            areas = dict(zip(codes, part.volumes().tolist(), strict=True))
            assert areas == pytest.approx({code: truth[code] for code in codes}, abs=1e-9 * total)
    certified = rs.certify(rs.partition(net, polygon))
    assert len(certified) == len(truth)
    assert check_certificate(certified.certificate, net) == len(truth)
    assert polygon.is_bounded()
    assert polygon.volume() == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize("method", ENGINES)
@pytest.mark.parametrize("last", [[1.0, -1.0], [0.0, 1.0]])
@pytest.mark.parametrize("large", [1e155, 0.1, 1e-150])
def test_a_polygon_that_is_flat_but_for_the_rounding_of_its_rows_is_refused(method, last, large):
    """Its exact corners are those of a triangle, in which no engine can tell on which side of a kink it is."""
    rows = np.array([[2 * large, -3 * large], [-2.0, 3.0], [-2.0, 3.0], last])
    net = rs.load([(np.array([[0.5, -0.75]]), np.zeros(1)), (np.ones((1, 1)), np.zeros(1))])
    with pytest.raises(DegenerateGeometryError, match="flat"):
        rs.partition(net, rs.Polyhedron(rows, [0.0, 0.0, 7.0, 1.0]), method=method)


@given(polygons(), small_networks(), st.data())
@settings(max_examples=20)
def test_slices_with_polygons_as_windows(domain, parameters, data):
    polygon, corners = domain
    basis = np.array(data.draw(st.sampled_from([[[1, 1], [-1, 1]], [[0, 2], [3, 0]], [[1, 0], [4, 1]]])), dtype=float)
    origin = np.array([0.5, -0.25])
    (weight, bias), *others = parameters
    on_window = [(weight @ basis.T, weight @ origin + bias), *others]  # dyadic, so that nothing is rounded
    part = rs.certify(rs.partition(rs.load(parameters), rs.Slice(origin, basis, polygon)))
    assert set(map(tuple, part.codes.to_array().tolist())) == exact_split(on_window, corners).keys()


@pytest.mark.slow
@pytest.mark.parametrize("dim", [3, 4])
def test_random_integer_polyhedra_go_through_every_engine(dim):
    generator = np.random.default_rng(dim)
    tried = 0
    net = rs.load(
        [(generator.integers(-4, 5, (3, dim)) / 4.0, np.array([0.25, 0.0, -0.5])), (np.ones((1, 3)), np.zeros(1))]
    )
    while tried < 25:
        rows = generator.integers(-2, 3, (dim + 3, dim)).astype(float)
        polyhedron = rs.Polyhedron(rows, generator.integers(0, 3, dim + 3).astype(float))
        if not (polyhedron.is_bounded() and polyhedron.insphere().radius > 1e-6):
            continue
        tried += 1
        certified = rs.certify(rs.partition(net, polyhedron))
        codes = set(map(tuple, certified.codes.to_array().tolist()))
        assert check_certificate(certified.certificate, net) == len(codes)
        for method in ENGINES:
            part = rs.partition(net, polyhedron, method=method)
            assert part.claim is Claim.EXACT
            assert set(map(tuple, part.codes.to_array().tolist())) == codes


def test_a_polyhedron_with_equations_is_no_domain():
    flat = rs.Polyhedron([[1, 0], [-1, 0]], [1, 1], [[0, 1]], [0])
    for method in ("auto", *ENGINES):
        with pytest.raises(DegenerateGeometryError, match="interior"):
            rs.partition(rs.load(TOUCHING), flat, method=method)


@pytest.mark.parametrize("scale", [1e155, 1e-155, 1e-200, 3.0])
def test_rows_of_any_scale_are_the_same_polyhedron(scale):
    square = rs.Polyhedron([[scale, 0], [-1, 0], [0, 1], [0, -1]], [scale, 1, 1, 1])
    assert square.volume() == pytest.approx(4.0)
    assert square.is_bounded()
    assert square.insphere().radius == pytest.approx(1.0)
    assert square.contains([[1.0, 1.0], [1.1, 0.0]]).tolist() == [True, False]
    assert len(square.facets()) == 4
    assert not rs.Polyhedron([[scale, 0], [0, 1], [0, -1]], [scale, 1, 1]).is_bounded()
