"""Models from strangers: absurd sizes, graphs without order, names without end and foreign files are one sentence."""

import itertools
import json
import pickle
import time
import warnings
import zipfile

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.errors import InputError, NotPiecewiseLinearError, ReluscopeError, UnsupportedOperatorError

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

node = helper.make_node
LONG = "<script>" + "n" * 10_000_000


def whole(*numbers):
    return np.array(numbers, dtype=np.int64)


def real(*numbers):
    return np.array(numbers, dtype=np.float32)


def model(nodes, constants, shape=(1, 2)):
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def from_constant(made, **constants):
    return model([*made, node("ReduceSum", ["c"], ["r"]), node("Add", ["x", "r"], ["y"])], constants)


def external(place, length=8):
    given = model([node("Add", ["x", "w"], ["y"])], {"w": real(1, 2)})
    tensor = given.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", place), ("length", str(length))):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
    return given


def with_dims(*dims):
    given = model([node("Add", ["x", "w"], ["y"])], {"w": real(1, 2)})
    given.graph.initializer[0].dims[:] = dims
    return given


LARGE = "expected (constants|values) of at most"
HOSTILE = {
    "ConstantOfShape": (from_constant([node("ConstantOfShape", ["s"], ["c"])], s=whole(2**33)), LARGE),
    "eight TiB": (from_constant([node("ConstantOfShape", ["s"], ["c"])], s=whole(2**40)), LARGE),
    "Expand": (from_constant([node("Expand", ["a", "s"], ["c"])], a=real(1), s=whole(2**16, 2**15)), LARGE),
    "Tile": (from_constant([node("Tile", ["a", "s"], ["c"])], a=real(1), s=whole(2**31)), LARGE),
    "Range": (
        from_constant([node("Range", ["a", "b", "d"], ["c"])], a=np.float32(0), b=np.float32(1e10), d=np.float32(1)),
        LARGE,
    ),
    "OneHot": (
        from_constant([node("OneHot", ["a", "d", "v"], ["c"])], a=whole(0), d=whole(2**32), v=real(0, 1)),
        LARGE,
    ),
    "Pad": (from_constant([node("Pad", ["a", "p"], ["c"])], a=real(1), p=whole(0, 2**32)), LARGE),
    "outer product": (
        from_constant([node("MatMul", ["a", "b"], ["c"])], a=np.ones((2**13, 1), "f"), b=np.ones((1, 2**13), "f")),
        LARGE,
    ),
    "an input of 2^40": (model([node("Relu", ["x"], ["y"])], {}, (1, 2**40)), "expected an input of at most"),
    "an input of 2^93": (model([node("Relu", ["x"], ["y"])], {}, (1, *(2**31,) * 3)), "expected an input of at most"),
    "a circle": (
        model([node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"]), node("Relu", ["b"], ["y"])], {}),
        "which nothing makes",
    ),
    "itself": (model([node("Add", ["x", "y"], ["y"])], {}), "which nothing makes"),
    "negative lengths": (with_dims(-5), "cannot be read"),
    "absurd lengths": (with_dims(2**62), "cannot be read"),
    "a long name": (model([node("Exp", ["x"], ["y"], name=LONG)], {}), "piecewise-linear operators, but Exp"),
    "a long operator": (model([node("n" * 10_000_000, ["x"], ["y"])], {}), "operators"),
    "a long tensor": (model([node("Add", ["x", LONG], ["y"])], {}), "expected a complete graph"),
    "a file above": (external("../secret.bin"), "other files beside it"),
    "an absolute path": (external("/etc/hostname"), "other files beside it"),
    "a link": (external("link.bin"), "other files beside it"),
    "a device": (external("zero.bin"), "other files beside it"),
    "a file too long": (external("own.bin", 2**50), "other files beside it"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_models_are_one_sentence(tmp_path, name):
    given, words = HOSTILE[name]
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(8))
    (folder / "own.bin").write_bytes(bytes(8))
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    (folder / "zero.bin").symlink_to("/dev/zero")
    (folder / "model.onnx").write_bytes(given.SerializeToString())
    rs.load([(np.eye(2), np.zeros(2))])  # what is imported and compiled once is not of the file
    began = time.process_time()
    with pytest.raises(ReluscopeError, match=words) as caught:
        rs.load(folder / "model.onnx")
    assert time.process_time() - began < 10
    text = str(caught.value)
    assert isinstance(caught.value, InputError | NotPiecewiseLinearError | UnsupportedOperatorError)
    assert len(text) < 2_100
    assert "\n" not in text


def test_constants_that_double_end_early(tmp_path):
    nodes = [node("Concat", [f"c{k}"] * 2, [f"c{k + 1}"], axis=0) for k in range(40)]
    given = model(
        [*nodes, node("ReduceSum", ["c40"], ["r"]), node("Add", ["x", "r"], ["y"])], {"c0": np.ones(2**18, "f")}
    )
    (tmp_path / "model.onnx").write_bytes(given.SerializeToString())
    with pytest.raises(InputError, match=LARGE):
        rs.load(tmp_path / "model.onnx")


@pytest.mark.slow
def test_graphs_of_any_depth(tmp_path):
    names = ["x", *(f"h{k}" for k in range(3_000)), "y"]
    nodes = [node("Identity", [a], [b]) for a, b in itertools.pairwise(names)]
    (tmp_path / "model.onnx").write_bytes(model(nodes, {}).SerializeToString())
    assert rs.load(tmp_path / "model.onnx").output_shape == (2,)


def test_names_are_cut_to_a_line(tmp_path):
    (tmp_path / "model.onnx").write_bytes(model([node("Relu", ["x"], ["y"], name=LONG)], {}).SerializeToString())
    (gate,) = rs.load(tmp_path / "model.onnx").gates
    assert len(gate.name) < 250
    assert gate.name.startswith("<script>nnn")


# Exported programs.


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "model.pt2"
    torch.export.save(torch.export.export(torch.nn.Linear(2, 2).eval(), (torch.zeros(1, 2),)), path)
    with zipfile.ZipFile(path) as archive:
        return {member: archive.read(member) for member in archive.namelist()}


def packed(path, members, kind=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", kind) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.slow
def test_programs_that_grow(tmp_path, program):
    path = packed(tmp_path / "model.pt2", {**program, "model/data/more": bytes(300 * 2**20)}, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 2**20
    with pytest.raises(InputError, match=r"model\.pt2 is truncated or no archive: .* would grow to"):
        rs.load(path)


@pytest.mark.parametrize("content", [b"{", b"[]", b"[" * 100_000, b'{"config": 3}', b'{"config": {"a": 3}}', b"\xff"])
def test_programs_whose_description_is_damaged(tmp_path, program, content):
    for name in program:
        if name.endswith(".json"):
            path = packed(tmp_path / "model.pt2", {**program, name: content})
            with pytest.raises(ReluscopeError) as caught:
                rs.load(path)
            assert "\n" not in str(caught.value)


def test_programs_of_deep_descriptions(tmp_path, program):
    deep = json.dumps("x")
    for _ in range(900):
        deep = f"[{deep}]"
    (name,) = [name for name in program if "/models/" in name and name.endswith(".json")]
    with pytest.raises(ReluscopeError):
        rs.load(packed(tmp_path / "model.pt2", {**program, name: deep}))


class Trap:
    """Leaves a mark where it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return open, (str(self.mark), "w")


def test_programs_that_fail_are_not_read_in_the_older_format(tmp_path, program, capfd):
    from torch._export.serde.schema import SCHEMA_VERSION

    mark, trap = tmp_path / "mark", pickle.dumps(Trap(tmp_path / "mark"))
    (model,) = [content for name, content in program.items() if "/models/" in name and name.endswith(".json")]
    older = {"version": ".".join(map(str, SCHEMA_VERSION)), "serialized_exported_program.json": model}
    older |= {f"serialized_{part}.pt": trap for part in ("state_dict", "constants", "example_inputs")}
    lacking = {name: content for name, content in program.items() if not name.endswith("archive_version")}
    for members in ({**lacking, **older}, {**lacking, **{f"model/{name}": entry for name, entry in older.items()}}):
        with pytest.raises(InputError):
            rs.load(packed(tmp_path / "model.pt2", members))
        assert not mark.exists()
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("twin", ["twin/data/weights/{}", "model/data/weights/{}", "model/data/Weights/{}"])
def test_programs_of_members_that_hide_one_another(tmp_path, program, twin):
    name = "model_weights_config.json"
    config = json.loads(program[f"model/data/weights/{name}"])
    for payload in config["config"].values():
        payload["use_pickle"] = True
    forged = json.dumps(config).encode()
    for first, second in ((forged, None), (None, forged)):
        path = tmp_path / "model.pt2"
        with zipfile.ZipFile(path, "w") as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if first is not None:
                archive.writestr(twin.format(name), first)
            for member, content in program.items():
                archive.writestr(member, content)
            if second is not None:
                archive.writestr(twin.format(name), second)
        with pytest.raises(InputError, match="one folder of members of different names"):
            rs.load(path)


def test_programs_are_inspected_in_capitals_too(tmp_path, program):
    name = "model/data/weights/model_weights_config.json"
    config = json.loads(program[name])
    next(iter(config["config"].values()))["use_pickle"] = True
    members = {member: content for member, content in program.items() if member != name}
    path = packed(tmp_path / "model.pt2", {**members, name.replace("config", "CONFIG"): json.dumps(config)})
    with pytest.raises(InputError, match="a pickled object"):
        rs.load(path)
