import copy
import pickle
import warnings

import numpy as np
import pytest
import torch
from torch import nn

from conformance.torch_cases import Forward, Residual, Shared
from networks.models import Two, layers, seeded
from reluscope.errors import (
    ConversionMismatchError,
    InputError,
    NotPiecewiseLinearError,
    ShapeError,
    UnsupportedOperatorError,
)
from reluscope.networks.models.load import load
from reluscope.networks.models.torch import from_torch
from reluscope.networks.models.torch.from_torch import default_decompositions


def through(function, *parts):
    return nn.Sequential(nn.Linear(4, 4), Forward(lambda _, x: function(x)), *parts)


def refused(error, words, model, input_shape=(4,)):
    with pytest.raises(error, match=words) as caught:
        load(model, input_shape)
    assert "\n" not in str(caught.value)


class Sine(nn.Module):
    def forward(self, x):
        return x.sin()


class TestTheModelIsLeftAlone:
    def test_mode_precision_gradients_and_weights(self):
        model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Dropout(0.5), nn.Linear(4, 2)).train()
        before = copy.deepcopy(model.state_dict())
        load(model)
        assert model.training
        assert all(parameter.requires_grad and parameter.dtype == torch.float32 for parameter in model.parameters())
        assert all(torch.equal(before[key], value) for key, value in model.state_dict().items())
        assert torch.get_default_dtype() == torch.float32

    def test_default_type_is_restored_after_errors(self):
        refused(NotPiecewiseLinearError, "gelu", through(nn.functional.gelu))
        assert torch.get_default_dtype() == torch.float32

    def test_later_training_does_not_reach_the_network(self):
        model = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
        net = load(model)
        before = net(torch.ones(1, 3))
        with torch.no_grad():
            model[0].weight.zero_()
        assert torch.equal(net(torch.ones(1, 3)), before)


class TestNames:
    def test_modules_functions_and_reuse(self):
        assert [gate.name for gate in load(Residual(), (2, 6, 6)).gates] == ["activation", "activation_1"]
        net = load(nn.Sequential(nn.Linear(4, 4), nn.ReLU6(), through(torch.relu, nn.MaxPool1d(2))), (3, 4))
        assert [(gate.name, gate.kind) for gate in net.gates] == [
            ("1", "relu6"), ("2.1.relu", "relu"), ("2.2", "max_pool"),
        ]  # fmt: skip

    def test_at_the_top(self):
        net = load(Forward(lambda m, x: x.relu().flip(1).abs().flip(1).relu()), (2,))
        assert [gate.name for gate in net.gates] == ["relu", "abs", "relu_1"]


class TestRefusals:
    @pytest.mark.few(13)
    @pytest.mark.parametrize(
        "function",
        [
            *(nn.functional.gelu, nn.functional.silu, nn.functional.elu, nn.functional.selu, nn.functional.softplus),
            *(nn.functional.hardswish, nn.functional.mish, nn.functional.celu, nn.functional.logsigmoid),
            *(nn.functional.glu, nn.functional.softsign, nn.functional.tanhshrink, torch.sigmoid, torch.tanh),
            *(torch.exp, torch.sin, torch.square, torch.sqrt, lambda x: x**2, lambda x: 1 / x, lambda x: x * x),
            *(lambda x: x / x.sum(1, keepdim=True), lambda x: x @ x.mT, lambda x: nn.functional.normalize(x, dim=1)),
            *(lambda x: nn.functional.layer_norm(x, (4,)), lambda x: x.var(1), lambda x: x.prod(1)),
            *(
                lambda x: nn.functional.scaled_dot_product_attention(x, x, x),
                lambda x: torch.einsum("bij,bij->bi", x, x),
            ),
        ],
    )
    def test_curved(self, function):
        refused(NotPiecewiseLinearError, r"at .*which is not piecewise linear|at module '1' .* is not piecewise linear",
                through(function, nn.Flatten(), nn.ReLU()), (3, 4))  # fmt: skip

    @pytest.mark.parametrize(
        "function",
        [
            *(torch.round, torch.floor, torch.frac, lambda x: x.argmax(1), lambda x: x.long(), lambda x: x % 2),
            lambda x: torch.div(x, 2, rounding_mode="floor"),
        ],
    )
    def test_jumping_too_often(self, function):
        refused(NotPiecewiseLinearError, "not piecewise linear|limited before it is rounded", through(function))

    @pytest.mark.parametrize(
        ("function", "words"),
        [
            (lambda x: x * (x.flip(1) > 0), "only the value that a mask is a mask of may be multiplied by it"),
            (lambda x: x * (x > 0) * x, "multiplies two values"),
            (lambda x: torch.where(x.flip(1) > 0, x, 0.0), "expected a choice by a condition on the value"),
            (lambda x: torch.heaviside(x, x), "value at zero that depends on the input"),
            (lambda x: torch.lerp(torch.zeros(4), torch.ones(4), x), "weight that depends on the input"),
            (lambda x: nn.functional.hardshrink(x, -1.0), "negative reach"),
            (lambda x: (x > 0).long() & 3, "anything but the results of comparisons"),
        ],
    )
    def test_gates_of_two_values(self, function, words):
        refused(UnsupportedOperatorError, words, through(function))

    def test_positions_of_maxima(self):
        refused(NotPiecewiseLinearError, "positions", through(lambda x: x.max(dim=1).indices.double()))

    @pytest.mark.parametrize(
        ("function", "advice"),
        [(lambda x: x.sort(1).values, "use amax"), (lambda x: x.kthvalue(2, 1).values, "use amax")],
    )
    def test_unknown(self, function, advice):
        with pytest.raises(UnsupportedOperatorError, match=rf"reluscope knows.*{advice}") as caught:
            load(through(function))
        assert not isinstance(caught.value, NotPiecewiseLinearError)

    def test_place_and_advice(self):
        model = nn.Sequential()
        model.add_module("body", nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.ReLU()))
        refused(NotPiecewiseLinearError, r"tanh at module 'body.1' \(Tanh\).*use hard-tanh", model)
        refused(NotPiecewiseLinearError, r"sin at the model's forward, 'return x.sin\(\)'", Sine())

    def test_normalisation_by_its_own_input(self):
        model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4, track_running_stats=False))
        refused(NotPiecewiseLinearError, r"batch_norm.* at module '1' .*track_running_stats=True", model)
        refused(NotPiecewiseLinearError, "instance_norm", nn.InstanceNorm2d(2), (2, 3, 3))

    def test_dropout_that_stays_on(self):
        refused(UnsupportedOperatorError, "dropout", through(lambda x: nn.functional.dropout(x, 0.5, training=True)))

    def test_attention_is_named_before_its_batch_axis(self):
        refused(
            NotPiecewiseLinearError, "attention|softmax", nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), (3, 4)
        )

    def test_branches_on_the_batch_size(self):
        refused(UnsupportedOperatorError, "whatever the batch", Forward(lambda m, x: x if len(x) > 1 else 2 * x))

    def test_torchscript(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            script = torch.jit.trace(nn.Linear(2, 2), torch.zeros(1, 2))
        refused(InputError, "TorchScript", script, (2,))

    def test_no_output(self):
        refused(ShapeError, "at least one output", Forward(lambda m, x: x[:, :0]))

    def test_branches_on_data(self):
        model = through(lambda x: x if x.sum() > 0 else -x)
        refused(UnsupportedOperatorError, "without branches that depend on the input, but line", model)

    @pytest.mark.parametrize(
        "function",
        [
            *(lambda x: x - x.mean(0), lambda x: x.flip(0), lambda x: x.cumsum(0), lambda x: x.softmax(0)),
            lambda x: x + torch.arange(x.size(0)).unsqueeze(1),
        ],
    )
    def test_points_of_a_batch_that_mix(self, function):
        with pytest.raises(UnsupportedOperatorError):
            load(through(function))


class TestShapes:
    def test_inferred_from_a_first_linear_layer_or_from_data(self):
        assert load(nn.Sequential(nn.Flatten(), nn.Linear(6, 2), nn.ReLU())).input_shape == (6,)
        assert load(nn.Sequential(nn.Conv1d(1, 1, 2)), data=np.ones((3, 1, 4))).input_shape == (1, 4)

    def test_asked_for(self):
        with pytest.raises(ShapeError, match=r"expected input_shape.*\(1, 28, 28\)"):
            load(nn.Conv2d(1, 1, 3))

    def test_wrong(self):
        refused(ShapeError, r"accepts, got \(5,\).*mat1 and mat2", nn.Sequential(nn.Linear(4, 2), nn.ReLU()), (5,))
        for shape in ((0,), (-1, 2), 0):
            with pytest.raises(ShapeError, match="positive integers without the batch axis"):
                load(nn.Linear(4, 2), shape)

    def test_a_number(self):
        assert load(nn.ReLU(), 3).input_shape == (3,)


class TestInputsAndOutputs:
    def test_several_outputs_are_named(self):
        refused(InputError, "one output, got 2: logits, features", Two("dict"), (3,))
        refused(InputError, "one output, got 2: 0, 1", Two("tuple"), (3,))

    def test_several_inputs_are_named(self):
        refused(InputError, "one input, got 2: input1, input2", nn.Bilinear(2, 2, 1), (2,))

    def test_one_in_a_collection(self):
        net = load(Forward(lambda m, x: {"logits": x.relu()}), (2,))
        assert net.output_shape == (2,)

    def test_no_tensor(self):
        refused(InputError, "returns tensors, got str", Forward(lambda m, x: "nothing"), (2,))

    def test_input_written_in_place(self):
        net = load(Forward(lambda m, x: x.relu_()), (2,))
        assert net([[1.0, -1.0]]).tolist() == [[1.0, 0.0]]

    def test_buffers_written_by_the_forward(self):
        def forward(m, x):
            m.count += 1
            return x.relu()

        assert load(Forward(forward, count=torch.zeros(())), (2,)).num_units == 2


class TestWeights:
    def test_not_finite(self):
        model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        with torch.no_grad():
            model[0].bias[1] = torch.nan
        refused(InputError, "parameter 0.bias holds NaN", model, (2,))
        model = nn.Sequential(nn.BatchNorm1d(2))
        model[0].running_var[0] = torch.inf
        refused(InputError, "buffer 0.running_var", model, (2,))

    def test_negative_variance(self):
        model = nn.Sequential(nn.BatchNorm1d(2))
        model[0].running_var[0] = -2.0
        refused(InputError, "scale of '0' holds 1 NaN", model, (2,))

    def test_missing(self):
        refused(InputError, "0.weight has none", nn.Sequential(nn.LazyLinear(2)), (2,))

    def test_half_precision(self):
        model = seeded(lambda: nn.Sequential(nn.Linear(2, 3), nn.ReLU())).half()
        assert torch.equal(load(model)(torch.ones(1, 2)), copy.deepcopy(model).double()(torch.ones(1, 2).double()))


class TestCasts:
    @pytest.mark.parametrize(
        "function",
        [
            lambda x: (x / 3).float().relu(),
            lambda x: (x / 3).to(torch.float32).relu(),
            lambda x: (x / 3).to(dtype=torch.float16).relu(),
            lambda x: (x / 3).type(torch.bfloat16).relu(),
            lambda x: (x / 3).half().float() + torch.zeros(4, dtype=torch.float32),
        ],
    )
    def test_are_the_identity_with_a_note(self, function):
        net = load(through(function))
        assert any("was read as the identity" in note for note in net.notes)
        assert net.verification.largest_deviation < 1e-12

    def test_to_double_needs_no_note(self):
        assert load(through(lambda x: x.double().relu())).notes == ()


class TestSoftmax:
    @pytest.mark.parametrize("last", [nn.Softmax(dim=1), nn.LogSoftmax(dim=-1)])
    def test_at_the_end_is_left_off(self, last):
        model = seeded(lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
        whole, net = load(nn.Sequential(model, last)), load(model)
        assert whole.logits.fingerprint == net.fingerprint != whole.fingerprint
        assert len(whole.notes) == 1
        assert "softmax was left off" in whole.notes[0]
        assert net.notes == ()

    def test_elsewhere_is_refused(self):
        refused(NotPiecewiseLinearError, "only where it is the very last", nn.Sequential(nn.Softmax(-1), nn.ReLU()))

    def test_a_softplus_that_jumps_is_none_that_increases(self):
        """PyTorch takes x for softplus(x) beyond the threshold, where it is less than that: orders are not kept."""
        refused(NotPiecewiseLinearError, "softplus", nn.Sequential(nn.Linear(4, 2), nn.Softplus(threshold=1.0)))


class TestIncreasingFunctions:
    @pytest.mark.parametrize(
        ("last", "note"),
        [
            (nn.Sigmoid(), "A trailing sigmoid was left off: where it is 0.5, the output of the network is 0."),
            (nn.Tanh(), "A trailing tanh was left off: where it is 0, the output of the network is 0."),
            (
                nn.LogSigmoid(),
                "A trailing log_sigmoid was left off: where it is log 0.5, the output of the network is 0.",
            ),
            (nn.Softplus(beta=3.0), "A trailing softplus was left off."),
        ],
    )
    def test_at_the_end_are_left_off(self, last, note):
        model = seeded(lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
        whole, net = load(nn.Sequential(model, last)), load(model)
        assert whole.logits.fingerprint == net.fingerprint != whole.fingerprint
        assert whole.notes == (note,)
        x = torch.randn(9, 3, generator=torch.Generator().manual_seed(1))
        torch.testing.assert_close(last(whole(x)), last(model(x)).double(), atol=1e-5, rtol=1e-5)

    @pytest.mark.parametrize(
        "moved", [lambda y: y.squeeze(1), lambda y: y.reshape(-1, 1, 1), lambda y: y.flatten(1).unsqueeze(2)[:, 0]]
    )
    def test_before_entries_are_only_moved(self, moved):
        model = seeded(lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)))
        net = load(nn.Sequential(model, nn.Sigmoid(), Forward(lambda m, y: moved(y))))
        assert "sigmoid was left off" in net.notes[0]
        assert net.output_shape == moved(torch.zeros(2, 1)).shape[1:]
        assert torch.equal(net(torch.ones(1, 3)).reshape(-1), load(model)(torch.ones(1, 3)).reshape(-1))

    def test_differences_that_saturation_hides_are_seen(self, monkeypatch):
        """A planted fault: relu becomes |x|, where the sigmoid is 1 in float64 either way."""
        from reluscope.networks.models.torch.aten_site import HANDLERS

        model = nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1), nn.Sigmoid())
        for layer, bias in ((model[0], -60.0), (model[2], 60.0)):
            nn.init.ones_(layer.weight)
            nn.init.constant_(layer.bias, bias)
        monkeypatch.setitem(HANDLERS, "relu", HANDLERS["abs"])
        with pytest.raises(ConversionMismatchError):
            load(model)

    @pytest.mark.parametrize("after", [lambda y: 2 * y, lambda y: y.sum(1), lambda y: torch.cat([y, y], 1)])
    def test_elsewhere_are_refused(self, after):
        refused(NotPiecewiseLinearError, "sigmoid is left off only where it is the very last step",
                nn.Sequential(nn.Linear(4, 2), nn.Sigmoid(), Forward(lambda m, y: after(y))))  # fmt: skip


class TestOtherWeights:
    def model(self, seed):
        parts = (nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.PReLU(3), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(3, 2))
        model = seeded(lambda: nn.Sequential(*(copy.deepcopy(part) for part in parts)), seed)
        generator = torch.Generator().manual_seed(seed)
        state = {key: torch.rand(value.shape, generator=generator) for key, value in model.state_dict().items()}
        state["1.num_batches_tracked"] = torch.tensor(seed)
        model.load_state_dict(state)
        return model

    def test_equal_a_new_load(self):
        first, second = self.model(0), self.model(1)
        net = load(first, (2, 4, 4))
        assert net.with_parameters(second.state_dict()).fingerprint == load(second, (2, 4, 4)).fingerprint
        assert net.with_parameters({}).fingerprint == net.fingerprint

    def test_what_is_not_given_stays(self):
        first, second = self.model(0), self.model(1)
        net = load(first, (2, 4, 4))
        for key in first.state_dict():
            net = net.with_parameters({key: second.state_dict()[key].numpy()})
        assert net.fingerprint == load(second, (2, 4, 4)).fingerprint

    def test_shared_weights_go_by_every_name(self):
        model = Shared()
        net, new = load(model), torch.ones(4, 4)
        by_first, by_second = (net.with_parameters({f"{name}.weight": new}) for name in ("first", "second"))
        assert by_first.fingerprint == by_second.fingerprint != net.fingerprint
        assert net.with_parameters(model.state_dict()).fingerprint == net.fingerprint
        with pytest.raises(InputError, match="one value for shared weights"):
            net.with_parameters({"first.weight": new, "second.weight": 2 * new})

    def test_computed_weights(self):
        model = nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(3, 3)), nn.ReLU())
        net = load(model, (3,))
        key = "0.parametrizations.weight.original0"
        doubled = net.with_parameters({key: 2 * model.state_dict()[key], "0.bias": 2 * model.state_dict()["0.bias"]})
        x = torch.randn(5, 3)
        torch.testing.assert_close(doubled(x), 2 * net(x))

    def test_errors(self):
        net = load(self.model(0), (2, 4, 4))
        with pytest.raises(InputError, match=r"got unknown 0\.weights"):
            net.with_parameters({"0.weights": torch.zeros(3, 2, 3, 3)})
        with pytest.raises(ShapeError, match=r"0.bias of shape \(3,\), got \(2,\)"):
            net.with_parameters({"0.bias": torch.zeros(2)})
        with pytest.raises(InputError, match=r"0\.bias holds 3 NaN"):
            net.with_parameters({"0.bias": torch.full((3,), torch.nan)})
        with pytest.raises(InputError, match="without"):
            pickle.loads(pickle.dumps(net)).with_parameters({})


class TestSpecialModels:
    def test_batch_size_one(self):
        net = load(Forward(lambda m, x: x.view(1, -1)[:, :2].relu()), (2, 2))
        assert net.notes == ("The model takes one point at a time: its batch size is fixed to 1.",)
        assert net(torch.ones(5, 2, 2)).shape == (5, 2)

    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_compiled(self):
        assert load(torch.compile(nn.Sequential(nn.Linear(2, 3), nn.ReLU())), (2,)).num_units == 3

    def test_plain_tensors_as_attributes(self):
        model = Forward(lambda m, x: nn.functional.linear(x, m.plain).relu())
        model.plain = torch.ones(3, 2)
        assert load(model, (2,))([[1.0, 1.0]]).tolist() == [[2.0] * 3]

    def test_data_is_compared_too(self):
        net = load(nn.Sequential(nn.Linear(2, 3), nn.ReLU()), data=np.ones((7, 2), dtype=np.float32))
        assert net.verification.num_points == 24 + 7
        with pytest.raises(ShapeError, match=r"got \(7, 3\)"):
            load(nn.Sequential(nn.Linear(2, 3), nn.ReLU()), (2,), data=np.ones((7, 3)))


def test_what_can_be_taken_apart_is_listed_only_for_operators_that_are_not_known(monkeypatch):
    """The list of PyTorch takes three times as long as all else of loading a small model."""
    listed = []

    def listing():
        listed.append(True)
        return default_decompositions()

    monkeypatch.setattr(from_torch, "default_decompositions", listing)
    load(nn.Sequential(nn.Flatten(), nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)), (2, 2))
    assert not listed
    load(through(torch.diff), (4,))
    assert listed


def test_a_list_of_layers_and_a_module_are_the_same_network():
    stack = layers([3, 5, 2])
    model = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2)).double()
    state = [torch.as_tensor(array) for layer in stack for array in layer]
    model.load_state_dict(dict(zip(model.state_dict(), state, strict=True)))
    assert load(model).fingerprint == load(stack).fingerprint
