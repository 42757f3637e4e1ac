"""ResNets and Inception-v3 in plain PyTorch, and a linear layer on what they give."""

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.studies import Outcome, Setting
from reluscope_studies.inception import InceptionV3
from reluscope_studies.residual_networks import resnet
from reluscope_studies.sattelberg2026_ch6 import _pretrained, pretrained
from reluscope_studies.sattelberg2026_ch6._pretrained_jacobians import whole_network

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("build", "parameters"),
    [
        (lambda: resnet("resnet18"), 11_689_512),
        (lambda: resnet("resnet152"), 60_192_808),
        (InceptionV3, 27_161_264 - 3_326_696),
    ],
    ids=["resnet18", "resnet152", "inceptionv3"],
)
def test_parameters_are_those_of_torchvision(build, parameters):
    """Its documentation counts them; of Inception-v3 those of the second classifier are taken off."""
    with torch.device("meta"):
        model = build()
    assert sum(one.numel() for one in model.parameters()) == parameters


def test_inception_averages_maps_of_8_x_8():
    """From 299 pixels; the printed 229 make 5 x 5."""
    model = InceptionV3(width=1 / 64).eval()
    with torch.no_grad():
        assert model.maps(torch.zeros(1, 3, 299, 299)).shape[2:] == (8, 8)
        assert model.maps(torch.zeros(1, 3, 229, 229)).shape[2:] == (5, 5)


def test_a_block_by_hand():
    """With one channel and ones in the middle of every kernel: the gate of twice what comes in, and of its sum."""
    model = resnet("resnet18", base=1).eval()
    block = model.layer1[0]
    for layer in (block.conv1, block.conv2):
        layer.weight.data.zero_()
        layer.weight.data[0, 0, 1, 1] = 1.0
    x = torch.tensor([[[[1.0, -2.0], [3.0, 0.5]]]])
    scale = 1 / (1 + block.bn1.eps)  # two normalisations, each by the root of it
    assert torch.allclose(block(x), torch.relu(scale * torch.relu(x) + x))


@pytest.fixture(scope="module")
def images():
    rng = np.random.default_rng(0)
    labels = np.arange(24) % 3
    points = rng.normal(size=(24, 1, 8, 8)) + np.array([-2.0, 0.0, 2.0])[labels][:, None, None, None]
    return rs.datasets.dataset_of(points, labels, name="drawn")


@pytest.fixture
def tiny(monkeypatch):
    sides = {"resnet18": 32, "resnet152": 32, "inceptionv3": 75}
    monkeypatch.setitem(_pretrained.PLANS, "small", _pretrained.Plan(1 / 64, sides, None, 2, 2))
    monkeypatch.setattr(_pretrained, "PRETRAINED", ("resnet18",))
    monkeypatch.delenv(_pretrained.WEIGHTS, raising=False)


def test_random_networks_say_that_they_are(images, tiny, monkeypatch):
    setting = Setting("small", images, images)
    outcome = pretrained.protocol(setting)
    table, compressed = outcome.tables
    assert [row[:4] for row in table.rows] == [
        ("resnet18", "random", "96.64", "96.43"),
    ]
    assert outcome.verdicts == ()
    assert "Random weights" in outcome.sentences[1]
    assert [row[0] for row in compressed.rows] == ["resnet18 SGD"]
    assert compressed.columns[2:] == ("k = 1", "k = 2", "k = 5", "k = 10")
    assert [picture.name.removeprefix("mnist-pretrained-") for picture in outcome.pictures] == [
        "coefficients", "directions", "along", "eigenvalues", "compression", "cka", "scaled-distance",
        "output-cross-entropy",
    ]  # fmt: skip
    named = [finding.name for finding in outcome.findings]
    assert "share of the first direction, resnet18 SGD" in named
    assert "accuracy with 5 maps per output, resnet18 SGD" in named
    kept = dict(setting.records)
    monkeypatch.setattr(_pretrained, "asked_of", lambda *_: Outcome((), ()))
    assert pretrained.protocol(setting).tables == outcome.tables[:1]
    assert all(setting.records[name] is record for name, record in kept.items())


def test_a_network_from_the_image_to_the_outputs_has_the_gradients_of_autograd():
    """Resized, through all branches and the last layer."""
    torch.manual_seed(0)
    model, _ = _pretrained.built("inceptionv3", 1 / 64, 0)
    images = torch.rand(6, 3, 8, 8)
    _pretrained.calibrate(model, _pretrained._resized(images, 75))
    last = torch.nn.Linear(model.fc.in_features, 3)
    network = whole_network(model, 75, last, (3, 8, 8))
    x = images[:1].double().requires_grad_()
    out = last.double()(model.double().features(_pretrained._resized(x, 75)))
    (gradient,) = torch.autograd.grad(out[0, 1], x)
    found = network.linearize(x.detach().numpy())
    assert gradient.abs().max() > 1e-3
    assert found.weight[0, 1].numpy() == pytest.approx(gradient.reshape(-1).numpy(), rel=1e-9, abs=1e-12)


def test_features_of_other_weights_are_others(images, tiny, monkeypatch, tmp_path):
    """Those of random weights are not taken for those of files that came later."""
    monkeypatch.setattr(_pretrained, "asked_of", lambda *_: Outcome((), ()))
    setting = Setting("small", images, images)
    pretrained.protocol(setting)
    monkeypatch.setenv(_pretrained.WEIGHTS, str(tmp_path))
    torch.save(resnet("resnet18", base=1).state_dict(), tmp_path / "resnet18.pth")
    assert pretrained.protocol(setting).tables[0].rows[0][1] == "pretrained"
    assert list(setting.records) == ["resnet18", "resnet18, pretrained"]


def test_weights_from_files(images, tiny, monkeypatch, tmp_path):
    """Of the right width they are taken, with a second classifier that is left out; of another they are refused."""
    monkeypatch.setenv(_pretrained.WEIGHTS, str(tmp_path))
    weights = resnet("resnet18", base=1).state_dict()
    weights["conv1.weight"] = torch.full_like(weights["conv1.weight"], 0.5)
    torch.save({**weights, "AuxLogits.fc.bias": torch.zeros(2)}, tmp_path / "resnet18.pth")
    model, is_pretrained = _pretrained.built("resnet18", 1 / 64, 0)
    assert is_pretrained
    assert model.conv1.weight[0, 0, 0, 0].item() == 0.5
    with pytest.raises(rs.errors.InputError, match="torchvision's weights of resnet18"):
        _pretrained.built("resnet18", 1 / 16, 0)
    found = _pretrained._verdicts(
        "mnist", {("resnet18", "SGD"): rs.Finding.of(0.96, is_share=True)}, {"resnet18": True}
    )
    assert [one.word for one in found] == ["confirmed"]
