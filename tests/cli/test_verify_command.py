"""``reluscope verify``: verdicts, exit codes, files, and what is refused."""

import json

import numpy as np
import pytest
from onnx import TensorProto, helper, save

from cli.running import is_one_sentence, reluscope
from reluscope.analyses.verification.exact_leaves import ExactLeaves

TEXT = """(declare-const X_0 Real)
(declare-const X_1 Real)
(declare-const Y_0 Real)
(declare-const Y_1 Real)
(assert (<= 0 X_0 1))
(assert (<= 0 X_1 1))
(assert (>= Y_0 LEVEL))
"""
# The largest output is 1, and this is next to it: no input has it, and rounding leaves no proof but one in fractions.
BEYOND = "1.0000000000000002"


def verified(folder, level, *arguments, model="my_models:cross"):
    (folder / "safe.vnnlib").write_text(TEXT.replace("LEVEL", str(level)), encoding="utf-8")
    return reluscope("verify", model, "safe.vnnlib", *arguments)


def test_what_fractions_alone_decide(folder):
    assert verified(folder, BEYOND, "--regions", "40").exit_code == 0
    (folder / "third.vnnlib").write_text(
        "(declare-const X_0 Real)\n(declare-const Y_0 Real)\n(assert (<= 0 X_0 1))\n(assert (<= Y_0 0))\n",
        encoding="utf-8",
    )
    found = json.loads(reluscope("verify", "my_models:away_from_a_third", "third.vnnlib", "--json").stdout)
    assert found["counterexample"]["exact_inputs"] == ["1/3"]


@pytest.fixture
def without_fractions(monkeypatch):
    monkeypatch.setattr(ExactLeaves, "decide", lambda *of, **options: None)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("level", "verdict", "code"),
    [(1.5, "HOLDS", 0), (0.5, "VIOLATED", 3), (1.0, "VIOLATED", 3), (BEYOND, "OPEN", 4)],
)
def test_verdicts_and_exit_codes(folder, level, verdict, code, without_fractions):
    result = verified(folder, level, "--json", "--regions", "40")
    assert result.exit_code == code, result.output
    assert json.loads(result.stdout)["verdict"] == verdict
    printed = verified(folder, level, "--regions", "40")
    assert printed.exit_code == code
    assert verdict in printed.stdout


def test_the_result_file_of_the_competition(folder, without_fractions):
    for level, word in ((1.5, "unsat"), (0.5, "sat"), (BEYOND, "unknown")):
        verified(folder, level, "--regions", "40", "-o", "result.txt", "-o", "result.json", "--force", "-q")
        lines = (folder / "result.txt").read_text(encoding="utf-8").splitlines()
        assert lines[0] == word
        found = json.loads((folder / "result.json").read_text(encoding="utf-8"))["counterexample"]
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


def test_float32_is_sought_near_by_where_the_counterexample_is_none_there(folder):
    """1 + x, of at most 1 + 2e-8, exceeds a level in float64, and is 1 in float32."""
    pytest.importorskip("onnxruntime")
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2]) for name in ("x", "y")]
    nodes = [helper.make_node("Add", ["x", "one"], ["z"]), helper.make_node("Relu", ["z"], ["y"])]
    one = helper.make_tensor("one", TensorProto.FLOAT, [1, 2], [1.0, 1.0])
    graph = helper.make_graph(nodes, "shifted", ends[:1], ends[1:], [one])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "net.onnx")
    text = TEXT.replace("(<= 0 X_0 1)", "(<= 0 X_0 0.00000002)").replace("LEVEL", "1.00000001")
    (folder / "safe.vnnlib").write_text(text, encoding="utf-8")
    none = reluscope("verify", "net.onnx", "safe.vnnlib", "--json", "-o", "none.txt")
    found = json.loads(none.stdout)["counterexample"]
    assert found["outputs"][0] > 1.00000001
    assert (found["float32_violates"], found["float32_outputs"][0]) == (False, 1.0)
    assert "not violated, nor at" in reluscope("verify", "net.onnx", "safe.vnnlib").stdout
    values = [
        float(line.strip("()").split()[1])
        for line in (folder / "none.txt").read_text(encoding="utf-8").splitlines()[1:]
    ]
    assert values == [*found["inputs"], *found["outputs"]]


def test_the_result_file_has_the_counterexample_of_float32(folder):
    pytest.importorskip("onnxruntime")
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "cross", ends[:1], ends[1:])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "net.onnx")
    verified(folder, 0.5, "-o", "r.txt", "-o", "r.json", "-q", model="net.onnx")
    found = json.loads((folder / "r.json").read_text(encoding="utf-8"))["counterexample"]
    values = [
        float(line.strip("()").split()[1]) for line in (folder / "r.txt").read_text(encoding="utf-8").splitlines()[1:]
    ]
    assert values == [*found["float32_inputs"], *found["float32_outputs"]]
    assert values == np.array(values, dtype=np.float32).astype(float).tolist()
    assert found["float32_outputs"][0] >= 0.5


def test_bad_files_are_one_sentence(folder):
    for text, said in (("(assert", "line 1"), (TEXT.replace("LEVEL", "Y_0 Y_1 ("), "line 7")):
        (folder / "bad.vnnlib").write_text(text, encoding="utf-8")
        result = reluscope("verify", "my_models:cross", "bad.vnnlib")
        assert result.exit_code == 1
        assert is_one_sentence(result.stderr)
        assert said in result.stderr
    assert "cannot be read" in reluscope("verify", "my_models:cross", "missing.vnnlib").stderr
    found = verified(folder, 1, model="my_models:total")
    assert is_one_sentence(found.stderr)
    assert "safe.vnnlib: expected a property over as many" in found.stderr
