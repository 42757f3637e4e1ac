"""What a forward pass asks of its tensors: answered where it does not depend on the input, named where it does."""

import pytest
import torch
from torch import nn

import reluscope as rs
from conformance.bad_input.values import is_one_sentence
from conformance.torch_cases import Forward
from reluscope.errors import UnsupportedOperatorError


def checked(m, x):
    assert not torch.isnan(x).any(), "not a number"
    if torch.isinf(x).any() or not bool((x == x).all()):
        raise ValueError("not finite")
    torch._assert(torch.isfinite(m.layer(x)).all(), "not finite")
    return m.layer(x).relu()


def policy(m, x):
    # Whatever compiles a model lets distributions check nothing from then on in its process.
    return torch.distributions.Normal(m.layer(x).relu(), m.spread.exp(), validate_args=True).mean


def by_its_weights(m, x):
    y = m.layer(x).relu() * m.spread.sum().item()
    return y if m.spread.max() > -9 else x


@pytest.mark.parametrize(("forward", "notes"), [(checked, 1), (policy, 1), (by_its_weights, 0)])
def test_what_is_known_is_answered(forward, notes, capfd):
    torch.manual_seed(0)
    model = Forward(forward, layer=nn.Linear(2, 3), spread=torch.tensor([0.5, 1.0, 2.0])).double()
    net = rs.load(model, 2)
    x = torch.randn(9, 2, dtype=torch.float64)
    assert torch.allclose(net(x), model(x))
    assert len([note for note in net.notes if "NaN and infinite" in note]) == notes
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["logits", "probs"])
def test_a_policy_ends_in_its_scores(name):
    torch.manual_seed(0)
    forward = lambda m, x: getattr(torch.distributions.Categorical(logits=m.layer(x).relu()), name)  # noqa: E731
    model = Forward(forward, layer=nn.Linear(2, 3)).double()
    net = rs.load(model, 2)
    x = torch.randn(9, 2, dtype=torch.float64)
    assert torch.allclose(net(x), model.layer(x).relu())
    assert net.left_off.name == {"logits": "log_softmax", "probs": "softmax"}[name]


@pytest.mark.parametrize(
    "forward",
    [
        lambda m, x: x if x.sum() > 0 else -x,
        lambda m, x: x.relu() if bool((x > -1).all()) else x,
        lambda m, x: torch.where(x > 0, x, 0.0) if not torch.isnan(x).any() and x.max() > 0 else x,
    ],
)
def test_a_branch_on_the_input_is_named(forward, capfd):
    with pytest.raises(UnsupportedOperatorError, match=r"line \d+ of test_known_checks.py, 'lambda m, x: ") as caught:
        rs.load(Forward(forward), 2)
    assert is_one_sentence(str(caught.value))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "forward",
    [
        lambda m, x: x[:, : int(x.abs().max().item())],
        lambda m, x: x * float(x[0, 0]),
    ],
)
def test_a_number_of_the_input_is_named(forward, capfd):
    with pytest.raises(UnsupportedOperatorError, match=r"line \d+ of test_known_checks.py, 'lambda m, x: ") as caught:
        rs.load(Forward(forward), 2)
    assert "takes a number out" in str(caught.value)
    assert is_one_sentence(str(caught.value))
    assert capfd.readouterr() == ("", "")


def test_a_network_is_a_part_of_a_module():
    torch.manual_seed(0)
    inner = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)).double()

    class Composed(nn.Module):
        def __init__(self):
            super().__init__()
            self.net, self.layer = rs.load(inner), nn.Linear(4, 2).double()

        def forward(self, x):
            return self.net(self.layer(x))

    model = Composed()
    x = torch.randn(9, 4, dtype=torch.float64)
    assert torch.allclose(rs.load(model, 4)(x), inner(model.layer(x)))
