"""``reluscope verify``: verdicts, exit codes, files, and what is refused."""

import json

import numpy as np
import pytest
from onnx import TensorProto, helper, save

from cli.running import is_one_sentence, reluscope

TEXT = """(declare-const X_0 Real)
(declare-const X_1 Real)
(declare-const Y_0 Real)
(declare-const Y_1 Real)
(assert (<= 0 X_0 1))
(assert (<= 0 X_1 1))
(assert (>= Y_0 LEVEL))
"""


def verified(folder, level, *arguments, model="my_models:cross"):
    (folder / "safe.vnnlib").write_text(TEXT.replace("LEVEL", str(level)))
    return reluscope("verify", model, "safe.vnnlib", *arguments)


@pytest.mark.parametrize(("level", "verdict", "code"), [(1.5, "HOLDS", 0), (0.5, "VIOLATED", 3), (1.0, "OPEN", 4)])
def test_verdicts_and_exit_codes(folder, level, verdict, code):
    result = verified(folder, level, "--json", "--regions", "40")
    assert result.exit_code == code, result.output
    assert json.loads(result.stdout)["verdict"] == verdict
    printed = verified(folder, level, "--regions", "40")
    assert printed.exit_code == code
    assert verdict in printed.stdout


def test_the_result_file_of_the_competition(folder):
    for level, word in ((1.5, "unsat"), (0.5, "sat"), (1.0, "unknown")):
        verified(folder, level, "--regions", "40", "-o", "result.txt", "-o", "result.json", "--force", "-q")
        lines = (folder / "result.txt").read_text().splitlines()
        assert lines[0] == word
        found = json.loads((folder / "result.json").read_text())["counterexample"]
        if word != "sat":
            assert (lines[1:], found) == ([], None)
            continue
        pairs = [line.strip("()").split() for line in lines[1:]]
        assert [name for name, _ in pairs] == ["X_0", "X_1", "Y_0", "Y_1"]
        values = [float(value) for _, value in pairs]
        assert values == [*found["inputs"], *found["outputs"]]
        np.testing.assert_allclose(values[2:], np.maximum(values[:2], 0))
        assert values[2] >= 0.5


def test_a_counterexample_is_replayed_in_float32(folder):
    pytest.importorskip("onnxruntime")
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "cross", ends[:1], ends[1:])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "net.onnx")
    result = verified(folder, 0.5, "--json", model="net.onnx")
    found = json.loads(result.stdout)["counterexample"]
    assert found["float32_violates"] is True
    np.testing.assert_allclose(found["float32_outputs"], found["outputs"], rtol=1e-6)
    assert "by onnxruntime: violated, too" in verified(folder, 0.5, model="net.onnx").stdout


def test_bad_files_are_one_sentence(folder):
    for text, said in (("(assert", "line 1"), (TEXT.replace("LEVEL", "Y_0 Y_1 ("), "line 7")):
        (folder / "bad.vnnlib").write_text(text)
        result = reluscope("verify", "my_models:cross", "bad.vnnlib")
        assert result.exit_code == 1
        assert is_one_sentence(result.stderr)
        assert said in result.stderr
    assert "cannot be read" in reluscope("verify", "my_models:cross", "missing.vnnlib").stderr
    assert "over 3 inputs" in verified(folder, 1, model="my_models:total").stderr
