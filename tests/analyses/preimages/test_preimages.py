"""Kinds of preimages: the hand cases, brute force, Wendel's probabilities, and certificates checked on their own."""

from math import comb

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import eye_array
from torch import nn

import reluscope as rs
from oracles.preimage_kinds import kind_by_enumeration
from reluscope.analyses.preimages import PreimageKind
from reluscope.analyses.preimages.kind_certificates import (
    Farkas,
    FullRank,
    PositiveCombination,
    RecessionDirection,
    SecondPoint,
)
from reluscope.analyses.preimages.null_cones import _by_program, _NullSpaceRows, decide_cone
from reluscope.analyses.preimages.ranks import null_space, smallest_singular_value_lower_sparse
from reluscope.errors import InputError, ShapeError, UnsupportedOperatorError
from reluscope_studies import preimages
from reluscope_studies.preimages import Error

TRIANGLE, SQUARE = [[1, 0], [0, 1], [-1, -1]], [[1, 0], [-1, 0], [0, 1], [0, -1]]
# Reference section 5: A, b, y, the kind, what Algorithm 1 says, and its error.
CASES = [
    ([[1, 0], [0, 1]], [0, 0], [1, 2], "SINGLETON", True, "NONE"),
    ([[1, 0], [0, 1]], [0, 0], [1, 0], "UNBOUNDED", False, "NONE"),
    (TRIANGLE, [-1, -1, -1], [0, 0, 0], "COMPACT", True, "NONE"),
    (TRIANGLE, [-1, -1, 2], [0, 0, 0], "SINGLETON", True, "NONE"),
    (TRIANGLE, [1, 1, 3], [0, 0, 0], "EMPTY", True, "EMPTY"),
    ([[1, 0], [-1, 0], [0, 1]], [-1, -1, -1], [0, 0, 0], "UNBOUNDED", True, "BOUNDARY"),
    ([[1, 0], [0, 1], [0, 0]], [-1, -1, -1], [0, 0, 0], "UNBOUNDED", True, "ZERO_ROW"),
    ([[1, 0], [-1, 0], [2, 0]], [-1, -1, -1], [0, 0, 0], "UNBOUNDED", True, "RANK"),
    ([[1, 0], [0, 1], [0, -1]], [0, -1, -1], [2, 0, 0], "COMPACT", True, "NONE"),
    ([[1, 0], [0, 1], [0, -1]], [0, -1, 1], [2, 0, 0], "SINGLETON", True, "NONE"),
    ([[1, 0], [2, 0], [0, 1]], [0, -9, -1], [2, 0, 0], "UNBOUNDED", True, "ZERO_ROW"),
    ([[1, 0], [-1, 0], [0, -1]], [0, 0, 0], [0, 0, 0], "UNBOUNDED", True, "BOUNDARY"),
    (SQUARE, [-1, -1, -1, -1], [0, 0, 0, 0], "COMPACT", True, "NONE"),
    ([*TRIANGLE, [1, 1]], [-1, -1, 2, -5], [0, 0, 0, 0], "SINGLETON", True, "NONE"),
    ([[-1, 0], [0, -1]], [0, 0], [0, 0], "UNBOUNDED", False, "NONE"),
]


@pytest.mark.parametrize(("matrix", "bias", "output", "kind", "finite", "error"), CASES)
def test_hand_cases(matrix, bias, output, kind, finite, error):
    found = rs.preimages.classify((matrix, bias), output)
    assert found.kind(0).name == kind
    assert found.is_proved[0]
    assert found.count(PreimageKind[kind]).claim is rs.Claim.EXACT
    mixed = rs.preimages.system((matrix, bias), output)
    assert all(certificate.check(mixed)[:2] == (True, True) for certificate in found.certificates[0])
    if kind != "EMPTY":
        assert mixed.violation(found.points[0]) == 0
    assert preimages.algorithm_1(matrix, bias, output) is finite
    compared = preimages.compare_with_algorithm_1((matrix, bias), output, found)
    assert compared.error(0).name == error
    assert int(compared.count(Error[error])) == 1
    assert compared.is_hidden_singleton[0] == (kind == "SINGLETON" and found.dims[0] > 0)


def whole_layers(number, seed):
    """Random layers of small whole numbers, with duplicated and zero rows, and outputs inside and outside the image."""
    generator = np.random.default_rng(seed)
    for _ in range(number):
        inputs, units = generator.integers(1, 4), generator.integers(1, 8)
        matrix, bias = generator.integers(-2, 3, (units, inputs)), generator.integers(-2, 3, units)
        inside = generator.random() < 0.6
        output = matrix @ generator.integers(-2, 3, inputs) + bias if inside else generator.integers(-3, 3, units)
        output = np.maximum(output, 0)
        if units > 1 and generator.random() < 0.3:
            matrix[-1], output[-1] = matrix[0] * generator.integers(-1, 3), 0
        yield matrix, bias, output


@pytest.mark.slow
def test_brute_force():
    kinds = set()
    for matrix, bias, output in whole_layers(80, 3):
        found = rs.preimages.classify((matrix, bias), output)
        kind = kind_by_enumeration(matrix.tolist(), bias.tolist(), output.tolist())
        assert found.kind(0).name == kind
        mixed = rs.preimages.system((matrix, bias), output)
        assert all(certificate.check(mixed).holds for certificate in found.certificates[0])
        kinds.add(kind)
    assert len(kinds) == 4


def test_a_row_of_zeros_takes_no_proof_away():
    matrix = [[0, -1, 1], [-1, 1, -2], [2, -2, 0], [-1, 2, 2], [0, 0, 0]]
    bias, output = [0, 0, 1, -1, 0], [1, 0, 2, 0, 0]
    found = rs.preimages.classify((matrix, bias), output)
    mixed = rs.preimages.system((matrix, bias), output)
    assert (found.kind(0), bool(found.is_proved[0])) == (PreimageKind.COMPACT, True)
    assert all(certificate.check(mixed).is_proof for certificate in found.certificates[0])
    bias[-1] = 1  # now the row asks for 0 <= -1
    assert not SecondPoint(*np.zeros((2, 3))).check(rs.preimages.system((matrix, bias), output)).is_proof


@settings(max_examples=100)
@given(seed=st.integers(0, 2**32), is_in_box=st.booleans(), scale=st.sampled_from([1.0, 0.1]))
def test_what_is_called_proved_checks(seed, is_in_box, scale):
    (matrix, bias, output), *_ = whole_layers(1, seed)
    layer, output = (matrix * scale, bias * scale), output * scale
    box = rs.Box(-3, 3, matrix.shape[1]) if is_in_box else None
    found = rs.preimages.classify(layer, output, domain=box)
    mixed = rs.preimages.system(layer, output)
    mixed = mixed if box is None else mixed.within(box)
    checks = [certificate.check(mixed) for certificate in found.certificates[0]]
    assert checks or not found.is_proved[0]
    assert all(check.is_proof for check in checks) or not found.is_proved[0]


@pytest.mark.slow
def test_brute_force_in_a_box():
    """A box is as good as its sides written as further units."""
    kinds = set()
    for matrix, bias, output in whole_layers(40, 4):
        size = matrix.shape[1]
        found = rs.preimages.classify((matrix, bias), output, domain=rs.Box(-1, 2, size))
        rows = np.concatenate([matrix, np.eye(size, dtype=int), -np.eye(size, dtype=int)])
        ends = np.concatenate([bias, np.full(size, -2), np.full(size, -1)])
        zeros = np.concatenate([output, np.zeros(2 * size, dtype=int)])
        assert found.kind(0).name == kind_by_enumeration(rows.tolist(), ends.tolist(), zeros.tolist())
        mixed = rs.preimages.system((matrix, bias), output, domain=rs.Box(-1, 2, size))
        assert all(certificate.check(mixed).holds for certificate in found.certificates[0])
        kinds.add(found.kind(0))
    assert kinds == {PreimageKind.EMPTY, PreimageKind.SINGLETON, PreimageKind.COMPACT}


def test_a_false_certificate_is_seen():
    mixed = rs.preimages.system((SQUARE, [-1, -1, -1, -1]), [0, 0, 0, 0])
    one = np.ones(2)
    for certificate in (
        RecessionDirection(np.array([1.0, 0.0])),
        PositiveCombination(np.array([0, 1]), one),  # of rank 1
        PositiveCombination(np.array([0, 2, 3]), np.ones(3)),
        PositiveCombination(np.arange(4), np.ones(4), np.zeros(2)),  # nothing is tight there
        SecondPoint(np.zeros(2), np.array([2.0, 0.0])),
        SecondPoint(np.zeros(2), np.zeros(2)),
        Farkas(np.zeros(0), np.ones(4)),
        FullRank(np.zeros(0, dtype=int)),
    ):
        assert certificate.check(mixed)[:2] == (False, False)


@pytest.mark.few(2)
@pytest.mark.parametrize(("rows", "size"), [(3, 2), (4, 2), (6, 3), (8, 4)])
def test_wendel(rows, size):
    chance = 1 - sum(comb(rows - 1, i) for i in range(size)) / 2 ** (rows - 1)
    generator = np.random.default_rng(rows)
    number = 400
    found = [preimages.is_omnidirectional(generator.normal(size=(rows, size))) for _ in range(number)]
    assert all(one.claim is rs.Claim.EXACT for one in found)
    assert abs(np.mean([bool(one) for one in found]) - chance) < 4 * (chance * (1 - chance) / number) ** 0.5


def test_omnidirectional_for_a_point():
    assert preimages.is_omnidirectional(TRIANGLE, [-1, -1, 2], [1, 1])
    assert not preimages.is_omnidirectional(TRIANGLE, [-1, -1, 3], [1, 1])
    assert not preimages.is_omnidirectional(TRIANGLE[:2], [-1, -1], [1, 1])
    found = preimages.is_omnidirectional([[1, 0], [-1, 0], [0, 0]])
    assert not found
    assert found.certificate.check(found.system).is_proof


def test_omnidirectional_for_a_point_up_to_rounding():
    point = [0.1, 0.3]
    bias = -np.array(TRIANGLE) @ point
    exact = preimages.is_omnidirectional(TRIANGLE[:2], -np.array(TRIANGLE[:2]) @ point, point)
    assert (bool(exact), exact.claim) == (False, rs.Claim.EXACT)
    found = preimages.is_omnidirectional(TRIANGLE, bias, point)  # .1 + .3 is rounded
    assert (bool(found), found.claim) == (True, rs.Claim.ESTIMATE)
    assert preimages.is_omnidirectional(TRIANGLE, [-0.5, -0.25, 0.75], [0.5, 0.25]).claim is rs.Claim.EXACT


@pytest.mark.parametrize("scale", [1e-170, 1e200])
def test_sizes_whose_squares_are_lost_are_refused(scale):
    with pytest.raises(InputError, match="scale"):
        rs.preimages.classify((scale * np.array(TRIANGLE), np.zeros(3)), [0, 0, 0])
    with pytest.raises(InputError, match="scale"):
        preimages.is_omnidirectional(scale * np.array(TRIANGLE))
    if scale > 1:
        with pytest.raises(InputError, match="scale"):
            rs.preimages.classify((TRIANGLE, np.zeros(3)), [scale, 0, 0])
        with pytest.raises(InputError, match="scale"):
            rs.preimages.classify_at((TRIANGLE, np.zeros(3)), [scale, 0])
    for size in (1e-99, 1e99):
        assert rs.preimages.classify((size * np.array(TRIANGLE), np.zeros(3)), [0, 0, 0]).kind(0).name == "SINGLETON"


def trained_like(inputs, units, seed):
    """A layer of normal weights whose outputs have about as many positive entries as there are inputs."""
    generator = np.random.default_rng(seed)
    return generator.normal(size=(units, inputs)), np.full(units, -0.5 * inputs**0.5), generator


def test_many_inputs_and_every_certificate():
    matrix, bias, generator = trained_like(12, 40, 0)
    x = generator.normal(size=(60, 12)) * generator.uniform(0.3, 2, (60, 1))
    found = rs.preimages.classify_at((matrix, bias), x)
    layer = rs.preimages.read_layer((matrix, bias))
    assert {PreimageKind.SINGLETON, PreimageKind.COMPACT} <= set(found.kinds)
    assert found.is_proved.all()
    assert sum(found.decided_by(decider) for decider in rs.preimages.Decider) == 60
    for row, point in enumerate(x):
        mixed = rs.preimages.system(layer, layer(point[None])[0])
        assert all(certificate.check(mixed)[:2] == (True, True) for certificate in found.certificates[row])
        assert mixed.violation(point) < 1e-12
        assert mixed.polyhedron.is_bounded() or found.kinds[row] == PreimageKind.UNBOUNDED
    # With outputs in place of inputs all is the same, only that more equations than inputs have a point is not proved.
    again = rs.preimages.classify((matrix, bias), layer(x))
    assert (again.kinds == found.kinds).all()
    assert (again.is_proved | (again.num_equations > 12)).all()


def test_unbounded_preimages_of_many_inputs():
    matrix, bias, generator = trained_like(30, 40, 1)
    x = generator.normal(size=(20, 30))
    found = rs.preimages.classify_at((matrix, bias), x)
    assert int(found.count(PreimageKind.UNBOUNDED)) > 10
    layer = rs.preimages.read_layer((matrix, bias))
    for row in np.flatnonzero(found.kinds == PreimageKind.UNBOUNDED):
        (certificate,) = found.certificates[row]
        far = x[row] + 1e6 * certificate.direction
        assert np.allclose(layer(far[None]), layer(x[row : row + 1]), atol=1e-6)


def test_linear_programs_agree_with_least_squares():
    generator = np.random.default_rng(5)
    for rows, size in ((9, 4), (12, 4), (6, 4)) * 10:
        matrix = generator.normal(size=(rows, size))
        problem = _NullSpaceRows(np.eye(size), matrix, 1e-9)
        assert _by_program(problem).is_trivial == decide_cone(np.eye(size), matrix, 1e-9).is_trivial


def test_convolution_is_its_dense_matrix():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 24, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(24 * 144, 2))
    net = rs.load(model, input_shape=(3, 12, 12))
    layer = rs.preimages.read_layer(net)
    assert not isinstance(layer.weight, np.ndarray)
    x = np.random.default_rng(0).uniform(size=(2, 432))
    assert np.allclose(layer.preactivations(x), net.preactivations(x)[0])
    found = rs.preimages.classify_at(net, x)
    assert (found.kinds == PreimageKind.SINGLETON).all()
    assert found.is_proved.all()
    rank = np.linalg.matrix_rank(layer.weight.toarray()[layer.preactivations(x[:1])[0] > 0])
    assert rank == 432
    few = layer.weight[:600]
    assert (smallest_singular_value_lower_sparse(few) > 0) == (np.linalg.matrix_rank(few.toarray()) == 432)
    # Five channels leave directions open: sparse and dense decide alike.
    narrow = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 64, 2))
    small = rs.load(narrow, input_shape=(3, 8, 8))
    sparse = rs.preimages.read_layer(small)
    at = np.random.default_rng(1).uniform(size=(3, 192))
    dense = rs.preimages.classify_at((np.asarray(sparse.weight), sparse.bias), at)
    assert (rs.preimages.classify_at(small, at).kinds == dense.kinds).all()
    assert (rs.preimages.classify_at(small, at).dims == dense.dims).all()


def test_deeper_gates_and_shortcuts():
    class Shortcut(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)

        def forward(self, x):
            return torch.relu(x + self.second(torch.relu(self.first(x))))

    torch.manual_seed(1)
    net = rs.load(Shortcut(), input_shape=(3,))
    names = [gate.name for gate in net.gates]
    layer = rs.preimages.read_layer(net, names[1])
    assert layer.num_inputs == 6
    assert len(layer.reads) == 2
    x = np.random.default_rng(0).normal(size=(4, 3))
    read = rs.preimages.layer_inputs(net, x, 1)
    assert np.allclose(layer(read), net(x))
    assert len(rs.preimages.classify_at(net, x, gate=1)) == 4


def test_other_gates():
    def kind(activation, output, **options):
        net = rs.load(nn.Sequential(nn.Linear(1, 1, bias=False), activation), input_shape=(1,))
        weights = {name: np.ones((1, 1)) for name in ("0.weight",)}
        return rs.preimages.classify(net.with_parameters(weights), [output], **options).kind(0)

    assert kind(nn.LeakyReLU(0.125), -2.0) is PreimageKind.SINGLETON
    assert kind(nn.ReLU6(), 3.0) is PreimageKind.SINGLETON
    assert kind(nn.ReLU6(), 6.0) is PreimageKind.UNBOUNDED
    assert kind(nn.Hardtanh(), -1.0) is PreimageKind.UNBOUNDED
    assert kind(nn.Hardtanh(), -1.0, domain=rs.Box(-3, 3, 1)) is PreimageKind.COMPACT
    assert kind(nn.Hardtanh(), -1.0, domain=rs.Box(-1, 3, 1)) is PreimageKind.SINGLETON
    assert kind(nn.Hardtanh(), -1.0, domain=rs.Box(0, 3, 1)) is PreimageKind.EMPTY
    injective = rs.preimages.read_layer(rs.load(nn.Sequential(nn.Linear(2, 2), nn.LeakyReLU()), input_shape=(2,)))
    assert injective.is_injective
    assert not rs.preimages.read_layer((TRIANGLE, [0, 0, 0])).is_injective


def test_tight_rows_at_an_input():
    """An input where three units vanish at once is alone in its preimage."""
    found = rs.preimages.classify_at((TRIANGLE, [-1, -1, 2]), [1, 1])
    assert found.kind(0) is PreimageKind.SINGLETON
    boxed = rs.preimages.classify_at((SQUARE, [-9] * 4), [[0, 0], [1, 0]], domain=rs.Box(0, 1, 2))
    assert [boxed.kind(row) for row in range(2)] == [PreimageKind.COMPACT, PreimageKind.COMPACT]
    corner = rs.preimages.classify_at(([[1, 1], [0, 1]], [0, 0]), [[0, 0]], domain=rs.Box(0, 1, 2))
    assert corner.kind(0) is PreimageKind.SINGLETON


def test_sides_of_a_box_are_proved_tight():
    """In a corner of the box the sides leave one point; rational arithmetic is too slow for so many rows."""
    matrix, bias, generator = trained_like(60, 40, 2)
    corners = generator.integers(0, 2, (4, 60)).astype(float)
    found = rs.preimages.classify_at((matrix, bias), corners, domain=rs.Box(0, 1, 60))
    assert found.is_proved.all()
    assert (found.decided_by(rs.preimages.Decider.COMBINATION) > 0) == (PreimageKind.SINGLETON in found.kinds)
    inside = rs.preimages.classify_at((matrix, bias), np.full((1, 60), 0.5), domain=rs.Box(0, 1, 60))
    assert inside.kind(0) is PreimageKind.COMPACT


def test_a_null_space_within_rounding_is_no_proof():
    nearly = np.array([[1.0, 0.0], [1.0, 1e-13]])
    found = null_space(nearly, 1e-9)
    assert found.basis.shape == (2, 1)
    assert found.smallest == 0
    answer = rs.preimages.classify_at((nearly, [1.0, 1.0]), [[1.0, 1.0]])
    assert not answer.is_proved[0]
    finding = answer.count(answer.kind(0))
    assert (finding.claim, finding.interval) == (rs.Claim.UPPER, (0, 1))
    assert finding.interval == (0, 1)


def test_rounded_differences_are_no_proof():
    """In real arithmetic x = 1 and x = 1 + 1e-17 exclude each other; in floating point both are x = 1."""
    for bias in ([0.0, -1e-17], [-1e-17, 0.0]):
        found = rs.preimages.classify(([[1.0], [1.0]], bias), [1.0, 1.0])
        assert found.kind(0) is PreimageKind.SINGLETON
        assert not found.is_proved[0]
        assert found.count(PreimageKind.SINGLETON).interval == (0, 1)
    mixed = rs.preimages.system(([[1.0], [1.0]], [0.0, -1e-17]), [1.0, 1.0])
    assert 0 < mixed.error < 1e-16


def test_outputs_beside_a_flat_piece_are_no_proof():
    """Just below 6 a ReLU6 has one pre-activation, and within rounding of 6 all from 6 on."""
    net = rs.load([(np.ones((1, 1)), np.zeros(1)), (np.ones((1, 1)), np.zeros(1))])
    layer = rs.preimages.read_layer(net)
    table = (np.array([[0.0], [6.0]]), np.array([[0.0], [1.0], [0.0]]), np.array([[0.0], [0.0], [6.0]]))
    capped = rs.preimages.GateLayer(layer.weight, layer.bias, *table, name="relu6")
    for output, is_proved in ((6.0, True), (np.nextafter(6.0, 0.0), False), (3.0, True)):
        assert rs.preimages.classify(capped, [output]).is_proved[0] == is_proved


def test_bad_input():
    layer = (TRIANGLE, [0, 0, 0])
    with pytest.raises(InputError, match="pass what comes out of the gate"):
        rs.preimages.classify(layer, [-1, 0, 0])
    with pytest.raises(ShapeError, match="outputs of the 3 units"):
        rs.preimages.classify(layer, [[1, 0], [0, 0]])
    with pytest.raises(InputError, match="finite"):
        rs.preimages.classify(layer, [np.nan, 0, 0])
    with pytest.raises(InputError, match="finite"):
        rs.preimages.classify(([[np.inf]], [0]), [0])
    with pytest.raises(ShapeError, match="of length u"):
        rs.preimages.classify((TRIANGLE, [0, 0]), [0, 0, 0])
    with pytest.raises(ShapeError, match="coordinates, those that the layer reads"):
        rs.preimages.classify(layer, [0, 0, 0], domain=rs.Box(0, 1, 3))
    with pytest.raises(InputError, match="enlarge the domain"):
        rs.preimages.classify_at(layer, [2, 0], domain=rs.Box(0, 1, 2))
    with pytest.raises(InputError, match=r"between 0 and 0\.1"):
        rs.preimages.classify(layer, [0, 0, 0], tolerance=0)
    with pytest.raises(ShapeError, match="one output of 3"):
        rs.preimages.system(layer, np.zeros((2, 3)))
    with pytest.raises(InputError, match="both a bias"):
        preimages.is_omnidirectional(TRIANGLE, b=[0, 0, 0])
    net = rs.load(nn.Sequential(nn.Linear(4, 4), nn.MaxPool1d(2)), input_shape=(1, 4))
    with pytest.raises(UnsupportedOperatorError, match="unions"):
        rs.preimages.classify(net, [0, 0])
    with pytest.raises(InputError, match="gate must be"):
        rs.preimages.classify(rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))]), [0, 0], gate="relu 7")
    with pytest.raises(InputError, match="affine"):
        rs.preimages.classify(rs.load([(np.eye(2), np.zeros(2))]), [0, 0])

    class Absolute(nn.Module):
        def forward(self, x):
            return x.abs()

    with pytest.raises(InputError, match="on two"):
        rs.preimages.classify(rs.load(Absolute(), input_shape=(2,)), [1.0, 0.0])
    with pytest.raises(InputError, match="look at a smaller layer"):
        rs.preimages.classify_at((eye_array(400, 6001), np.zeros(400)), np.ones((1, 6001)))


def test_all_outputs_zero():
    found = rs.preimages.classify(([[1.0, 2.0]], [-1.0]), [0.0])
    assert found.kind(0) is PreimageKind.UNBOUNDED
    assert found.num_equations[0] == 0
    assert found.dims[0] == 2


def test_picture():
    matrix, bias, generator = trained_like(12, 40, 0)
    found = rs.preimages.classify_at((matrix, bias), generator.normal(size=(30, 12)))
    figure = rs.plots.preimages(found)
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels[0].startswith("singleton")
    assert sum(bar.get_height() for bar in figure.axes[0].patches) == 30
