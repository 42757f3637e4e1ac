"""``reluscope check``: proofs and counterexamples that are some, forged ones, and files that are none."""

import json

import pytest
from onnx import TensorProto, helper, save

from cli.running import is_one_sentence, reluscope
from cli.test_verify_command import TEXT, verified

POINT = "sat\n((X_0 0.75)\n(X_1 0.25)\n(Y_0 0.75)\n(Y_1 0.25))\n"


def checked(folder, text, *arguments, level=0.5, model="my_models:cross", name="result.txt"):
    (folder / "safe.vnnlib").write_text(TEXT.replace("LEVEL", str(level)), encoding="utf-8")
    (folder / name).write_text(text, encoding="utf-8")
    return reluscope("check", model, "safe.vnnlib", name, *arguments)


@pytest.mark.slow
def test_proofs_go_through_files(folder):
    made = verified(folder, 1.5, "--certify", "-o", "net.proof", "--json")
    assert made.exit_code == 0, made.output
    proof = (folder / "net.proof").read_text(encoding="utf-8")
    again = checked(folder, proof, "--json", "-o", "said.json", level=1.5, name="net.proof")
    assert again.exit_code == 0, again.output
    assert json.loads((folder / "said.json").read_text(encoding="utf-8")) == json.loads(again.stdout)
    assert 0 < json.loads(again.stdout)["proof_parts"] <= json.loads(made.stdout)["proof_parts"]
    said = " ".join(checked(folder, proof, level=1.5, name="net.proof").stdout.split())
    bounded, every = (json.loads(one.stdout)["proof_parts"] for one in (again, made))
    shown = f"{bounded} of its {every} boxes" if bounded < every else f"{every} box"
    assert f"HOLDS: the proof is one, by bounds on {shown}" in said
    in_time = checked(folder, proof, "--json", "--seconds", "60", level=1.5, name="net.proof")
    assert in_time.stdout == again.stdout
    stopped = checked(folder, proof, "--seconds", "0", level=1.5, name="net.proof")
    assert (stopped.exit_code, "OPEN: what was checked is as the proof says" in stopped.stdout) == (4, True)
    assert "give more with --seconds" in " ".join(stopped.stdout.split())
    plain = json.loads(checked(folder, proof, "--json", "--seconds", "0", level=1.5, name="net.proof").stdout)
    assert (plain["verdict"], plain["proof_parts"], "0 boxes of" in plain["stopped"]) == ("OPEN", 0, True)
    for text, level, model in (
        (proof, 0.5, "my_models:cross"),  # nothing proves what is not so
        (proof, 1.5, "my_models:affine"),
        (proof.replace("[", "[ ", 1), 1.5, "my_models:cross"),
        ("{}", 1.5, "my_models:cross"),
    ):
        forged = checked(folder, text, level=level, model=model, name="net.proof")
        assert forged.exit_code == 1
        assert is_one_sentence(forged.stderr)
        assert "proof" in forged.stderr


def test_a_proof_is_of_what_holds_alone(folder):
    refused = verified(folder, 1.5, "-o", "net.proof")
    assert (refused.exit_code, is_one_sentence(refused.stderr)) == (1, True)
    assert "add --certify" in refused.stderr
    violated = verified(folder, 0.5, "--certify", "-o", "net.proof")
    assert violated.exit_code == 3
    assert "was not written" in violated.stderr
    assert not (folder / "net.proof").exists()


@pytest.mark.parametrize(
    "text",
    [
        POINT,
        POINT.replace("\n", " "),
        POINT.removeprefix("sat\n"),
        "sat\n(X_0 .75)(X_1 2.5e-1)",
        "sat ; found\n" + POINT.removeprefix("sat\n"),
    ],
)
def test_counterexamples_in_all_forms(folder, text):
    found = checked(folder, text, "--json")
    assert found.exit_code == 0, found.output
    one = json.loads(found.stdout)["counterexample"]
    assert (one["inputs"], one["outputs"], one["violates"]) == ([0.75, 0.25], [0.75, 0.25], True)
    assert one["claimed_outputs_off"] == (0 if "Y_0" in text else None)


def test_outputs_of_another_network_are_said_to_be(folder):
    assert "are those of float64 up to 0.0005" in checked(folder, POINT.replace("Y_0 0.75", "Y_0 0.7505")).stdout
    found = checked(folder, POINT.replace("Y_0 0.75", "Y_0 5"))
    assert (found.exit_code, "differ by up to 4.25" in " ".join(found.stdout.split())) == (0, True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("0.75", "0.25"), "outputs are not unsafe"),
        (("X_0 0.75", "X_0 1.25"), "none of the property's boxes"),
        (("sat", "unsat"), "that a property holds is shown by a proof"),
        (("sat", "timeout"), "line 1: expected sat"),
        (("(X_0 0.75)\n", ""), "of X_0"),
        (("X_1", "X_0"), "line 3: expected each value once"),
        (("0.25)\n", "nan)\n"), "line 3: expected a finite"),
        (("X_1 0.25", "X_1 0.25 1"), "line 3: expected values"),
        (("(X_1 0.25)", "X_1"), "line 3: expected values"),
        (
            ("(Y_1 0.25)", ""),
            "outputs as the network has, 2 and 2, got 2 and 1",
        ),
        (("(Y_1 0.25))", ""), "cut off"),
        (("(X_0", ")(X_0"), "line 2"),
    ],
)
def test_forged_and_broken_counterexamples_are_one_sentence(folder, change, said):
    found = checked(folder, POINT.replace(*change))
    assert found.exit_code == 1
    assert is_one_sentence(found.stderr)
    assert said in found.stderr
    assert ("result.txt" in found.stderr) == (not said.endswith(("unsafe", "boxes")))


def test_float32_counts_too(folder):
    """1 + x, of at most 1 + 1e-9, is 1 in float32: that reaches a level that float64 has left."""
    pytest.importorskip("onnxruntime")
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2]) for name in ("x", "y")]
    nodes = [helper.make_node("Add", ["x", "one"], ["z"]), helper.make_node("Relu", ["z"], ["y"])]
    one = helper.make_tensor("one", TensorProto.FLOAT, [1, 2], [1.0, 1.0])
    graph = helper.make_graph(nodes, "shifted", ends[:1], ends[1:], [one])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "net.onnx")
    (folder / "safe.vnnlib").write_text(TEXT.replace("(>= Y_0 LEVEL)", "(<= Y_0 1)"), encoding="utf-8")
    (folder / "r.txt").write_text("sat\n((X_0 0.000000001)\n(X_1 0))", encoding="utf-8")
    found = json.loads(reluscope("check", "net.onnx", "safe.vnnlib", "r.txt", "--json").stdout)["counterexample"]
    assert (found["violates"], found["float32_violates"], found["float32_outputs"]) == (False, True, [1.0, 1.0])
    assert found["outputs"] == pytest.approx([1.000000001, 1.0], abs=1e-15)
    (folder / "r.txt").write_text("sat\n((X_0 0.001)\n(X_1 0))", encoding="utf-8")
    assert "in float64 and float32" in reluscope("check", "net.onnx", "safe.vnnlib", "r.txt").stderr


def test_the_result_that_verify_writes_is_checked(folder):
    assert verified(folder, 0.5, "-o", "own.txt", "-q").exit_code == 3
    assert checked(folder, (folder / "own.txt").read_text(encoding="utf-8")).exit_code == 0


def test_conditions_that_relate_inputs_go_all_the_way(folder):
    """The second output is max(x_1, 0): no more than x_0 / 2 where x_0 + x_1 is at least 1."""
    text = TEXT.replace("(>= Y_0 LEVEL)", "(and (<= Y_1 (/ X_0 2)) (>= (+ X_0 X_1) LEVEL))")
    (folder / "safe.vnnlib").write_text(text.replace("LEVEL", "1"), encoding="utf-8")
    run = ("my_models:cross", "safe.vnnlib")
    assert reluscope("verify", *run, "-o", "own.txt", "-q").exit_code == 3
    assert reluscope("check", *run, "own.txt").exit_code == 0
    (folder / "own.txt").write_text("sat\n((X_0 0.5) (X_1 0.25) (Y_0 0.5) (Y_1 0.25))", encoding="utf-8")
    assert "its outputs are not unsafe" in reluscope("check", *run, "own.txt").stderr
    found = json.loads(reluscope("violations", *run, "--json").stdout)
    assert found["findings"][0]["value"] == pytest.approx(1 / 12)  # corners (1, 0), (1, 1/2) and (2/3, 1/3)
    (folder / "safe.vnnlib").write_text(text.replace("LEVEL", "1.6"), encoding="utf-8")
    assert reluscope("verify", *run, "--certify", "-o", "own.proof", "-q").exit_code == 0
    assert reluscope("check", *run, "own.proof").exit_code == 0
