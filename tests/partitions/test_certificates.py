"""Certificates: what passes the independent checker, and that planted faults do not."""

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from importlib import import_module
from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import reluscope as rs
from oracles.rational_steps import RELU, affine
from oracles.rational_steps import network_of as steps_as_network
from partitions import hostile
from partitions.checking import truth_on
from partitions.layered import GATES, gate_layers, network_of
from reluscope.checking.unit_conditions import UnitConditions
from reluscope.errors import CertificateError, InputError
from reluscope.files.sealed_files import to_sealed_json
from reluscope.findings import Claim
from reluscope.networks.building.builder import GraphBuilder
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.partitions.exact.certificates import Certificate
from reluscope.partitions.exact.exact_regions import exact_regions
from reluscope.testing import check_certificate, default_network, pseudo_random_network, reference_networks
from reluscope.testing.strategies import boxes, degenerate_networks, slices


def sheared(parameters, seed=0):
    """The same network up to a change of basis, which in floats breaks coincident cuts into slivers."""
    (weight, bias), *others = parameters
    size = weight.shape[1]
    return [(weight @ np.linalg.qr(np.random.default_rng(seed).normal(size=(size, size)))[0], bias), *others]


def codes_of(part):
    return {tuple(row) for row in part.codes.to_array().tolist()}


def flat(certificate):
    return {tuple(piece for gate in code for piece in gate) for code in certificate.codes}


@pytest.mark.parametrize("reference", reference_networks(), ids=lambda reference: reference.name)
def test_reference_networks(reference):
    net, box = rs.load(reference.parameters), rs.Box(reference.lo, reference.hi, reference.num_inputs)
    part = rs.certify(rs.partition(net, box))
    assert check_certificate(part.certificate, net, box) == len(part)
    if "proper_activation" in reference.counts:
        assert len(part) == reference.counts["proper_activation"]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "sizes", [[1, 6, 6, 1], [2, 6, 6, 1], [3, 5, 5, 1], [4, 4, 4, 1], [5, 4, 3, 1], [6, 3, 2, 1]], ids=str
)
def test_generic_networks(sizes):
    net, box = rs.load(default_network(sizes, seed=3)), rs.Box(-1, 1, sizes[0])
    part, plain = rs.certify(rs.partition(net, box)), rs.partition(net, box)
    assert part.claim is Claim.EXACT
    assert check_certificate(part.certificate, net, box) == len(part)
    assert codes_of(part) == codes_of(plain) == flat(part.certificate)
    assert part.volumes().sum() == pytest.approx(box.volume())
    assert part.adjacency().sum() == plain.adjacency().sum()
    certified_codes = net.codes([[float(entry) for entry in part.certificate.witness(row)] for row in range(len(part))])
    assert np.array_equal(certified_codes.words, part.codes.words)


@settings(max_examples=40)
@given(data=st.data(), dim=st.integers(1, 4), turn=st.booleans())
def test_degenerate_networks(data, dim, turn):
    parameters = data.draw(degenerate_networks(num_inputs=dim, max_layers=2, max_width=4))
    box = data.draw(boxes(dim))
    net = rs.load(sheared(parameters) if turn else parameters)
    part = rs.certify(rs.partition(net, box))
    assert part.claim is Claim.EXACT
    assert check_certificate(part.certificate, net, box) == len(part)
    assert codes_of(part) == flat(part.certificate)
    if not turn:
        assert codes_of(part) == codes_of(rs.partition(net, box))


@settings(max_examples=30)
@given(layers=gate_layers(2, kinds=("max", "relu", "abs", "clamp", "softshrink")), box=boxes(2), turn=st.booleans())
def test_the_regions_are_those_of_the_rational_oracle(layers, box, turn):
    if turn:
        layers = [("affine", np.linalg.qr([[1.0, 2.0], [3.0, 4.0]])[0], np.zeros(2)), *layers]
    net, truth = network_of(layers, 2), truth_on(layers, box)
    # From no more than one region, so that all others are found by exact steps.
    found = exact_regions(net, box, net.codes(box.center[None]))
    assert check_certificate(found.certificate, net, box) == len(truth)
    assert flat(found.certificate) == truth.keys()
    assert check_certificate(rs.certify(rs.partition(net, box)).certificate, net, box) == len(truth)


@settings(max_examples=20)
@given(layers=gate_layers(3, kinds=("max", "relu", "abs", "clamp"), max_layers=2, max_width=4), box=boxes(3))
def test_other_gates_in_space(layers, box):
    net = network_of(layers, 3)
    part, plain = rs.certify(rs.partition(net, box)), rs.partition(net, box)
    assert check_certificate(part.certificate, net, box) == len(part)
    assert codes_of(part) == codes_of(plain)


@pytest.mark.parametrize(
    "regime", [hostile.far_away, hostile.nearly_parallel, hostile.badly_scaled, hostile.cancelling]
)
@pytest.mark.parametrize("seed", range(4))
def test_networks_that_floats_are_bad_at(regime, seed):
    layers, box = hostile.example(regime, seed, ("relu", "max"))
    net = network_of(layers, 2)
    part = rs.certify(rs.partition(net, box))
    assert check_certificate(part.certificate, net, box) == len(part)


@settings(max_examples=20)
@given(data=st.data(), dim=st.integers(1, 3))
def test_slices(data, dim):
    net = rs.load(data.draw(degenerate_networks(num_inputs=4, max_layers=2, max_width=3)))
    piece = data.draw(slices(4, dim))
    certificate = rs.certify(rs.partition(net, piece)).certificate
    assert check_certificate(certificate, net, piece) == len(rs.partition(net.restrict(piece), piece.window))


def test_slivers_that_floats_merge():
    # Six planes through one point before the change of basis, thin cells between them after it.
    rows = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, -1, 1], [2, 1, 1.0]])
    point = np.array([0.1, 0.2, -0.1])
    net = rs.load(sheared([(rows, -rows @ point), (np.ones((1, 6)), np.zeros(1))]))
    box = rs.Box(-1, 1, 3)
    plain, part = rs.partition(net, box), rs.certify(rs.partition(net, box))
    assert check_certificate(part.certificate, net, box) == len(part) > len(plain)
    assert codes_of(plain) < codes_of(part)
    assert part.finding().tolerance == 0
    assert part.volumes().min() < 1e-20
    assert part.volumes().sum() == pytest.approx(8.0)


def test_polyhedra():
    triangle = rs.Polyhedron([[1.0, 1, 0], [-1, 0.3, 0], [0, -1, 0.2], [0.1, 0, 1], [0, 0, -1], [0, 0, -2]], [1.0] * 6)
    net = rs.load(default_network([3, 5, 4, 1], seed=1))
    part = rs.certify(rs.partition(net, triangle))
    assert check_certificate(part.certificate, net, triangle) == len(part) == len(rs.partition(net, triangle))
    assert part.volumes().sum() == pytest.approx(triangle.volume())


class Shortcut(nn.Module):
    """Gates of three pieces, a maximum of two, a leaky slope, and a shortcut."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(5, 2)

    def forward(self, x):
        hidden = self.second(torch.nn.functional.hardtanh(2 * self.first(x)))
        pooled = torch.nn.functional.max_pool1d(hidden[:, None], 2)[:, 0]
        return torch.nn.functional.leaky_relu(self.last(torch.cat([x, pooled], dim=1)))


def test_a_network_with_branches():
    torch.manual_seed(0)
    net, box = rs.load(Shortcut().eval(), input_shape=(3,)), rs.Box(-1, 1, 3)
    part = rs.certify(rs.partition(net, box))
    assert {gate.num_pieces for gate in net.gates} == {2, 3}
    assert check_certificate(part.certificate, net, box) == len(part) == len(rs.partition(net, box))


def test_a_wrong_start_is_put_right():
    net, box = rs.load(default_network([3, 4, 3, 1], seed=2)), rs.Box(-1, 1, 3)
    truth = codes_of(rs.partition(net, box))
    nowhere = net.codes([[1e6, 1e6, -1e6]])
    for start in (nowhere, nowhere[:0]):
        found = exact_regions(net, box, start).certificate
        assert check_certificate(found, net, box) == len(truth)
        assert flat(found) == truth


@pytest.mark.parametrize("method", ["incidence", "cellwise", "tree"])
def test_every_engine_is_a_start(method):
    net, box = rs.load(default_network([3, 4, 3, 1], seed=2)), rs.Box(-1, 1, 3)
    part = rs.certify(rs.partition(net, box, method=method))
    assert check_certificate(part.certificate, net, box) == len(part) == len(rs.partition(net, box))
    assert part.facets.flips.shape[1] == 2
    assert part.volumes().sum() == pytest.approx(8.0)


def test_codes_that_break_a_tie_the_wrong_way_are_dropped():
    # A unit that is zero where x < 0 is on piece 0 there; of equal candidates the first one counts.
    eye, twice = np.eye(1), np.ones((2, 1))
    relu = network_of([("affine", eye, [0.0]), ("pointwise", *GATES["relu"])] * 2, 1)
    largest = network_of([("affine", twice, [0.0, 0.0]), ("max", [[0, 1]])], 1)
    for net, wrong, right in ((relu, [[[0]], [[1]]], {(0, 0), (1, 1)}), (largest, [[[1]]], {(0,)})):
        found = exact_regions(net, rs.Box(-1, 1, 1), rs.Codes.from_pieces(wrong, net.layout)).certificate
        assert flat(found) == right
        assert check_certificate(found, net) == len(right)


# Planted faults.


def drop_a_region(c):
    return replace(c, codes=c.codes[1:], corners=c.corners[1:])


def duplicate_a_region(c):
    return replace(c, codes=(*c.codes, c.codes[0]), corners=(*c.corners, c.corners[0]))


def move_a_vertex(c):
    inner = next((i for i, point in enumerate(c.vertices) if max(map(abs, point)) < 1), 0)
    moved = tuple(entry + Fraction(1, 10**30) for entry in c.vertices[inner])
    return replace(c, vertices=(*c.vertices[:inner], moved, *c.vertices[inner + 1 :]))


def flip_a_bit(c):
    (first, *others), *gates = c.codes[0]
    return replace(c, codes=(((1 - first, *others), *gates), *c.codes[1:]))


def swap_two_codes(c):
    return replace(c, codes=(c.codes[1], c.codes[0], *c.codes[2:]))


def swap_a_corner(c):
    mine = next(v for v in c.corners[0] if v not in c.corners[1])
    yours = next(v for v in c.corners[1] if v not in c.corners[0])
    first = tuple(yours if v == mine else v for v in c.corners[0])
    second = tuple(mine if v == yours else v for v in c.corners[1])
    return replace(c, corners=(first, second, *c.corners[2:]))


def forget_a_corner(c):
    return replace(c, corners=(c.corners[0][1:], *c.corners[1:]))


def copy_a_vertex(c):
    return replace(c, vertices=(*c.vertices, c.vertices[0]))


def name_no_vertex(c):
    return replace(c, corners=((-1, *c.corners[0][1:]), *c.corners[1:]))


def enlarge_the_domain(c):
    return replace(c, half_spaces=tuple((*normal, 2 * bound) for *normal, bound in c.half_spaces))


def shrink_the_domain(c):
    return replace(c, half_spaces=tuple((*normal, bound / 2) for *normal, bound in c.half_spaces))


def shorten_a_code(c):
    return replace(c, codes=(c.codes[0][:-1], *c.codes[1:]))


def name_no_piece(c):
    (_, *others), *gates = c.codes[0]
    return replace(c, codes=(((2, *others), *gates), *c.codes[1:]))


FAULTS = {
    drop_a_region: "belongs to 1 regions, not two",
    duplicate_a_region: "two regions have the same code",
    move_a_vertex: "is on the wrong side|no unit",
    flip_a_bit: "same code|wrong side",
    swap_two_codes: "wrong side",
    swap_a_corner: "wrong side|no unit",
    forget_a_corner: "no unit|edge|zero throughout",
    copy_a_vertex: "two vertices are the same point",
    name_no_vertex: "a corner is no vertex",
    enlarge_the_domain: "no unit|belongs to 1 regions",
    shrink_the_domain: "and the domain: a vertex is on the wrong side",
    shorten_a_code: "does not fit the network",
    name_no_piece: "does not fit the network",
}


@pytest.mark.few(7)
@pytest.mark.parametrize("dim", [1, 2, 3, 4])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_planted_fault_is_seen(fault, dim):
    net, box = rs.load(pseudo_random_network(dim, (4, 3))), rs.Box(-1, 1, dim)
    good = rs.certify(rs.partition(net, box)).certificate
    assert check_certificate(good, net) == len(good) > 3
    with pytest.raises(CertificateError, match=f"proves nothing: .*({FAULTS[fault]})"):
        check_certificate(fault(good), net)


@pytest.mark.parametrize("dim", [1, 2])
def test_a_point_that_is_no_vertex(dim):
    net = rs.load(pseudo_random_network(dim, (4, 3)))
    good = rs.certify(rs.partition(net, rs.Box(-1, 1, dim))).certificate
    edge = good.corners[0] if dim == 1 else {*good.corners[0]} & {*good.corners[1]}
    middle = tuple(sum(column) / 2 for column in zip(*(good.vertices[corner] for corner in edge), strict=True))
    first = (*good.corners[0], len(good.vertices))
    wrong = replace(good, vertices=(*good.vertices, middle), corners=(first, *good.corners[1:]))
    with pytest.raises(CertificateError, match="an edge has 3 vertices"):
        check_certificate(wrong, net)


def test_another_network_or_domain():
    net, other = (rs.load(default_network([2, 4, 1], seed=seed)) for seed in (0, 1))
    good = rs.certify(rs.partition(net, rs.Box(-1, 1, 2))).certificate
    with pytest.raises(CertificateError, match="it is of another network"):
        check_certificate(good, other)
    with pytest.raises(CertificateError, match="wrong side"):
        check_certificate(replace(good, fingerprint=other.fingerprint), other)
    for domain in (rs.Box(-1, 2, 2), rs.Plane([0, 0], [1, 0], [0, 1]), rs.Box(-1, 1, 3)):
        with pytest.raises(CertificateError, match="it is of another domain"):
            check_certificate(good, net, domain)


def test_domains_that_a_box_is_not():
    net = rs.load(default_network([2, 4, 1], seed=0))
    rows, ends = np.vstack([np.eye(2), -np.eye(2)]), np.ones(4)
    good = rs.certify(rs.partition(net, rs.Polyhedron(rows, ends))).certificate
    flat_square = rs.Polyhedron(rows, ends, [[1.0, 0.0]], [0.5])
    in_space = rs.Slice(np.zeros(2), np.eye(2), flat_square)
    for domain in (flat_square, in_space, rs.Space(2), rs.Space(3), rs.Polyhedron([[1.0]], [1.0])):
        with pytest.raises(CertificateError, match="it is of another domain"):
            check_certificate(good, net, domain)
    assert check_certificate(good, net, rs.Slice(np.zeros(2), np.eye(2), rs.Polyhedron(rows, ends))) == len(good)


@cache  # one strategy: a new one in every draw may behave differently when the draw is repeated
def of_anything():
    numbers = st.integers(-2, 9) | st.fractions(-1, 1, max_denominator=4) | st.floats() | st.booleans()
    leaves = st.none() | numbers | st.text(max_size=2) | st.just(rs.Box(0, 1, 2)) | st.just(np.ones(2))
    return st.recursive(
        leaves,
        lambda part: st.lists(part, max_size=4).map(tuple) | st.lists(part, max_size=2) | st.sets(numbers, max_size=2),
        max_leaves=12,
    )


@st.composite
def somewhere_else(draw, value, depth=0):
    """A nested tuple with something else at some place of it."""
    if depth == 3 or not isinstance(value, tuple) or not value or draw(st.booleans()):
        return draw(of_anything())
    place = draw(st.integers(0, len(value) - 1))
    kept = draw(st.sampled_from(["all", "before", "twice"]))
    changed = draw(somewhere_else(value[place], depth + 1))
    after = {"all": value[place + 1 :], "before": (), "twice": (changed, *value[place + 1 :])}[kept]
    return (*value[:place], changed, *after)


def refusal(*arguments, number=None):
    """The one sentence that refuses arguments of the checker, None where they prove all regions."""
    try:
        assert check_certificate(*arguments) == (number or len(FUZZED))
    except (CertificateError, InputError) as error:
        return error if "\n" not in str(error) else None
    return None


FUZZED_NET = rs.load(default_network([2, 3, 2, 1], seed=0))
FUZZED = rs.certify(rs.partition(FUZZED_NET, rs.Plane([0, 0], [1, 0], [0, 1]))).certificate


@settings(max_examples=150)
@given(data=st.data(), name=st.sampled_from(["fingerprint", "lift", "half_spaces", "vertices", "codes", "corners"]))
def test_whatever_a_certificate_holds_there_is_one_sentence(data, name):
    forged = replace(FUZZED, **{name: data.draw(somewhere_else(getattr(FUZZED, name)))})
    wrong = refusal(forged, FUZZED_NET)
    assert isinstance(wrong, CertificateError) if wrong else forged.codes == FUZZED.codes


@settings(max_examples=60)
@given(data=st.data(), place=st.integers(0, 2))
def test_whatever_the_checker_is_given_there_is_one_sentence(data, place):
    part = rs.partition(FUZZED_NET, rs.Box(-1, 1, 2))
    others = [FUZZED, FUZZED_NET, part, part[0], part.codes, rs.Box(-1, 1, 3), rs.Segment([0, 0], [1, 1]), rs.Box, rs]
    arguments = [FUZZED, FUZZED_NET, None]
    arguments[place] = data.draw(st.sampled_from(others) | of_anything())
    assert refusal(*arguments) or any(arguments[place] is one for one in (FUZZED, FUZZED_NET, None))


def test_what_floats_merged_proves_nothing():
    # Two lines at distance 1e-13: the strip between them is a region.
    net = rs.load([(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([0.0, 1e-13])), (np.ones((1, 2)), np.zeros(1))])
    box = rs.Box(-1, 1, 2)
    good = rs.certify(rs.partition(net, box)).certificate
    assert len(good) == 3
    strip = good.codes.index(((0, 1),))
    kept = [row for row in range(3) if row != strip]
    merged = replace(good, codes=tuple(good.codes[r] for r in kept), corners=tuple(good.corners[r] for r in kept))
    with pytest.raises(CertificateError, match="belongs to 1 regions"):
        check_certificate(merged, net)


@pytest.mark.parametrize("has_lift", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_conditions_hold_for_the_code_of_a_point_and_for_no_other(has_lift, seed):
    """Networks of small whole numbers at points with many ties; what is strict is above 0 off the other piece."""
    rng, dim = np.random.default_rng(seed), 2
    clamp, most = ("pointwise", [0.0, 1.5], [0.0, 0.5, 0.0], [0.0, 0.0, 0.75]), ("max", 3)
    kinks = [[clamp, most], [most, clamp], [RELU, clamp], [most, RELU]][seed]
    sizes = [3, *(2 * (kink[1] if kink[0] == "max" else 1) for kink in kinks)]
    tables = [(rng.integers(-2, 3, (size, 2)), rng.integers(-2, 3, size)) for size in sizes]
    first = (rng.integers(-2, 3, (sizes[1], 3)), tables[1][1])
    steps = [affine(*tables[0]), affine(*first), kinks[0], affine(*tables[2]), kinks[1], affine(np.ones((1, 2)), [0.5])]
    net, lift = steps_as_network(steps, 2), ()
    if has_lift:
        lift = tuple(tuple(map(Fraction, row)) for row in rng.integers(-2, 3, (3, 2)).tolist())
    units = UnitConditions(net, lift, dim)
    counts = [[stage.gate.num_pieces] * stage.gate.num_units for stage in net.stages]
    codes = list(product(*(list(product(*map(range, one))) for one in counts)))
    assert all(units.fit(code) for code in codes)
    functions = {code: [(function, strict) for _, function, strict in units.conditions(code)] for code in codes}
    for point in (rng.integers(-4, 5, (25, dim)) / 2.0).tolist():
        x = (
            [a + sum(t * b[i] for t, b in zip(point, lift[1:], strict=True)) for i, a in enumerate(lift[0])]
            if lift
            else point
        )
        own = tuple(tuple(piece[0].tolist()) for piece in pieces_of(net.codes(np.array([x], dtype=float))))
        for code, rows in functions.items():
            values = [(sum(a * t for a, t in zip(row, [*point, 1], strict=True)), strict) for row, strict in rows]
            assert all(value > 0 or (value == 0 and not strict) for value, strict in values) == (code == own)


def test_padding_of_a_window_is_no_candidate():
    """Windows of three with one entry before the first: against the largest of those that there are."""
    builder = GraphBuilder()
    weight, bias = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 1.0], [-2.0, -1.0]]), np.array([-1.0, 0.0, -1.0, -5.0])
    x = builder.linear(builder.input((2,)), torch.from_numpy(weight), torch.from_numpy(bias))
    net = builder.build(builder.flatten(builder.max_pool(builder.reshape(x, (1, 4)), 3, 2, 1)))
    units = UnitConditions(net, (), 2)
    (table,) = (stage.gate.index.tolist() for stage in net.stages)
    assert sorted(map(sorted, table)) == [[-1, 0, 1], [1, 2, 3]]
    for point in np.random.default_rng(0).integers(-4, 5, (40, 2)) / 2.0:
        values = [*(weight @ point + bias), -np.inf]
        own = tuple(int(np.argmax([values[entry] for entry in row])) for row in table)
        for code in product(range(3), repeat=2):
            assert units.fit((code,)) == all(row[piece] >= 0 for row, piece in zip(table, code, strict=True))
            if units.fit((code,)):
                rows = [(np.dot(row[:2], point) + row[2], strict) for _, row, strict in units.conditions((code,))]
                assert all(value > 0 or (value == 0 and not strict) for value, strict in rows) == (code == own)


def test_the_piece_of_a_tie_is_not_free():
    # The second unit is zero on the whole half x < 0, where its piece is 0.
    net = rs.load([(np.array([[1.0]]), np.zeros(1)), (np.array([[1.0]]), np.zeros(1)), (np.ones((1, 1)), np.zeros(1))])
    good = rs.certify(rs.partition(net, rs.Box(-1, 1, 1))).certificate
    assert set(good.codes) == {((0,), (0,)), ((1,), (1,))}
    wrong = replace(good, codes=tuple(((0,), (1,)) if code == ((0,), (0,)) else code for code in good.codes))
    with pytest.raises(CertificateError, match="zero throughout is another piece"):
        check_certificate(wrong, net)


def test_save_and_load(tmp_path):
    piece = rs.Segment([0.0, 0.1, 0.2], [1.0, -1.0, 0.5])
    net = rs.load(default_network([3, 6, 6, 1], seed=0))
    good = rs.certify(rs.partition(net, piece)).certificate
    good.save(tmp_path / "certificate.json")
    again = Certificate.load(tmp_path / "certificate.json")
    assert again == good
    assert check_certificate(again, net, piece) == len(good)
    plain = json.loads((tmp_path / "certificate.json").read_text(encoding="utf-8"))
    assert plain["format"] == "reluscope certificate 2"
    del plain["seal"]
    changed = ({**plain, "vertices": [["1/0"]]}, {**plain, "more": 1}, {**plain, "format": "reluscope certificate 1"})
    for damaged in ("", "{}", "[]", json.dumps(plain), *map(to_sealed_json, changed)):
        (tmp_path / "damaged.json").write_text(damaged, encoding="utf-8")
        with pytest.raises(InputError, match="is not a certificate as this version of reluscope writes it"):
            Certificate.load(tmp_path / "damaged.json")
    with pytest.raises(InputError, match="there is no file"):
        Certificate.load(tmp_path / "missing.json")


def test_numbers_of_any_length(tmp_path):
    # Python refuses decimal numbers of more than 4,300 digits.
    tiny = Fraction(1, 7**10_000)
    certificate = Certificate("", (), ((tiny, tiny, -tiny),), ((tiny, -tiny),), (), ())
    certificate.save(tmp_path / "certificate.json")
    assert Certificate.load(tmp_path / "certificate.json") == certificate


@pytest.mark.parametrize("dim", [2, 3])
def test_no_certificate_of_what_is_not_certified(dim, tmp_path):
    net, box = rs.load(default_network([dim, 6, 4, 1], seed=0)), rs.Box(-1, 1, dim)
    assert rs.partition(net, box).certificate is None
    with (
        patch("reluscope.partitions.driver.walk.safe_point", side_effect=KeyboardInterrupt),
        pytest.warns(match="interrupted"),
    ):
        stopped = rs.partition(net, box)
    with pytest.raises(InputError, match=r"complete partition .* got one with 1 unfinished cell:"):
        rs.certify(stopped)
    part = rs.certify(rs.partition(net, box))
    part.save(tmp_path / "part.arrow")
    with pytest.raises(InputError, match="needs the network"):
        _ = rs.Partition.load(tmp_path / "part.arrow").certificate
    assert rs.Partition.load(tmp_path / "part.arrow", network=net).certificate == part.certificate


def test_ctrl_c_leaves_what_floats_found(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module("reluscope.partitions.exact.exact_regions")._Regions, "visit", interrupt)
    net = rs.load(default_network([3, 4, 1], seed=0))
    with pytest.warns(UserWarning, match="without certificate"):
        part = rs.certify(rs.partition(net, rs.Box(-1, 1, 3)))
    assert (part.claim, part.certificate, part.note) == (Claim.LOWER, None, "interrupted")
    assert part.finding().interval[1] == float("inf")


def test_a_partition_that_is_wrong_after_all():
    net, box = rs.load(default_network([2, 6, 4, 1], seed=0)), rs.Box(-1, 1, 2)
    part = rs.certify(rs.partition(net, box))
    wrong = replace(part, codes=part.codes[1:])
    with pytest.raises(CertificateError, match="please report"):
        _ = wrong.certificate
