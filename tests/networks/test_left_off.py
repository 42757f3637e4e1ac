"""What a file ends with and its network does not: remembered, and brought before it, against PyTorch and 700 digits."""

import pickle
from decimal import Decimal, localcontext
from fractions import Fraction

import mpmath
import numpy as np
import onnx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from torch import nn

import reluscope as rs
from conformance.onnx_runtime import run_in_runtime
from reluscope.checking.file_conditions import on_network
from reluscope.errors import InputError, NotPiecewiseLinearError
from reluscope.networks.file_outputs import Rounding, file_outputs, on_scores
from reluscope.networks.graph.increasing_functions import logarithm, softplus_inverse
from reluscope.networks.graph.left_off import LeftOff

ENDS = {
    "sigmoid": nn.Sigmoid(),
    "tanh": nn.Tanh(),
    "log_sigmoid": nn.LogSigmoid(),
    "softplus": nn.Softplus(),
    "softplus of 3 z": nn.Softplus(beta=3.0),
    "softmax": nn.Softmax(1),
    "log_softmax": nn.LogSoftmax(-1),
}
INCREASING = ("sigmoid", "tanh", "log_sigmoid", "softplus")


def ending_in(end: nn.Module, num_outputs: int = 2) -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, num_outputs), end)


def exactly(name: str, z: float) -> Decimal:
    """Return a function's value to hundreds of digits, by its formula."""
    with localcontext() as context:
        context.prec = 700
        e = (-abs(Decimal(z))).exp()
        sigmoid = 1 / (1 + e) if z >= 0 else e / (1 + e)
        if name == "tanh":
            e = (-abs(2 * Decimal(z))).exp()
            return ((1 - e) / (1 + e)).copy_sign(Decimal(z))
        if name == "sigmoid":
            return sigmoid
        softplus = max(Decimal(z), Decimal(0)) + (1 + e).ln()
        return softplus if name == "softplus" else -(max(-Decimal(z), Decimal(0)) + (1 + e).ln())


class TestRemembered:
    @pytest.mark.few(3)
    @pytest.mark.parametrize("name", ENDS)
    def test_on_every_way_to_another_network(self, name):
        model = ending_in(ENDS[name])
        net = rs.load(model)
        assert net.left_off.name == name.split()[0]
        for other in (
            pickle.loads(pickle.dumps(net)),
            net.to("cpu"),
            net.with_parameters({"0.bias": np.ones(4)}),
            net.restrict(rs.Plane([0.0, 0.0], [1.0, 0.0], [0.0, 1.0])),
            net.with_decision("smallest"),
            rs.load(torch.export.export(model.double(), (torch.zeros(2, 2, dtype=torch.float64),)), (2,)),
            rs.load(nn.Sequential(nn.Identity(), model), submodule="1", at=np.eye(2)),
        ):
            assert other.left_off == net.left_off

    @pytest.mark.parametrize("name", ENDS)
    def test_its_values_are_those_of_the_module(self, name):
        model = ending_in(ENDS[name]).double()
        net, x = rs.load(model), torch.randn(50, 2, dtype=torch.float64)
        scores = net(x).numpy()
        values, errors = net.left_off.values(scores, np.zeros_like(scores))
        away = np.abs(values - model(x).detach().numpy())
        assert (away <= errors + 4e-16 * (1 + np.abs(values))).all()
        assert errors.max() < 1e-13
        assert np.array_equal(file_outputs(net, x), values)

    @pytest.mark.few(1)
    @pytest.mark.parametrize("name", INCREASING)
    def test_its_values_are_within_their_errors_of_the_formula(self, name):
        scores = np.random.default_rng(0).normal(scale=8, size=(100, 1))
        scores = np.concatenate([scores, [[0.0], [1e-200], [-40.0], [40.0], [-700.0], [700.0], [1e9]]])
        values, errors = LeftOff(name, (1,)).values(scores, np.zeros_like(scores))
        for z, value, error in zip(scores[:, 0], values[:, 0].tolist(), errors[:, 0].tolist(), strict=True):
            assert abs(Fraction(exactly(name, z)) - Fraction(value)) <= Fraction(error)

    @pytest.mark.parametrize("name", ENDS)
    def test_errors_of_outputs_are_passed_on(self, name):
        left_off = rs.load(ending_in(ENDS[name], 3)).left_off
        rng = np.random.default_rng(0)
        scores = rng.normal(scale=3, size=(200, 3))
        errors = np.abs(rng.normal(scale=0.1, size=scores.shape))
        values, bounds = left_off.values(scores, errors)
        for sign in (-1, 1, rng.choice([-1, 1], scores.shape)):
            moved, slack = left_off.values(scores + sign * errors, np.zeros_like(errors))
            assert (np.abs(moved - values) <= bounds + slack).all()

    def test_networks_are_told_apart_by_it(self):
        whole = rs.load(ending_in(nn.Sigmoid()))
        assert whole.fingerprint != whole.logits.fingerprint != rs.load(ending_in(nn.Tanh())).fingerprint
        assert whole.logits.left_off is None
        assert whole.logits.logits is whole.logits
        assert whole.with_decision("smallest").scores.left_off is None

    def test_nothing_is_left_off_where_pieces_take_its_place(self):
        assert rs.load(ending_in(nn.Tanh()), approximate={"tanh": 8}).left_off is None

    @pytest.mark.parametrize("axis", [1, 2, -1])
    def test_along_any_axis_of_an_image(self, axis):
        model = nn.Sequential(nn.Conv2d(1, 3, 1), nn.Softmax(axis)).double()
        net, x = rs.load(model, (1, 2, 2)), torch.randn(2, 1, 2, 2, dtype=torch.float64)
        assert net.left_off.axes == (axis % 4 - 1,)
        assert np.allclose(file_outputs(net, x), model(x).detach().numpy().reshape(2, -1), rtol=0, atol=1e-15)


class TestOnnx:
    """Against onnxruntime on the whole file, what was left off included; before opset 13 axes were more than one."""

    def model(self, kind: str, opset: int, shape: tuple[int, ...] = (1, 2, 3), **settings):
        weight = np.arange(2 * np.prod(shape), dtype=np.float32).reshape(2, -1) / 7 - 0.5
        nodes = [
            helper.make_node("MatMul", ["x", "W"], ["a"]),
            helper.make_node("Relu", ["a"], ["r"]),
            helper.make_node("Reshape", ["r", "s"], ["z"]),
            helper.make_node(kind, ["z"], ["y"], **settings),
        ]
        tensors = [numpy_helper.from_array(weight, "W"), numpy_helper.from_array(np.array([-1, *shape[1:]]), "s")]
        info = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2])]
        graph = helper.make_graph(
            nodes, "g", info, [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)], tensors
        )
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        made.ir_version = 8
        return made

    @pytest.mark.parametrize(
        ("kind", "opset", "settings"),
        [
            *((kind, 13, {}) for kind in ("Sigmoid", "Tanh", "Softplus", "Softmax", "LogSoftmax")),
            *(("Softmax", opset, {"axis": axis}) for opset in (11, 13) for axis in (1, 2, -1)),
            ("Softmax", 11, {}),
        ],
    )
    def test_values_are_those_of_the_file(self, tmp_path, kind, opset, settings):
        onnx.save(self.model(kind, opset, **settings), tmp_path / "m.onnx")
        net = rs.load(tmp_path / "m.onnx")
        x = np.array([[1.3, 0.4]], dtype=np.float32)
        theirs = run_in_runtime(tmp_path / "m.onnx", x)
        assert np.allclose(file_outputs(net, x), theirs.reshape(1, -1), rtol=0, atol=1e-6)

    @pytest.mark.parametrize("axis", [0, -3])
    def test_over_the_batch_is_refused(self, tmp_path, axis):
        onnx.save(self.model("Softmax", 13, axis=axis), tmp_path / "m.onnx")
        with pytest.raises(NotPiecewiseLinearError, match="along axis"):
            rs.load(tmp_path / "m.onnx")


class TestInverses:
    @pytest.mark.parametrize("name", INCREASING)
    @given(z=st.floats(-700, 700), side=st.sampled_from([0.0, 1.0, -1.0]), data=st.data())
    def test_enclose_where_a_level_is_taken(self, name, z, side, data):
        """Ends that are next to each other, with the value on the right sides of the level."""
        level = float(exactly(name, z))
        level = data.draw(st.sampled_from([level, level * (1 + 1e-9), level / 3, 0.5, 2.0**-60]))
        function = LeftOff(name, (1,)).function
        if not (function.lower is None or level > function.lower) or not (
            function.upper is None or level < function.upper
        ):
            return
        left_off, bound = LeftOff(name, (1,)), [level]
        high = on_scores(left_off, rs.Polyhedron([[1.0]], bound), Rounding.OUTWARDS).b[0]
        low = on_scores(left_off, rs.Polyhedron([[1.0]], bound), Rounding.INWARDS).b[0]
        assert exactly(name, low) <= Decimal(level) <= exactly(name, high)
        is_linear = name == "softplus" and level > 20
        assert high - low <= (3e-9 if is_linear else np.spacing(abs(low)) + np.spacing(abs(high)))

    @pytest.mark.parametrize(("name", "level"), [("sigmoid", 0.5), ("tanh", 0.0)])
    def test_are_exact_where_they_are_rational(self, name, level):
        for rounding in Rounding:
            found = on_scores(LeftOff(name, (1,)), rs.Polyhedron(np.zeros((0, 1)), [], [[2.0]], [2 * level]), rounding)
            assert (found.C.tolist(), found.d.tolist(), len(found.A)) == ([[1.0]], [0.0], 0)


ROWS = st.one_of(
    st.tuples(st.sampled_from([[1.0, 0.0], [-3.0, 0.0], [0.0, 0.25]]), st.floats(-3, 3)),
    st.tuples(st.sampled_from([[1.0, 0.0], [0.0, -1.0]]), st.sampled_from([0.0, 0.5, 1.0, -1.0, 1e-18, 1 - 1e-16])),
    st.tuples(st.sampled_from([[2.0, -2.0], [-1.0, 1.0], [1.0, -3.0], [0.0, 0.0]]), st.sampled_from([0.0])),
    st.tuples(st.sampled_from([[2.0, -2.0], [-0.1, 0.1], [0.0, 0.0]]), st.floats(-3, 3)),
)
LEFT_OFF = [
    *(LeftOff(name, (2,)) for name in INCREASING),
    LeftOff("softplus", (2,), beta=3.0),
    *(LeftOff(name, (2,), (0,)) for name in ("softmax", "log_softmax")),
    *(LeftOff(name, (2,), ()) for name in ("softmax", "log_softmax")),
    LeftOff("softmax", (1,), of_two=True),
]


class TestConditions:
    @pytest.mark.parametrize("left_off", LEFT_OFF, ids=str)
    @given(row=ROWS, is_equation=st.booleans(), data=st.data())
    def test_are_rounded_to_the_side_that_is_asked_for(self, left_off, row, is_equation, data):
        normal, end = row
        sides = (np.zeros((0, 2)), [], [normal], [end]) if is_equation else ([normal], [end])
        conditions = rs.Polyhedron(*sides)
        size = 1 if left_off.of_two else 2
        try:
            outer = on_scores(left_off, conditions, Rounding.OUTWARDS)
        except InputError:
            assert np.count_nonzero(normal) == 2
            return
        inner = on_scores(left_off, conditions, Rounding.INWARDS)
        near = [float(entry) for entry in np.abs(outer.b) if np.isfinite(entry)] or [1.0]
        pool = st.one_of(st.floats(-30, 30), st.sampled_from([0.0, *near, *(-one for one in near)]))
        scores = np.array([data.draw(pool) for _ in range(size)])
        values, errors = left_off.values(scores[None], np.zeros((1, size)))
        excess = values[0] @ normal - end
        slack = errors[0] @ np.abs(normal) + 1e-15 * (np.abs(values[0]) @ np.abs(normal) + abs(end))
        held = abs(excess) <= slack if is_equation else excess <= slack
        missed = abs(excess) > slack if is_equation else excess > slack
        if outer.contains(scores).item() is False:
            assert missed or abs(excess) <= slack  # outside, or so near that these numbers do not tell
        if missed:
            assert not inner.contains(scores).item()
        if not missed and abs(excess) > slack:
            assert outer.contains(scores).item()
        assert held or missed

    @pytest.mark.parametrize("left_off", LEFT_OFF, ids=str)
    @given(row=ROWS, is_equation=st.booleans())
    def test_the_checker_finds_the_same_by_other_means(self, left_off, row, is_equation):
        normal, end = row
        conditions = rs.Polyhedron(*((np.zeros((0, 2)), [], [normal], [end]) if is_equation else ([normal], [end])))
        try:
            ours = on_scores(left_off, conditions, Rounding.OUTWARDS)
        except InputError:
            with pytest.raises(rs.errors.CertificateError):
                on_network(left_off, conditions)
            return
        theirs = on_network(left_off, conditions)
        assert all(np.array_equal(getattr(ours, side), getattr(theirs, side)) for side in "ACd")
        # Both round outwards, the checker as little as can be.
        assert (ours.b >= theirs.b).all()
        np.testing.assert_array_max_ulp(ours.b, theirs.b, maxulp=1)

    def test_levels_beyond_the_range_hold_everywhere_or_nowhere(self):
        for level, sign, is_everywhere in ((1.0, 1.0, True), (1.0, -1.0, False), (0.0, 1.0, False), (0.0, -1.0, True)):
            found = on_scores(LeftOff("sigmoid", (1,)), rs.Polyhedron([[sign]], [sign * level]), Rounding.OUTWARDS)
            assert (len(found.A) == 0) == is_everywhere
            assert found.is_empty() != is_everywhere

    @pytest.mark.parametrize("rounding", Rounding)
    def test_equations_that_hold_or_fail_whatever_the_scores_are_no_rows(self, rounding):
        """0 = 0 is left out and 0 = 1 holds nowhere; of two others floats hold one end."""
        sigmoid, nothing = LeftOff("sigmoid", (2,)), (np.zeros((0, 2)), [])
        rows = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
        found = on_scores(sigmoid, rs.Polyhedron(*nothing, rows[:2], [0.0, 0.5]), rounding)
        assert (found.A.tolist(), found.C.tolist(), found.d.tolist()) == ([], [[1.0, 0.0]], [0.0])
        assert on_scores(sigmoid, rs.Polyhedron(*nothing, rows[:2], [1.0, 0.5]), rounding).is_empty()
        found = on_scores(sigmoid, rs.Polyhedron(*nothing, rows, [0.0, 0.5, 0.25]), rounding)
        below, above = float(-np.nextafter(np.log(3), 0)), float(np.nextafter(np.log(3), 9))
        if rounding is Rounding.NEAREST:
            assert (found.A.tolist(), found.C.tolist()) == ([], rows[1:])
            assert found.d.tolist() == pytest.approx([0.0, -np.log(3)])
        elif rounding is Rounding.INWARDS:
            assert found.is_empty()
        else:
            assert (found.A.tolist(), found.C.tolist()) == ([[0.0, 1.0], [0.0, -1.0]], [[1.0, 0.0]])
            assert -found.b[1] < found.b[0]
            assert found.b.tolist() == pytest.approx([below, above], rel=1e-15)

    @pytest.mark.parametrize("row", [[1.0, 1.0], [1.0, -2.0], [0.5, 0.25]])
    def test_sums_of_sigmoids_are_refused_by_name(self, row):
        with pytest.raises(InputError, match="sigmoid that the file ends with"):
            on_scores(LeftOff("sigmoid", (2,)), rs.Polyhedron([row], [0.0]), Rounding.OUTWARDS)

    def test_bounds_of_one_of_several_probabilities_are_refused(self):
        softmax = LeftOff("softmax", (3,), (0,))
        with pytest.raises(InputError, match="softmax of two"):
            on_scores(softmax, rs.Polyhedron([[1.0, 0.0, 0.0]], [0.7]), Rounding.OUTWARDS)
        assert on_scores(softmax, rs.Polyhedron([[1.0, 0.0, 0.0]], [1.0]), Rounding.OUTWARDS).A.shape == (0, 3)

    def test_outputs_of_two_softmaxes_are_not_compared(self):
        apart = LeftOff("softmax", (2, 2), (1,))
        with pytest.raises(InputError, match="same softmax"):
            on_scores(apart, rs.Polyhedron([[1.0, 0.0, -1.0, 0.0]], [0.0]), Rounding.OUTWARDS)
        assert on_scores(apart, rs.Polyhedron([[1.0, -1.0, 0.0, 0.0]], [0.0]), Rounding.OUTWARDS).b[0] == 0


class TestThresholds:
    @pytest.mark.parametrize(("end", "level", "score"), [(nn.Sigmoid(), 0.5, 0.0), (nn.Tanh(), 0.0, 0.0)])
    def test_of_classes_are_of_the_output_of_the_file(self, end, level, score):
        assert rs.load(ending_in(end, 1), decision=level).decision == score

    def test_decide_as_the_model_does(self):
        model = ending_in(nn.Sigmoid(), 1).double()
        x = np.random.default_rng(0).normal(size=(200, 2))
        values = model(torch.from_numpy(x)).detach().numpy()[:, 0]
        level = float(np.sort(values)[120:122].mean())
        net, theirs = rs.load(model, decision=level), values > level
        assert 0 < theirs.sum() < 200
        assert np.array_equal(rs.classification.predicted_classes(net, x), theirs.astype(int))
        assert str(rs.classification.accuracy(net, x, theirs.astype(int))) == "1 (EXACT)"

    @pytest.mark.parametrize("level", [0, 1, 2.0, -1e-300])
    def test_that_no_output_crosses_are_refused(self, level):
        with pytest.raises(InputError, match="between 0 and 1"):
            rs.load(ending_in(nn.Sigmoid(), 1), decision=level)


def test_exactness_is_that_of_fractions():
    """The formula of these tests against a series in fractions: an oracle of the oracle."""
    total, term = Fraction(0), Fraction(1)
    for step in range(1, 60):
        total, term = total + term, term / step / 2
    assert abs(Fraction(exactly("sigmoid", -0.5)) - 1 / (1 + total)) < Fraction(1, 10**60)


@pytest.mark.parametrize(
    "value", [Fraction(3, 2**90), Fraction(1, 3), Fraction(2**70, 3), Fraction(1500), Fraction(1999)]
)
def test_inverses_are_known_to_as_many_digits_however_large_numbers_are(value):
    """Of the logarithm and of softplus, between two fractions that are as near to each other."""
    for function, truth in (
        (logarithm, mpmath.log),
        *([(softplus_inverse, lambda one: mpmath.log(mpmath.expm1(one)))] if value < 2000 else []),
    ):
        low, high = function(value)
        with mpmath.workdps(900):
            exact = truth(mpmath.mpf(value.numerator) / value.denominator)
            assert mpmath.mpf(low.numerator) / low.denominator <= exact <= mpmath.mpf(high.numerator) / high.denominator
            assert float((high - low) / (1 + abs(high))) < 1e-55


@pytest.mark.parametrize(("name", "ends"), [("sigmoid", (0.0, 1.0)), ("tanh", (-1.0, 1.0))])
def test_ends_of_a_range_are_not_reached(name, ends):
    """Bounds at an end hold everywhere or nowhere: of scores nothing is asked, or what cannot be."""
    left_off = LeftOff(name, (1,))
    for end, sign, is_everywhere in ((1, 1, True), (1, -1, False), (0, 1, False), (0, -1, True)):
        found = on_scores(left_off, rs.Polyhedron([[float(sign)]], [sign * ends[end]]), Rounding.OUTWARDS)
        assert found.is_empty() != is_everywhere
        assert found.contains(np.array([[-1e9], [0.0], [1e9]])).all() == is_everywhere
