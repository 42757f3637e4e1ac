"""What can be said without a model is said without importing PyTorch, which takes seconds."""

import json
import subprocess
import sys

import pytest

from cli.running import reluscope

# One process for all questions: what one of them imports, those after it have, too, so the first is to blame.
ASKED = """
import contextlib, io, json, sys
from reluscope.cli import main
answers = []
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["reluscope", *arguments]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            main()
        except SystemExit as end:
            answers.append([end.code, "torch" in sys.modules, "scipy" in sys.modules, said.getvalue()])
print(json.dumps(answers))
"""
QUESTIONS = {
    ("--help",): 0,
    ("bounds", "--arch", "784,11,11"): 0,
    ("bounds", "--arch", "784,11,11", "--rank", "3", "--json"): 0,
    ("info", "missing.onnx"): 1,
    ("info", "made:it", "--weights", "missing.safetensors"): 1,
    ("info", "missing.onnx", "--decision", "least"): 2,
    ("analyze", "here.onnx", "--data", "missing.npy"): 1,
    ("analyze", "here.onnx", "--data", "here.onnx", "--labels", "missing.npy"): 1,
    ("codes", "here.onnx", "--data", "missing.npy"): 1,
    ("region", "missing.onnx", "--data", "x.npy", "--sample", "1"): 1,
    ("preimage", "missing.onnx", "--data", "x.npy"): 1,
    ("compare", "here.onnx", "missing.onnx", "--data", "x.npy"): 1,
    ("partition", "here.onnx", "--plane", "missing.npy"): 1,
    ("count", "missing.onnx", "--space"): 1,
    ("surface", "missing.onnx", "--box", "-1,1"): 1,
    ("surface", "here.onnx", "--box", "-1,1", "--of", "2-2"): 2,
    ("explore", "missing.onnx"): 1,
    ("snapshot", "here.onnx", "--data", "missing.npy"): 1,
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Code, whether PyTorch and SciPy were imported, and what was said of what is wrong, by question."""
    folder = tmp_path_factory.mktemp("answers")
    (folder / "here.onnx").touch()
    command = [sys.executable, "-c", ASKED, json.dumps(list(QUESTIONS))]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return dict(zip(QUESTIONS, json.loads(done.stdout), strict=True))


@pytest.mark.few(4)
@pytest.mark.parametrize(("arguments", "code"), QUESTIONS.items(), ids=[" ".join(one) for one in QUESTIONS])
def test_without_importing_pytorch(answers, arguments, code):
    *found, said = answers[arguments]
    assert found == [code, False, False]
    assert (code == 0) == (said == "")


def test_a_model_still_has_bounds(folder):
    assert reluscope("bounds", "my_models:cross").exit_code == 0


@pytest.mark.few(1)
@pytest.mark.parametrize(("how", "classes"), [("largest", [0, 1]), ("smallest", [1, 0])])
def test_decision(folder, how, classes):
    import numpy as np

    np.save("two.npy", np.array([[3.0, 1.0], [1.0, 3.0]]))
    for sample, expected in enumerate(classes):
        found = reluscope(
            "region", "my_models:cross", "--data", "two.npy", "--sample", sample, "--decision", how, "--json"
        )
        assert found.exit_code == 0, found.stderr
        assert json.loads(found.stdout)["class"] == expected


def test_a_decision_that_does_not_fit(folder):
    found = reluscope("info", "my_models:cross", "--decision", "0.5")
    assert found.exit_code == 1
    assert "a threshold reads the class of one output, and this network has 2" in found.stderr


@pytest.mark.slow
def test_outputs_and_inputs_of_models(folder):
    import numpy as np

    with (folder / "my_models.py").open("a") as file:
        file.write("""
class Several(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 3)
    def forward(self, x, mask, sign=1.0):
        return {"logits": self.layer(x * mask).relu() * sign, "kept": x}
""")
    np.save("mask.npy", np.array([1.0, 0.0]))
    fixed = ("--model-output", "logits", "--model-input", "mask=mask.npy", "--model-input", "sign=-1.5")
    found = reluscope("info", "my_models:Several", *fixed, "--input-shape", "2")
    assert found.exit_code == 0, found.stderr
    assert "3 units" in found.stdout
    for words, arguments in {
        "give NAME=VALUE": ("--model-input", "mask"),
        "there is no file no.npy": ("--model-input", "mask=no.npy"),
        "mask to be fixed at a .npy file, a number": ("--model-input", "mask=word"),
        "got 2: logits, kept": ("--model-input", "mask=[1, 0]", "--input-shape", "2"),
    }.items():
        found = reluscope("info", "my_models:Several", *arguments)
        assert found.exit_code != 0
        assert words in found.stderr
