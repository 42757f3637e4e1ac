"""Coefficient matrices are the Jacobians and constants of autograd, however they are cut, shared and kept."""

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.errors import BudgetExceededError, InputError
from reluscope.files.kept_results import KEY

MODELS = {
    "dense": torch.nn.Sequential(torch.nn.Linear(12, 9), torch.nn.ReLU(), torch.nn.Linear(9, 3)),
    "conv and max": torch.nn.Sequential(
        torch.nn.Unflatten(1, (1, 3, 4)),
        torch.nn.Conv2d(1, 2, 2),
        torch.nn.MaxPool2d(2, stride=1),
        torch.nn.LeakyReLU(0.1),
        torch.nn.Flatten(),
        torch.nn.Linear(4, 3),
    ),
    "affine": torch.nn.Sequential(torch.nn.Linear(12, 3)),
}


@pytest.fixture(params=MODELS)
def model(request):
    torch.manual_seed(3)
    return MODELS[request.param].double()


@pytest.fixture
def points():
    return torch.randn(23, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def by_autograd(model, points):
    jacobians = torch.stack([torch.autograd.functional.jacobian(model, point[None])[0, :, 0] for point in points])
    constants = model(points).detach() - (jacobians @ points[..., None]).squeeze(-1)
    return torch.cat([jacobians, constants[..., None]], dim=2).movedim(1, 0)


@pytest.mark.few(5)
@pytest.mark.parametrize("samples", [1, 7, 100])
def test_rows_are_those_of_autograd(model, points, samples):
    net = rs.load(model, input_shape=(12,))
    matrices = rs.coefficients.matrix(net, points, budget=rs.Budget(memory=8 * 8 * 3 * 13 * samples))
    seen = [(rows, values) for rows, values in matrices.blocks()]
    assert [rows.start for rows, _ in seen] == list(range(0, 23, min(samples, 23)))
    found = torch.cat([values for _, values in seen], dim=1)
    torch.testing.assert_close(found, by_autograd(model, points), rtol=1e-12, atol=1e-12)
    maps = matrices.maps([4, 2])
    np.testing.assert_allclose(maps.weight, found[:, [4, 2], :-1].movedim(0, 1), atol=1e-12)
    assert len(matrices) == 23


def test_one_output_whole(model, points):
    net = rs.load(model, input_shape=(12,))
    matrices = rs.coefficients.matrix(net, points, outputs=[2, 0])
    np.testing.assert_allclose(matrices.output(0), by_autograd(model, points)[2], atol=1e-12)
    np.testing.assert_allclose(matrices.output(1), by_autograd(model, points)[0], atol=1e-12)


def test_samples_of_one_region_share_a_row(monkeypatch):
    net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    asked = []
    linearize = type(net).linearize
    monkeypatch.setattr(
        type(net), "linearize", lambda self, x, **more: asked.append(len(x)) or linearize(self, x, **more)
    )
    x = np.array([[1.0, 1.0], [-1.0, 1.0], [2.0, 5.0], [-3.0, 1.0], [1.0, 1.0]])
    matrices = rs.coefficients.matrix(net, x)
    np.testing.assert_array_equal(matrices.output(0), [[1, 1, 0], [0, 1, 0], [1, 1, 0], [0, 1, 0], [1, 1, 0]])
    assert asked == [2]
    labels, first, counts = matrices.regions()
    assert (labels.tolist(), first.tolist(), counts.tolist()) == ([0, 1, 0, 1, 0], [0, 1], [3, 2])


def test_a_pass_that_was_stopped_goes_on(points, tmp_path, monkeypatch):
    net = rs.load(MODELS["dense"].double(), input_shape=(12,))
    settings = {"budget": rs.Budget(memory=8 * 8 * 3 * 13 * 5), "checkpoint": tmp_path / "kept"}
    matrices = rs.coefficients.matrix(net, points, **settings)
    for rows, _ in matrices.blocks():
        if rows.start == 10:
            break
    damaged = tmp_path / "kept" / "samples-000000005-000000010.npz"
    damaged.write_bytes(damaged.read_bytes()[:200])
    with pytest.raises(InputError, match=r"000000010\.npz is not a kept result .* or it is damaged: remove that file"):
        list(rs.coefficients.matrix(net, points, **settings).blocks())
    damaged.unlink()
    computed = []
    block = rs.coefficients.CoefficientMatrices._block
    monkeypatch.setattr(
        rs.coefficients.CoefficientMatrices,
        "_block",
        lambda self, rows: computed.append(rows.start) or block(self, rows),
    )
    again = rs.coefficients.matrix(net, points, **settings)
    found = torch.cat([values for _, values in again.blocks()], dim=1)
    assert computed == [5, 15, 20]
    at_once = torch.cat([values for _, values in rs.coefficients.matrix(net, points).blocks()], dim=1)
    torch.testing.assert_close(found, at_once, rtol=1e-12, atol=1e-12)
    computed.clear()
    np.testing.assert_array_equal(again.output(1), found[1])
    assert computed == []


def test_folders_of_something_else_are_refused(points, tmp_path):
    net = rs.load(MODELS["dense"].double(), input_shape=(12,))
    rs.coefficients.matrix(net, points, checkpoint=tmp_path / "kept")
    with pytest.raises(InputError, match="another set of points"):
        rs.coefficients.matrix(net, points[:3], checkpoint=tmp_path / "kept")
    with pytest.raises(InputError, match="another choice of outputs"):
        rs.coefficients.matrix(net, points, outputs=[0], checkpoint=tmp_path / "kept")
    with pytest.raises(InputError, match="another network"):
        rs.coefficients.matrix(
            rs.load(MODELS["affine"].double(), input_shape=(12,)), points, checkpoint=tmp_path / "kept"
        )
    (tmp_path / "kept" / KEY).write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"the key of kept results .* or it is damaged"):
        rs.coefficients.matrix(net, points, checkpoint=tmp_path / "kept")
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "love.txt").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match=r"holds love\.txt"):
        rs.coefficients.matrix(net, points, checkpoint=tmp_path / "letters")
    with pytest.raises(InputError, match="expected a folder to keep results in"):
        rs.coefficients.matrix(net, points, checkpoint=tmp_path / "letters" / "love.txt")


def test_what_cannot_be_done_is_one_sentence(points):
    net = rs.load(MODELS["dense"].double(), input_shape=(12,))
    with pytest.raises(InputError, match="at least one sample"):
        rs.coefficients.matrix(net, points, budget=rs.Budget(memory=100))
    with pytest.raises(InputError, match="outputs must be from 0 to 2"):
        rs.coefficients.matrix(net, points, outputs=[3])
    matrices = rs.coefficients.matrix(net, points, budget=rs.Budget(memory=8 * 8 * 3 * 13 * 3))
    with pytest.raises(InputError, match="j must be from 0 to 2"):
        matrices.output(3)
    small = rs.coefficients.matrix(net, points.repeat(40, 1), budget=rs.Budget(memory=8 * 8 * 3 * 13 * 3))
    with pytest.raises(BudgetExceededError, match=r"blocks\(\)"):
        small.output(0)
    # Inactive wherever a model is tried, so that only the coefficients overflow.
    huge = rs.load([(np.array([[1e160]]), np.array([-1e164])), (np.array([[1e160]]), np.zeros(1))])
    with pytest.raises(InputError, match="of sample 1 overflow"):
        rs.coefficients.matrix(huge, [[-1.0], [2e4]]).output(0)
