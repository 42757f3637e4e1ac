"""Parts of models as networks of their own, with what data are there, against hooks and the parts themselves."""

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from networks.models import seeded
from reluscope.errors import InputError, ShapeError

TOKENS = torch.randint(0, 10, (5, 7), generator=torch.Generator().manual_seed(0))


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(4, 6), nn.Linear(6, 4)

    def forward(self, h, scale, extra=None):
        return self.down(self.up(h).relu() * scale)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.norm, self.mlp = nn.LayerNorm(4), Mlp()
        self.join = nn.Bilinear(4, 4, 4)
        self.unused = nn.Linear(4, 4)

    def forward(self, x, scale):
        x = x + self.attention(x, x, x)[0]
        return x + self.mlp(self.norm(x), scale) + 0 * self.join(x, x + 1)


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 4)
        self.layer = nn.ModuleList([Block(), Block()])
        self.head = nn.Linear(4, 10)

    def forward(self, tokens, scale=2.0):
        x = self.embedding(tokens)
        for block in self.layer:
            x = block(x, torch.full((len(tokens), 1, 6), float(scale), dtype=x.dtype))
        return self.head(x)


@pytest.fixture(scope="module")
def model():
    return seeded(Transformer)


def seen(model, path, tokens, **inputs):
    """What a hook sees, in float32, as the dull way to the same."""
    found = []
    part = model.get_submodule(path)
    handle = part.register_forward_hook(lambda _, args, out: found.append((args[0], out)))
    with torch.no_grad():
        model.eval()(tokens, **inputs)
    handle.remove()
    return found[0]


def test_activations_and_the_network_of_a_part(model):
    before, after = seen(model, "layer.1.mlp", TOKENS)
    points = rs.activations_at(model, "layer.1.mlp", TOKENS)
    np.testing.assert_allclose(points, before.numpy(), rtol=1e-4, atol=1e-5)
    net = rs.load(model, submodule="layer.1.mlp", at=TOKENS)
    assert net.input_shape == (7, 4)
    assert net.verification.num_points == 24 + 5
    np.testing.assert_allclose(net(points), after.numpy(), rtol=1e-4, atol=1e-5)


def test_one_token(model):
    net = rs.load(model, 4, submodule="layer.0.mlp", at=TOKENS)
    _, after = seen(model, "layer.0.mlp", TOKENS)
    points = rs.activations_at(model, "layer.0.mlp", TOKENS).reshape(-1, 4)
    assert (net.input_shape, net.num_units) == ((4,), 6)
    np.testing.assert_allclose(net(points), after.reshape(-1, 4).numpy(), rtol=1e-4, atol=1e-5)


def test_other_inputs_of_the_model_and_of_the_part(model):
    given = {"tokens": TOKENS, "scale": -3.0}
    _, after = seen(model, "layer.0.mlp", TOKENS, scale=-3.0)
    points = rs.activations_at(model, "layer.0.mlp", given)
    net = rs.load(model, submodule="layer.0.mlp", at=given)
    np.testing.assert_allclose(net(points), after.numpy(), rtol=1e-4, atol=1e-5)
    plain = rs.load(model, submodule="layer.0.mlp", at=given, inputs={"scale": 1.0})
    assert not np.allclose(plain(points), after.numpy(), atol=1e-2)


def test_more_points_than_go_together(monkeypatch, model):
    whole = rs.activations_at(model, "layer.1.mlp", TOKENS)
    monkeypatch.setattr("reluscope.networks.models.torch.parts._TOGETHER", 2)
    np.testing.assert_allclose(rs.activations_at(model, "layer.1.mlp", TOKENS), whole, rtol=1e-12)


def test_a_part_without_data():
    model = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 4), nn.ReLU()))
    assert rs.load(model, submodule="1").input_shape == (3,)
    assert rs.load(model, submodule="1").fingerprint == rs.load(model[1]).fingerprint


def test_a_part_that_is_called_twice():
    part = nn.Linear(3, 3)
    net = rs.load(nn.Sequential(part, nn.ReLU(), part), submodule="0", at=np.eye(3))
    assert net.notes == ("The model calls 0 2 times; the points are those of the first call.",)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"submodule": "layer.2.mlp"}, r"such as layer\.1\.mlp, layer\.0\.mlp.*got 'layer\.2\.mlp'"),
        ({"submodule": "layer.0.join"}, "layer.0.join has 2: input1, input2; take a submodule further in"),
        ({"submodule": "layer.0.unused"}, "layer.0.unused is not called"),
        ({"submodule": "layer.0.mlp", "at": TOKENS[:1]}, "two different points or more.*: h, scale"),
        ({"submodule": "layer.0.mlp", "at": TOKENS[[1, 1]]}, "is given the same at all points"),
        ({"submodule": "layer.0.mlp", "at": TOKENS + 10}, "forward pass fails with"),
        ({"submodule": "layer.0.mlp", "at": TOKENS[:0]}, "at least one point"),
        ({"submodule": "layer.0.mlp", "input_shape": 5}, r"input_shape \(7, 4\), or the end of it"),
        ({"submodule": None}, "name the part with submodule="),
    ],
)
def test_refused(model, given, words):
    with pytest.raises((InputError, ShapeError), match=words) as caught:
        rs.load(model, **{"at": TOKENS, **given})
    assert "\n" not in str(caught.value)


def test_the_model_is_left_alone(model):
    model.train()
    before = [parameter.dtype for parameter in model.parameters()]
    rs.activations_at(model, "layer.1.mlp", TOKENS)
    assert model.training
    assert before == [parameter.dtype for parameter in model.parameters()]
    assert not model.layer[1].mlp._forward_pre_hooks
    with pytest.raises(InputError, match="a module, of which submodule names a part"):
        rs.load([(np.eye(2), None)], submodule="0")


def test_models_of_tokens_are_told_of_parts():
    model = nn.Sequential(nn.Embedding(7, 3), nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    tokens = torch.tensor([[0, 3, 6], [1, 2, 5]])
    with pytest.raises(InputError, match="looks up whole ones, such as tokens: load a part behind the embedding"):
        rs.load(model, 3)
    assert rs.load(model, 3, submodule="1", at=tokens).input_shape == (3,)
