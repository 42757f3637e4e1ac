"""Smooth activations that pieces replace: values and bounds against mpmath, outputs against the models."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from conformance.bad_input.values import is_one_sentence
from reluscope.errors import InputError, NotPiecewiseLinearError
from reluscope.networks.building.best_pieces import best_pieces, proved_error
from reluscope.networks.building.gates import round_up
from reluscope.networks.building.smooth_functions import ACCURACY, SMOOTH

mpmath.mp.dps = 50

_CUBIC = mpmath.mpf("0.044715")

# Written from the definitions, and with none of the library's arithmetic.
TRUTH = {
    "gelu": lambda x: x * mpmath.ncdf(x),
    "gelu_by_tanh": lambda x: x / (1 + mpmath.exp(-2 * mpmath.sqrt(2 / mpmath.pi) * (x + x**3 * _CUBIC))),
    "silu": lambda x: x / (1 + mpmath.exp(-x)),
    "mish": lambda x: x * mpmath.tanh(mpmath.log1p(mpmath.exp(x))),
    "hardswish": lambda x: x * min(max(x + 3, 0), 6) / 6,
    "softplus": lambda x: mpmath.log1p(mpmath.exp(x)),
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "tanh": mpmath.tanh,
}
NAMES = sorted(TRUTH)


def errors_at(name, pieces, x):
    which = np.searchsorted(pieces.points, x)
    lines = zip(x.tolist(), pieces.slopes[which].tolist(), pieces.intercepts[which].tolist(), strict=True)
    return [abs(TRUTH[name](mpmath.mpf(at)) - (mpmath.mpf(slope) * at + intercept)) for at, slope, intercept in lines]


@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_mpmath(name):
    function = SMOOTH[name]
    for x in [0.0, 1e-12, 0.3, 1.0, 2.5, 6.0, 14.0, 39.0]:
        for at in (x, -x):
            truth = TRUTH[name](mpmath.mpf(at))
            # Against the line 0: the value itself, rounded up once to a float.
            assert float(truth) == pytest.approx(float(function.values(np.array([at]))[0]), rel=1e-12, abs=1e-15)
            found = function.error(at, 0.0, 0.0)
            assert abs(truth) <= mpmath.mpf(found) <= abs(truth) * (1 + mpmath.mpf(2) ** -51) + 2 * ACCURACY


@pytest.mark.parametrize("name", NAMES)
def test_curvature_is_bounded(name):
    function = SMOOTH[name]
    draw = np.random.default_rng(3)
    for low in draw.uniform(-8, 8, 30):
        high = low + draw.choice([0.01, 0.5, 3.0])
        bound = function.curvature(low, high)
        for at in np.linspace(low, high, 9)[1:-1]:
            if any(abs(at - kink) < 1e-3 for kink in function.kinks):
                continue
            assert abs(mpmath.diff(TRUTH[name], mpmath.mpf(at), 2)) <= bound * (1 + 1e-12)


@pytest.mark.few(1)
@pytest.mark.parametrize("number", [3, 4, 7, 32, 100])
@pytest.mark.parametrize("name", NAMES)
def test_the_bound_holds_and_is_close_to_the_truth(name, number):
    pieces = best_pieces(name, number)
    near = np.linspace(pieces.points[0] - 4, pieces.points[-1] + 4, 2000)
    far = np.array([-1e6, -300.0, -40.0, 40.0, 300.0, 1e6])
    errors = errors_at(name, pieces, np.concatenate([near, pieces.points, far]))
    assert max(errors) <= pieces.error <= 1.03 * float(max(errors))
    assert len(pieces.slopes) == number


@pytest.mark.few(1)
@pytest.mark.parametrize("name", NAMES)
def test_pieces_meet_in_real_arithmetic(name):
    for number in (3, 33, 512):
        pieces = best_pieces(name, number)
        slopes, intercepts = ([Fraction(one) for one in table.tolist()] for table in (pieces.slopes, pieces.intercepts))
        assert (np.diff(pieces.points) > 0).all()
        for place, at in enumerate(map(Fraction, pieces.points.tolist())):
            assert slopes[place] * at + intercepts[place] == slopes[place + 1] * at + intercepts[place + 1]


@pytest.mark.few(2)
@pytest.mark.parametrize("name", NAMES)
def test_pieces_are_better_than_chords_of_equal_width(name):
    number, function = 16, SMOOTH[name]
    best = best_pieces(name, number)
    # The width at which chords are best, found by trying.
    chords = []
    for reach in np.linspace(1.0, 10.0, 40):
        points = np.linspace(-reach, reach, number - 1)
        values = function.values(points)
        ends = [slope * at + start for at, (slope, start) in ((-reach, function.left), (reach, function.right))]
        values[[0, -1]] = ends
        x = np.linspace(-12, 12, 4001)
        left, right = (line[0] * x + line[1] for line in (function.left, function.right))
        drawn = np.where(x < -reach, left, np.where(x > reach, right, np.interp(x, points, values)))
        chords.append(np.abs(drawn - function.values(x)).max())
    assert best.error < 0.75 * min(chords)


@pytest.mark.slow
def test_more_pieces_are_nearer():
    for name in NAMES:
        errors = [best_pieces(name, number).error for number in (4, 8, 16, 32, 64, 128)]
        assert errors == sorted(errors, reverse=True)
        assert errors[-1] < 1e-4


def test_two_pieces_of_gelu_are_a_relu():
    pieces = best_pieces("gelu", 2)
    assert (pieces.points.tolist(), pieces.slopes.tolist()) == ([0.0], [0.0, 1.0])
    assert pieces.error == pytest.approx(0.169971, rel=0.011)


def test_a_bound_that_is_too_small_would_be_seen():
    pieces = best_pieces("silu", 16)
    moved = pieces.intercepts + np.float64(0.01)
    assert proved_error(SMOOTH["silu"], pieces.points, pieces.slopes, moved) >= pieces.error + 0.0099
    x = np.linspace(pieces.points[0], pieces.points[-1], 500)
    assert max(errors_at("silu", pieces, x)) > 0.9 * pieces.error


MODELS = {
    "gelu": nn.GELU(),
    "gelu by tanh": nn.GELU(approximate="tanh"),
    "silu": nn.SiLU(),
    "tanh": nn.Tanh(),
    "sigmoid": nn.Sigmoid(),
    "softplus": nn.Softplus(),
    "steep softplus": nn.Softplus(beta=3.0),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", MODELS)
def test_outputs_are_as_near_to_the_model_as_is_said(name):
    torch.manual_seed(1)
    activation = MODELS[name]
    model = nn.Sequential(nn.Linear(2, 5), activation, nn.Linear(5, 5), nn.LeakyReLU(), nn.Linear(5, 4), activation)
    model.extend([nn.Unflatten(1, (1, 4)), nn.MaxPool1d(2), nn.Flatten(), nn.Linear(2, 2)]).double()
    word = name.split()[-1] if name == "steep softplus" else name.split()[0]
    net = rs.load(model, approximate={word: 24})
    assert len(net.approximations) == 2
    (note,) = [note for note in net.notes if "replaced by 24 linear pieces" in note]
    assert round_up(net.approximations[0].error) in note
    box = rs.Box(-1.5, 1.5, 2)
    found = net.approximation_error(box)
    assert all(str(claim) == "UPPER" for claim in found["approximation_error"].claims)
    x = 3 * torch.rand(5000, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(2)) - 1.5
    with torch.no_grad():
        away = (net(x) - model(x)).abs().amax(0).numpy()
    bound = found["approximation_error"].value
    assert (away <= bound).all()
    assert (bound <= 100 * away).all()
    assert net.verification.largest_deviation <= bound.max() * 20
    again = net.with_parameters({"0.bias": np.zeros(5)})
    assert len(again.approximations) == 2
    part = rs.partition(net, rs.Box(-0.5, 0.5, 2))
    assert str(part.claim) == "EXACT"
    assert "24 pieces in the place of" in part.finding().method


def test_a_last_activation_that_is_named_stays():
    model = nn.Sequential(nn.Linear(2, 2), nn.Sigmoid())
    assert rs.load(model).num_units == 0
    assert rs.load(model, approximate={"sigmoid": 8}).num_units == 2
    assert rs.load(model, approximate={"tanh": 8}).num_units == 0


def test_what_is_not_there_to_be_replaced_is_said():
    smooth = nn.Sequential(nn.Linear(2, 2), nn.GELU(approximate="tanh"), nn.Linear(2, 1))
    assert not any("The network has no" in note for note in rs.load(smooth, approximate={"gelu": 8}).notes)
    both = rs.load(smooth, approximate={"gelu": 8, "tanh": 8, "silu": 8})
    assert both.notes[-1] == "The network has no tanh and no silu that pieces could take the place of."
    plain = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))], approximate={"gelu": 8})
    assert plain.notes[-1] == "The network has no gelu that pieces could take the place of."


def test_nothing_was_replaced():
    net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    found = net.approximation_error(rs.Box(-1, 1, 2)).finding("approximation_error", 1)
    assert (found.value, str(found.claim)) == (0.0, "EXACT")


def test_distances_go_over_jumps():
    class Jumping(nn.Module):
        def __init__(self):
            super().__init__()
            self.line = nn.Linear(1, 1)
            nn.init.ones_(self.line.weight)

        def forward(self, x):
            y = nn.functional.silu(self.line(x))
            return y * (y > 0.5)

    net = rs.load(Jumping(), approximate={"silu": 8})
    bound = net.approximation_error(rs.Box(-20, 20, 1)).finding("approximation_error", 0).value
    assert 0.5 < bound < 0.6


def test_without_asking_they_are_refused_and_the_way_is_told():
    for name, activation in MODELS.items():
        with pytest.raises(NotPiecewiseLinearError, match=r"pieces in its place: approximate=\{'") as caught:
            rs.load(nn.Sequential(nn.Linear(2, 2), activation, nn.Linear(2, 2)))
        assert is_one_sentence(str(caught.value)), name


@pytest.mark.parametrize(
    ("approximate", "words"),
    [
        ({"gelu": 1}, "gelu is replaced by 2 to 512 pieces, got 1"),
        ({"tanh": 2}, "tanh is replaced by 3 to 512 pieces, got 2"),
        ({"gelu": 10_000}, "got 10000"),
        ({"gelu": 2.5}, "gives a number of pieces for gelu"),
        ({"gelu": True}, "gives a number of pieces for gelu"),
        ({"relu": 8}, r"names smooth functions \(gelu, silu, mish, hardswish, tanh, sigmoid, softplus\), got 'relu'"),
        ([("gelu", 8)], "mapping of names to values"),
    ],
)
def test_bad_input(approximate, words):
    with pytest.raises(InputError, match=words):
        rs.load(nn.Sequential(nn.Linear(2, 2), nn.GELU(), nn.Linear(2, 2)), approximate=approximate)


@pytest.mark.parametrize("box", [None, 3, rs.Box(-1, 1, 3), rs.Space(2)])
def test_a_bad_box_is_refused(box):
    net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    with pytest.raises(InputError, match="box must be a Box of the 2 inputs"):
        net.approximation_error(box)


@pytest.mark.slow
def test_onnx_files(tmp_path):
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    nodes = [
        helper.make_node("Gelu", ["x"], ["a"], approximate="tanh"),
        helper.make_node("Tanh", ["a"], ["b"]),
        helper.make_node("Softplus", ["b"], ["c"]),
        helper.make_node("Sigmoid", ["c"], ["d"]),
        helper.make_node("Relu", ["d"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 3]) for name in "xy"]
    model = helper.make_model(
        helper.make_graph(nodes, "g", ends[:1], ends[1:]), opset_imports=[helper.make_opsetid("", 20)], ir_version=9
    )
    onnx.save(model, tmp_path / "net.onnx")
    wanted = {"gelu": 16, "tanh": 16, "softplus": 16, "sigmoid": 16}
    net = rs.load(tmp_path / "net.onnx", approximate=wanted)
    assert [gate.replaces for gate in net.approximations] == ["gelu_by_tanh", "tanh", "softplus", "sigmoid"]
    x = torch.linspace(-3, 3, 60, dtype=torch.float64).reshape(20, 3)
    smooth = torch.sigmoid(nn.functional.softplus(torch.tanh(nn.functional.gelu(x, approximate="tanh"))))
    bound = net.approximation_error(rs.Box(-3, 3, 3))["approximation_error"].value.max()
    assert float((net(x) - smooth).abs().max()) <= bound < 0.02
    with pytest.raises(NotPiecewiseLinearError, match=r"Tanh at node 1.*approximate=\{'tanh': 32\}"):
        rs.load(tmp_path / "net.onnx", approximate={"gelu": 16})
