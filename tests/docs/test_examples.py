"""Every script in ``examples/`` runs at its small size, says what it claims, and draws a picture.

The mathematics that a script does itself is checked beside that.
"""

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

import reluscope as rs

FOLDER = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(FOLDER.glob("*.py"))


def run(name, monkeypatch, capsys, *arguments):
    """Run a script as a user does, and return what it prints."""
    monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
    runpy.run_path(str(FOLDER / name), run_name="__main__")
    return capsys.readouterr().out


def module(name):
    """Return the names that a script defines, without running it."""
    return runpy.run_path(str(FOLDER / name), run_name="example")


@pytest.mark.few(1)
@pytest.mark.filterwarnings("ignore:.*torchvision:UserWarning")
@pytest.mark.parametrize(
    "script",
    [pytest.param(script, marks=pytest.mark.slow if script.stem == "onnx_controller" else ()) for script in SCRIPTS],
    ids=lambda script: script.stem,
)
def test_script(script, tmp_path, monkeypatch, capsys):
    printed = run(script.name, monkeypatch, capsys, "--size", "small", "-o", tmp_path / "new" / "pictures")
    assert re.search(r"\d \(EXACT\)", printed)
    picture = tmp_path / "new" / "pictures" / f"{script.stem}.png"
    assert f"picture: {picture}" in printed
    pixels = imread(picture)
    height, width = pixels.shape[:2]
    for part in np.array_split(pixels, 3, axis=1):  # something is drawn everywhere
        assert np.ptp(part[..., :3].reshape(-1, 3), axis=0).min() > 0.5
    assert min(height, width) > 400


def test_the_overview_names_every_script():
    overview = (FOLDER / "README.md").read_text(encoding="utf-8")
    for script in SCRIPTS:
        assert overview.count(f"[{script.name}]({script.name})") == 1
        assert f"python examples/{script.name} -o pictures" in overview
        assert f"python examples/{script.name} -o pictures" in script.read_text(encoding="utf-8")


def test_four_of_them():
    assert len(SCRIPTS) == 4


@pytest.fixture(scope="module")
def controller(tmp_path_factory):
    """A clamped linear law as the third example gets it: u = clamp(-2 x0 - 2 x1, -1, 1), in an ONNX file."""
    from onnx import TensorProto, helper, numpy_helper, save

    path = tmp_path_factory.mktemp("controller") / "law.onnx"
    constants = {"gain": np.array([[-2.0], [-2.0]]), "low": np.array(-1.0), "high": np.array(1.0)}
    weights = [numpy_helper.from_array(array.astype(np.float32), name) for name, array in constants.items()]
    nodes = [
        helper.make_node("MatMul", ["x", "gain"], ["u"]),
        helper.make_node("Clip", ["u", "low", "high"], ["force"]),
    ]
    ends = [helper.make_tensor_value_info(*end) for end in (("x", 1, ["s", 2]), ("force", TensorProto.FLOAT, ["s", 1]))]
    graph = helper.make_graph(nodes, "law", ends[:1], ends[1:], weights)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return path


@pytest.mark.slow
def test_a_controller_of_the_users(controller, tmp_path, monkeypatch, capsys):
    printed = run("onnx_controller.py", monkeypatch, capsys, "--controller", controller, "-o", tmp_path)
    assert "linear regions of the state space: 3 (EXACT)" in printed
    # |x0 + x1| > 1/2 holds on all of [-1, 1]^2 but a band, which leaves two triangles with legs 3/2.
    assert "different control laws: 3; saturated in 2 regions, 56.25% of all states" in printed
    assert "rest states: 1" in printed
    assert "u = -2.000 x0 -2.000 x1 +0.0000" in printed
    loop = np.array([[1.0, 0.1], [0.0, 1.0]]) + np.array([[0.005], [0.1]]) @ np.array([[-2.0, -2.0]])
    assert f"spectral radius {np.abs(np.linalg.eigvals(loop)).max():.4f}: stable" in printed
    assert not (tmp_path / "controller.onnx").exists()


def test_no_run_leaves_the_ellipse():
    example = module("onnx_controller.py")
    loop = example["A"] + example["B"] @ np.array([[-3.0, -2.0]])
    region = rs.Polyhedron([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.3, -1.0]], [0.4, 0.1, 0.5, 0.6])
    rest = np.array([0.05, 0.0])
    P, level = example["safe_ellipse"](region, rest, loop)
    angle = np.linspace(0.0, 2.0 * np.pi, 1000)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    ellipse = circle @ np.linalg.inv(np.linalg.cholesky(P / level))
    form = np.einsum("si,ij,sj->s", ellipse, P, ellipse)
    np.testing.assert_allclose(form, level)
    after = ellipse @ loop.T
    assert (np.einsum("si,ij,sj->s", after, P, after) < form).all()
    assert region.contains(rest + (1 - 1e-9) * ellipse).all()
    assert not region.contains(rest + 1.001 * ellipse).all()  # and none larger does


def test_rest_states_are_all_of_them():
    example = module("onnx_controller.py")
    layers = [
        ([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], [-0.25, -0.75, 0.0, 0.0]),
        ([[-1.0, 1.0, -1.0, 1.0]], [0.1]),
    ]
    net = rs.load([(np.array(weight), np.array(bias)) for weight, bias in layers])
    part = rs.partition(net, example["STATES"])
    found = example["rest_states"](part, part.maps.weight.numpy(), part.maps.bias.numpy())
    # At velocity 0 the force 0.1 - relu(x0 - 1/4) + relu(-x0 - 3/4) vanishes at x0 = 0.35 alone.
    np.testing.assert_allclose([rest for _, rest in found], [[0.35, 0.0], [0.35, 0.0]], atol=1e-12)
    assert len({row for row, _ in found}) == 2  # it lies on the boundary between velocities below and above 0


def test_grids_never_see_more_than_there_is():
    example = module("cnn_plane.py")
    net = rs.load([(np.eye(3), np.zeros(3)), (np.eye(3), np.zeros(3))])
    plane = rs.Plane(*np.eye(3), margin=0.25)
    exact = len(rs.partition(net, plane))
    seen = [example["sample_grid"](net, plane, side)[0] for side in (1, 4, 200)]
    assert seen[0] == 1
    assert seen[0] < seen[1] <= seen[2] == exact
    assert example["sample_grid"](net, plane, 50)[1].sum() == pytest.approx(1.0)


def test_spirals_are_two_and_do_not_meet():
    points, labels = module("mlp_in_training.py")["two_spirals"](400)
    assert labels.sum() == 200
    assert points.abs().max() < 1.0
    gap = np.linalg.norm(points[labels == 0].numpy()[:, None] - points[labels == 1].numpy()[None], axis=2)
    assert gap.min() > 0.05
