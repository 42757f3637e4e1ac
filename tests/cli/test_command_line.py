"""The command line as users meet it: help, exit codes, sentences on standard error, files."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from cli.running import is_one_sentence, reluscope
from reluscope.datasets.demo import demo_network
from reluscope.datasets.digits import digits
from reluscope.version import __version__

DATA = digits("test")
MODELS = Path(__file__).parents[3] / "shared" / "models"
SHAPE = ("--input-shape", "1,8,8")
SMALL = ("--segments", "2", "--samples", "40")
NET = ("my_models:Net", "--weights", "net.safetensors")


def test_help_teaches_and_costs_nothing():
    script = (
        "import sys\n"
        "from reluscope.cli import main\n"
        "sys.argv = ['reluscope', '--help']\n"
        "try: main()\n"
        "except SystemExit as stop: assert not stop.code\n"
        "heavy = [n for n in ('torch', 'numpy', 'matplotlib', 'scipy', 'jinja2') if n in sys.modules]\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    for word in ("analyze", "demo", "info", "reluscope analyze net.onnx --data x.npy"):
        assert word in done.stdout


@pytest.mark.parametrize("command", ["analyze", "demo", "explore", "snapshot", "info", "region", "partition"])
def test_every_command_has_help_with_an_example(command):
    result = reluscope(command, "--help")
    assert result.exit_code == 0
    assert f"reluscope {command}" in result.stdout
    assert "Example" in result.stdout


def test_version_and_module():
    done = subprocess.run([sys.executable, "-m", "reluscope", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"reluscope {__version__}"


@pytest.mark.slow
def test_demo(folder, quick_report):
    result = reluscope("demo")
    assert result.exit_code == 0
    assert "98.1 %" in result.stdout
    assert "EXACT" in result.stdout
    assert "reluscope-demo/report.html" in result.stdout
    assert {path.name for path in (folder / "reluscope-demo").iterdir()} >= {"report.html", "report.json"}


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("model", "options"),
    [
        pytest.param("my_models:Net", ("--weights", "net.safetensors", *SHAPE), marks=pytest.mark.slow),
        ("my_models:Net", ("--weights", "state.pt")),
        pytest.param("my_models:Net", ("--weights", "checkpoint.pt"), marks=pytest.mark.slow),
        ("net.pt2", ()),
    ],
)
def test_analyze_in_every_form(folder, quick_report, model, options):
    if model == "net.pt2":
        torch.export.save(torch.export.export(demo_network(), (torch.zeros(2, 1, 8, 8),)), "net.pt2")
    result = reluscope("analyze", model, "--data", "data.npz", *options, *SMALL, "-o", "out")
    assert result.exit_code == 0, result.output
    numbers = json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))
    assert numbers["complete"]
    assert numbers["model"]["name"] == model
    assert numbers["sections"]["fit"]["findings"][0]["value"] > 0.9
    assert "out/report.html" in result.stdout


@pytest.mark.slow
def test_labels_of_their_own_and_json(folder, quick_report):
    result = reluscope(
        "analyze",
        "my_models:Net",
        "--weights",
        "net.safetensors",
        "--data",
        "x.npy",
        "--labels",
        "y.npy",
        *SMALL,
        "--json",
    )
    assert result.exit_code == 0
    printed = json.loads(result.stdout)
    assert printed == json.loads((folder / "reluscope-Net" / "report.json").read_text(encoding="utf-8"))
    assert printed["data"]["labels"] is True
    assert "only the first 40 of 360 samples were used" in printed["data"]["notes"]


@pytest.mark.slow
def test_quiet_says_nothing(folder, quick_report):
    result = reluscope("analyze", *NET, "--data", "x.npy", *SMALL, "-q")
    assert (result.exit_code, result.output) == (0, "")


@pytest.mark.slow
def test_a_report_is_replaced_only_by_force(folder, quick_report):
    (folder / "out").mkdir()
    (folder / "out" / "report.html").write_text("mine", encoding="utf-8")
    options = ("analyze", *NET, "--data", "x.npy", *SMALL, "-o", "out")
    result = reluscope(*options)
    assert result.exit_code == 1
    assert "--force" in result.stderr
    assert (folder / "out" / "report.html").read_text(encoding="utf-8") == "mine"
    assert reluscope(*options, "--force").exit_code == 0


@pytest.mark.slow
def test_a_demo_replaces_demos_only(folder, quick_report):
    for content in ('{"model": {"name": "mine"}}', "[]", "no JSON"):
        (folder / "out").mkdir(exist_ok=True)
        (folder / "out" / "report.json").write_text(content, encoding="utf-8")
        result = reluscope("demo", "-o", "out")
        assert result.exit_code == 1
        assert "--force" in result.stderr
    assert reluscope("demo", "-o", "out", "--force", "-q").exit_code == 0
    assert reluscope("demo", "-o", "out", "-q").exit_code == 0


def test_info(folder):
    options = ("info", *NET, *SHAPE)
    result = reluscope(*options)
    assert result.exit_code == 0
    assert "184 units in 3 gates" in result.stdout
    assert "gate: max pool" in result.stdout
    plain = json.loads(reluscope(*options, "--json").stdout)
    assert [gate["num_units"] for gate in plain["gates"]] == [128, 32, 24]
    assert plain["verification"]["num_points"] > 0


BROKEN = [
    (("no.onnx",), "no.onnx does not exist"),
    (("whole.pt",), "can run any code"),
    (("my_models:Net", "--weights", "whole.pt"), "holds more than tensors and is not unpickled"),
    (("my_models:Net", "--weights", "none.safetensors"), "there is no file of weights"),
    (("my_models:Net", "--weights", "x.npy"), "holds more than tensors"),
    (("my_models:Net", "--weights", "half.safetensors"), "damaged or not a safetensors file"),
    (("my_models:Net", "--weights", "lacking.safetensors"), "the file lacks scores.bias"),
    (("my_models:Net", "--weights", "shaped.safetensors"), "size mismatch for scores.bias"),
    (("my_models:Net", "--weights", "nan.safetensors"), "expected finite weights"),
    (("nowhere:Net",), "nowhere could not be imported"),
    (("my_models:Other",), "has no Other"),
    (("my_models:number",), "must return a torch.nn.Module, got int"),
    (("my_models:needs",), "calling my_models:needs() failed with TypeError"),
    (("my_models:tanh",), "is not piecewise linear"),
    (("whole.pt", "--weights", "net.safetensors"), "holds its own weights"),
    (("state.pt",), "--weights state.pt, as in package.module:factory"),
    (("net.safetensors",), "--weights net.safetensors, as in package.module:factory"),
]


@pytest.mark.few(6)
@pytest.mark.parametrize(("arguments", "words"), BROKEN, ids=[" ".join(arguments) for arguments, _ in BROKEN])
def test_models_that_cannot_be_used(folder, arguments, words):
    state = demo_network().state_dict()
    (folder / "half.safetensors").write_bytes((folder / "net.safetensors").read_bytes()[:300])
    save_file({name: tensor for name, tensor in state.items() if name != "scores.bias"}, "lacking.safetensors")
    save_file({**state, "scores.bias": torch.zeros(3)}, "shaped.safetensors")
    save_file({**state, "scores.bias": torch.full((10,), torch.nan)}, "nan.safetensors")
    result = reluscope("analyze", *arguments, "--data", "x.npy", "-o", "out")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert words in result.stderr
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr
    assert not (folder / "out").exists()


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("name", "array", "words"),
    [
        ("nan.npy", np.full((3, 64), np.nan), "NaN or infinite"),
        ("empty.npy", np.zeros((0, 64)), "holds no samples"),
        ("wide.npy", np.zeros((3, 65)), "each sample of wide.npy has shape (65,)"),
        ("y.npy", None, "each sample of y.npy has shape (1,)"),
        ("none.npy", None, "there is no file none.npy"),
    ],
)
def test_data_that_cannot_be_used(folder, name, array, words):
    if array is not None:
        np.save(name, array)
    result = reluscope("analyze", *NET, *SHAPE, "--data", name, "-o", "out")
    assert result.exit_code == 1
    assert words in result.stderr
    assert not (folder / "out").exists()


def test_labels_beyond_the_outputs(folder):
    np.save("many.npy", np.full(len(DATA), 10))
    result = reluscope(
        "analyze",
        "my_models:Net",
        "--weights",
        "net.safetensors",
        "--data",
        "x.npy",
        "--labels",
        "many.npy",
        "-o",
        "out",
    )
    assert result.exit_code == 1
    assert "labels must be class numbers from 0 to 9" in result.stderr
    assert not (folder / "out").exists()


def test_labels_are_compared_with_what_a_file_says_before_it_is_loaded(folder):
    """Seen red where the model was loaded first: its exponential would be refused."""
    onnx = pytest.importorskip("onnx", reason="the extra [onnx] is not installed")
    shape = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["batch", 3]) for name in "xy"]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Exp", ["x"], ["y"])], "g", shape[:1], shape[1:])
    onnx.save(onnx.helper.make_model(graph), "curved.onnx")
    np.savez("three.npz", x=np.zeros((4, 3)), y=[0, 1, 2, 3])
    result = reluscope("analyze", "curved.onnx", "--data", "three.npz", "-o", "out")
    assert result.exit_code == 1
    assert "labels must be class numbers from 0 to 2 (as many as outputs), got 3" in result.stderr
    np.savez("values.npz", x=np.zeros((4, 3)), y=np.full((4, 3), 0.5))
    result = reluscope("analyze", "curved.onnx", "--data", "values.npz", "-o", "out")
    assert "Exp" in result.stderr


def test_labels_are_compared_with_programs_and_modules_before_they_are_traced(folder, monkeypatch):
    """Seen red where models were loaded first, which takes the most of the time."""
    names = {"batch": ({0: torch.export.Dim("batch")},), "fixed": None}
    for name, shapes in names.items():
        program = torch.export.export(demo_network(), (torch.zeros(2, 1, 8, 8),), dynamic_shapes=shapes)
        torch.export.save(program, f"{name}.pt2")
    monkeypatch.setattr("reluscope.cli.reading.models.load", lambda *given, **also: pytest.fail("loaded"))
    np.save("many.npy", np.arange(len(DATA)))
    for model in ("batch.pt2", "fixed.pt2", "my_models:Net"):
        shape = SHAPE if ":" in model else ()
        result = reluscope("analyze", model, "--data", "x.npy", "--labels", "many.npy", *shape, "-o", "out")
        assert "labels must be class numbers from 0 to 9" in result.stderr
        assert is_one_sentence(result.stderr)


@pytest.mark.parametrize("wrong", [b"", b"PK", "empty", "no graph"])
def test_programs_that_say_nothing_of_outputs_are_refused_by_loading(folder, wrong):
    if isinstance(wrong, bytes):
        Path("odd.pt2").write_bytes(wrong)
    else:
        with zipfile.ZipFile("odd.pt2", "w") as archive:
            archive.writestr("net/models/model.json", "{}" if wrong == "empty" else '{"graph_module": {"graph": 3}}')
    result = reluscope("analyze", "odd.pt2", "--data", "data.npz", "-o", "out")
    assert result.exit_code == 1
    assert is_one_sentence(result.stderr)
    assert "odd.pt2" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["int", pytest.param("half", marks=pytest.mark.slow)])
def test_integer_and_half_precision_data(folder, quick_report, kind):
    np.save("k.npy", (DATA.points * 16).astype(np.uint8) if kind == "int" else DATA.points.astype(np.float16))
    result = reluscope("analyze", *NET, "--data", "k.npy", *SMALL, "--json")
    assert result.exit_code == 0
    note = json.loads(result.stdout)["data"]["notes"][0]
    assert note == (
        "converted from uint8 to float64, not rescaled" if kind == "int" else "converted from float16 to float64"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("analyze", "net.onnx"), "Missing option '--data'"),
        (("nothing",), "No such command"),
        (("info", "net.onnx", "--input-shape", "1,a"), "--input-shape"),
        (("info", "net.onnx", "--input-shape", "1,-2"), "must be positive"),
        (("info", "net.onnx", "--input-shape", "a=2,b"), "as in state=3,action=2x2"),
        (("info", "net.onnx", "--input-shape", "a=2,a=1"), "each input once"),
        (("demo", "--seed", "-1"), "--seed"),
    ],
)
def test_wrong_usage_is_code_2(arguments, words):
    result = reluscope(*arguments)
    assert result.exit_code == 2
    assert words in result.stderr


def test_several_inputs_are_joined_by_name(folder):
    lines = ["import torch", "class Sum(torch.nn.Module):", "    def forward(self, a, b):"]
    (folder / "sums.py").write_text("\n".join([*lines, "        return a.relu() + b.flatten(1)\n"]), encoding="utf-8")
    result = reluscope("info", "sums:Sum", "--input-shape", "a=4,b=2x2")
    assert result.exit_code == 0, result.output
    assert "input 8, output 4" in result.stdout
    assert "in this order: a (4,), b (2, 2)" in result.stdout
    assert "join them" in reluscope("info", "sums:Sum", "--input-shape", "4").stderr


def test_unwritable_folders(folder):
    (folder / "file").write_text("", encoding="utf-8")
    result = reluscope("demo", "-o", "file/below")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_full_disk_is_one_sentence(folder, demo_at_once, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("reluscope.report.written_report.os.fsync", full)
    result = reluscope("demo", "-o", "out")
    assert result.exit_code == 1
    assert "No space left on device" in result.stderr
    assert list((folder / "out").iterdir()) == []


@pytest.mark.shared
@pytest.mark.parametrize("name", ["acasxu_1_1", "mnist_fc_256x2", "cifar10_small", "cifar10_resnet_2b", "test_nano"])
def test_real_models_are_described(name):
    path = MODELS / f"{name}.onnx"
    if not path.exists():
        pytest.skip("the models are not beside the checkout")
    result = reluscope("info", path, "--json")
    assert result.exit_code == 0, result.output
    described = json.loads(result.stdout)
    assert described["num_units"] == {
        "acasxu_1_1": 300, "mnist_fc_256x2": 512, "cifar10_small": 2568, "cifar10_resnet_2b": 6244, "test_nano": 1,
    }[name]  # fmt: skip


def test_files_are_looked_at_before_anything_is_loaded(folder, quick_report, monkeypatch):
    loads = "reluscope.cli.reports.analyze.open_model_and_data"
    monkeypatch.setattr(loads, lambda *given, **also: pytest.fail("loaded"))
    for wrong in (("--labels", "none.npy"), ("--weights", "none.pt"), ("-o", "x.npy")):
        result = reluscope("analyze", "my_models:Net", "--data", "x.npy", *wrong)
        assert result.exit_code == 1
        assert is_one_sentence(result.stderr)
    for arguments in (("analyze", "none.onnx", "--data", "x.npy"), ("analyze", *NET, "--data", "none.npy")):
        result = reluscope(*arguments)
        assert result.exit_code == 1
        assert "does not exist" in result.stderr or "there is no file" in result.stderr


@pytest.mark.slow
def test_two_models_share_a_page(folder, quick_report):
    np.save("plane.npy", np.random.default_rng(0).normal(size=(30, 2)))
    models = ("analyze", "my_models:cross", "my_models:affine", "--data", "plane.npy", "--segments", "1", "-o", "out")
    result = reluscope(*models)
    assert result.exit_code == 0, result.output
    numbers = json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))
    assert numbers["format"] == "reluscope reports 1"
    assert [one["model"]["name"] for one in numbers["reports"]] == ["my_models:cross", "my_models:affine"]
    assert (folder / "out" / "regions-2.parquet").exists()
    assert reluscope(*models, "--resume").exit_code == 1
    assert reluscope(*models, "--force", "--weights", "net.safetensors").exit_code == 2


def test_a_command_of_a_package_that_is_not_installed_is_told_where_it_is(monkeypatch):
    monkeypatch.setattr("reluscope.cli.terminal.application._offered", dict)
    result = reluscope("boolean", "x1 ^ x2")
    assert result.exit_code == 2
    assert "The command boolean comes with the package reluscope-studies: pip install reluscope-st" in result.stderr
    assert "No such command 'bolean'" in reluscope("bolean").stderr
