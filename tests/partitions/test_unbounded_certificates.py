"""Certificates of all of space, half spaces, orthants and strips: cones one dimension higher, cut off by a simplex."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reluscope as rs
from oracles.codes_by_elimination import codes_by_elimination
from oracles.zaslavsky import num_bounded_cells, num_cells
from partitions.layered import gate_layers, network_of
from partitions.test_certificates import FAULTS, FUZZED_NET, codes_of, flat, refusal, somewhere_else
from reluscope.errors import CertificateError, InputError
from reluscope.findings import Claim
from reluscope.testing import check_certificate, default_network, pseudo_random_network
from reluscope.testing.strategies import degenerate_networks, dyadics


@st.composite
def unbounded(draw, dim):
    """All of space, a half space, an orthant, a strip, or a wedge, all through or beside the origin."""
    kind = draw(st.sampled_from(["space", "half", "orthant", "strip", "wedge"]))
    if kind == "space":
        return rs.Space(dim)
    eye = np.eye(dim)
    ends = np.array(draw(st.lists(dyadics(), min_size=dim, max_size=dim)))
    if kind == "orthant":
        return rs.Polyhedron(-eye, ends)
    row = np.array(draw(st.lists(st.integers(-2, 2), min_size=dim, max_size=dim).filter(any)), dtype=float)
    if kind == "half":
        return rs.Polyhedron(row[None], ends[:1])
    if kind == "strip" and dim > 1:
        return rs.Polyhedron(np.array([row, -row]), np.array([2.0 + ends[0], 2.5 - ends[0]]))
    return rs.Polyhedron(
        np.array([row, row + eye[0]]) if any(row + eye[0]) else row[None], ends[[0, -1]][: 1 + any(row + eye[0])]
    )


def sides_of(domain):
    outer = domain.polyhedron if isinstance(domain, rs.Space) else domain
    return [[*(-row), bound] for row, bound in zip(outer.A, outer.b, strict=True)]


@settings(max_examples=40)
@given(data=st.data(), dim=st.integers(1, 3))
def test_against_elimination_in_fractions(data, dim):
    parameters = data.draw(degenerate_networks(num_inputs=dim, max_layers=2, max_width=3))
    domain, net = data.draw(unbounded(dim)), rs.load(parameters)
    truth = codes_by_elimination(parameters, sides_of(domain))
    part = rs.certify(rs.partition(net, domain))
    assert (part.claim, part.certified, part.finding().tolerance) == (Claim.EXACT, True, 0)
    assert check_certificate(part.certificate, net, domain) == len(part) == len(truth)
    assert codes_of(part) == flat(part.certificate) == truth
    witnesses = [[float(entry) for entry in part.certificate.witness(row)] for row in range(len(part))]
    assert domain.contains(part.witnesses).all()
    np.testing.assert_array_equal(part.witnesses, np.reshape(witnesses, (-1, dim)))


@pytest.mark.parametrize(("dim", "width"), [(1, 9), (2, 7), (3, 6), (4, 5), (5, 4)])
def test_one_layer_in_general_position(dim, width):
    draw = np.random.default_rng(dim)
    net = rs.load([(draw.normal(size=(width, dim)), draw.normal(size=width)), (np.ones((1, width)), np.zeros(1))])
    part = rs.certify(rs.partition(net, rs.Space(dim)))
    assert check_certificate(part.certificate, net, rs.Space(dim)) == len(part) == num_cells(width, dim)
    assert part.is_bounded().sum() == num_bounded_cells(width, dim)
    assert part.boundedness_finding().claim is Claim.EXACT
    assert np.isfinite(part.volumes()).sum() == num_bounded_cells(width, dim)


@settings(max_examples=20)
@given(layers=gate_layers(2, kinds=("max", "relu", "abs", "clamp"), max_layers=2, max_width=4), data=st.data())
def test_other_gates(layers, data):
    net, domain = network_of(layers, 2), data.draw(unbounded(2))
    part = rs.partition(net, domain)
    proved = rs.certify(part)
    assert check_certificate(proved.certificate, net, domain) == len(proved)
    assert codes_of(proved) == codes_of(part)
    table = rs.tropical.pieces(net, domain)
    assert {sum(cell.code, ()) for cell in table.cells} == codes_of(proved)
    np.testing.assert_array_equal(proved.is_bounded(), part.is_bounded()[_rows(part, proved)])
    if part.has_vertices:  # not found by linear programs
        np.testing.assert_allclose(proved.volumes(), part.volumes()[_rows(part, proved)], rtol=1e-9)
    assert proved.adjacency().sum() == part.adjacency().sum()
    np.testing.assert_array_equal(proved.locate(proved.witnesses), np.arange(len(proved)))


def _rows(one, other):
    """The rows of a partition in which the codes of another one stand."""
    place = {tuple(code): row for row, code in enumerate(one.codes.to_array().tolist())}
    return np.array([place[tuple(code)] for code in other.codes.to_array().tolist()])


def test_a_strip_thinner_than_floats_show():
    # Two lines at distance 1e-13, and one at an angle of 1e-17 that crosses them far away.
    rows = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1e-17]])
    net = rs.load([(rows, np.array([0.0, 1e-13, 0.5])), (np.ones((1, 3)), np.zeros(1))])
    part = rs.certify(rs.partition(net, rs.Space(2)))
    assert check_certificate(part.certificate, net, rs.Space(2)) == len(part) == 6


@pytest.mark.parametrize(
    ("weight", "bias"),
    [
        ([[1e-300], [1.0]], [-1e10, 0.0]),
        ([[1e-200], [1e-200]], [-1e100, -1e101]),
        ([[1.0, 0.0], [1.0, 1e-200], [1.0, 2e-200]], [0.0, 1e100, 1e120]),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_corners_beyond_all_floats(weight, bias):
    net = rs.load([(np.array(weight), np.array(bias)), (np.ones((1, len(bias))), np.zeros(1))])
    space = rs.Space(net.num_inputs)
    part = rs.certify(rs.partition(net, space))
    truth = codes_by_elimination([(weight, bias), None], [])
    assert check_certificate(part.certificate, net, space) == len(part) == len(truth)
    assert not np.isnan(part.witnesses).any()


@pytest.mark.few(7)
@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_planted_fault_is_seen(fault, dim):
    net = rs.load(pseudo_random_network(dim, (4, 3)))
    domain = rs.Polyhedron(-np.eye(dim)[:1], np.ones(1))
    good = rs.certify(rs.partition(net, domain)).certificate
    assert good.is_of_cones
    assert check_certificate(good, net) == len(good) > 3
    with pytest.raises(CertificateError, match=f"proves nothing: .*({FAULTS[fault]})"):
        check_certificate(fault(good), net)


def test_what_is_left_out_far_away():
    net = rs.load(default_network([2, 4, 1], seed=0))
    space, box = rs.Space(2), rs.Box(-100, 100, 2)
    good, bounded = (rs.certify(rs.partition(net, domain)).certificate for domain in (space, box))
    is_bounded = rs.certify(rs.partition(net, space)).is_bounded()
    rows = np.flatnonzero(is_bounded).tolist()
    assert 0 < len(rows) < len(good)
    some = replace(good, codes=tuple(good.codes[r] for r in rows), corners=tuple(good.corners[r] for r in rows))
    no_sides = replace(bounded, half_spaces=())
    half = replace(good, half_spaces=((Fraction(1), Fraction(0), Fraction(0)),))
    for forged in (some, no_sides, half, replace(half, vertices=tuple(point[:-1] for point in half.vertices))):
        with pytest.raises(CertificateError, match="proves nothing"):
            check_certificate(forged, net)
    # All cones cut off at w = 1 / 4 rather than by the simplex alone.
    low = tuple((*point[:-1], min(point[-1], Fraction(1, 4))) for point in good.vertices)
    with pytest.raises(CertificateError, match="proves nothing"):
        check_certificate(replace(good, vertices=low), net)


FUZZED = rs.certify(rs.partition(FUZZED_NET, rs.Space(2))).certificate


@settings(max_examples=100)
@given(data=st.data(), name=st.sampled_from(["fingerprint", "lift", "half_spaces", "vertices", "codes", "corners"]))
def test_whatever_a_certificate_holds_there_is_one_sentence(data, name):
    forged = replace(FUZZED, **{name: data.draw(somewhere_else(getattr(FUZZED, name)))})
    wrong = refusal(forged, FUZZED_NET, rs.Space(2), number=len(FUZZED))
    assert isinstance(wrong, CertificateError) if wrong else forged.codes == FUZZED.codes


def test_other_domains():
    net = rs.load(default_network([2, 4, 1], seed=0))
    half = rs.Polyhedron([[1.0, 0.0]], [1.0])
    of_space, of_half = (rs.certify(rs.partition(net, domain)).certificate for domain in (rs.Space(2), half))
    flat_half = rs.Polyhedron([[1.0, 0.0]], [1.0], [[0.0, 1.0]], [0.0])
    for good, right in ((of_space, rs.Space(2)), (of_half, half)):
        assert check_certificate(good, net, right) == len(good)
        for domain in (rs.Space(2), rs.Space(1), rs.Space(3), half, flat_half, rs.Box(-1, 1, 2)):
            if domain != right:
                with pytest.raises(CertificateError, match="it is of another domain"):
                    check_certificate(good, net, domain)


def test_files(tmp_path):
    net = rs.load(default_network([2, 5, 1], seed=0))
    part = rs.certify(rs.partition(net, rs.Space(2)))
    part.certificate.save(tmp_path / "space.json")
    again = rs.Certificate.load(tmp_path / "space.json")
    assert again == part.certificate
    assert check_certificate(again, net, rs.Space(2)) == len(part)
    part.save(tmp_path / "space.arrow")
    loaded = rs.Partition.load(tmp_path / "space.arrow", network=net)
    assert loaded.certificate == part.certificate
    np.testing.assert_array_equal(loaded.is_bounded(), part.is_bounded())
    for changed in (
        replace(again, vertices=tuple(point[:-2] for point in again.vertices)),
        replace(again, vertices=(again.vertices[0][:-1], *again.vertices[1:])),
        replace(again, vertices=()),
    ):
        changed.save(tmp_path / "changed.json")
        with pytest.raises(InputError, match="is not a certificate as this version of reluscope writes it"):
            rs.Certificate.load(tmp_path / "changed.json")
