"""Files of a few bytes whose tensors would not fit into any memory: their sizes are added up before one is computed."""

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.errors import InputError
from reluscope.networks.graph.input_shapes import MAX_VALUES

onnx = pytest.importorskip("onnx")
from onnx import helper, numpy_helper  # noqa: E402

IMAGE, KERNEL = [1, 1, 4, 4], np.ones((1, 1, 1, 1), np.float32)
MILLION = 10**6


def whole(*numbers):
    return np.array(numbers, dtype=np.int64)


def saved(tmp_path, nodes, constants, shape, opset=17):
    """Return the path of a model of nodes ``(operator, inputs, outputs, attributes)``."""
    made = [helper.make_node(kind, *ends, **settings) for kind, *ends, settings in nodes]
    given, found = (helper.make_tensor_value_info(name, 1, dims) for name, dims in (("x", shape), ("y", None)))
    tensors = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    model = helper.make_model(
        helper.make_graph(made, "graph", [given], [found], tensors), opset_imports=[helper.make_opsetid("", opset)]
    )
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    return tmp_path / "model.onnx"


ONE = {
    "Conv": ("Conv", ["x", "W"], ["y"], {"pads": [10**9] * 4}),
    "ConvTranspose": ("ConvTranspose", ["x", "W"], ["y"], {"strides": [MILLION] * 2}),
    "ConvTranspose of a shape": ("ConvTranspose", ["x", "W"], ["y"], {"output_shape": [MILLION] * 2}),
    "MaxPool": ("MaxPool", ["x"], ["y"], {"kernel_shape": [2 * 10**9] * 2, "pads": [10**9] * 4}),
    "MaxPool of large windows": ("MaxPool", ["x"], ["y"], {"kernel_shape": [3000] * 2, "pads": [2999] * 4}),
    "AveragePool": ("AveragePool", ["x"], ["y"], {"kernel_shape": [2] * 2, "pads": [10**9] * 4}),
    "Pad": ("Pad", ["x", "many"], ["y"], {}),
    "Pad beyond whole numbers": ("Pad", ["x", "most"], ["y"], {}),
    "Tile": ("Tile", ["x", "times"], ["y"], {}),
    "Expand": ("Expand", ["x", "times"], ["y"], {}),
    "Resize": ("Resize", ["x", "", "", "times"], ["y"], {}),
    "Resize by scales": ("Resize", ["x", "", "scales"], ["y"], {}),
    "Resize, linear": ("Resize", ["x", "", "scales"], ["y"], {"mode": "linear"}),
}
CONSTANTS = {
    "W": KERNEL,
    "many": whole(*[0] * 7, 10**11),
    "most": whole(*[0] * 3, 2**62, *[0] * 3, 2**62),
    "times": whole(1, 1, MILLION, 4 * MILLION),
    "scales": np.array([1, 1, MILLION, MILLION], np.float32),
}
TWO = {
    "ConstantOfShape": [("ConstantOfShape", ["times"], ["c"], {}), ("Add", ["x", "c"], ["y"], {})],
    "OneHot": [("OneHot", ["i", "depth", "v"], ["c"], {}), ("MatMul", ["x", "c"], ["y"], {})],
    "Range": [("Range", ["a", "b", "s"], ["c"], {}), ("Add", ["x", "c"], ["y"], {})],
    "an outer product": [("Reshape", ["x", "column"], ["c"], {}), ("MatMul", ["c", "row"], ["y"], {})],
    "Concat": [
        ("Concat", [f"v{i}" if i else "x"] * 2, [f"v{i + 1}" if i < 34 else "y"], {"axis": 3}) for i in range(35)
    ],
}
MORE = {
    "i": whole(0, 1, 2, 3),
    "depth": np.array(10**12),
    "v": np.array([0, 1], np.float32),
    **{name: np.array(value, np.float32) for name, value in (("a", 0), ("b", 1e12), ("s", 1))},
    "column": whole(16, 1),
    "row": np.ones((1, MAX_VALUES // 16 + 1), np.float16),
    "times": CONSTANTS["times"],
}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_values_beyond_all_memory_are_refused_by_their_shapes(name, tmp_path):
    nodes = TWO.get(name) or [ONE[name]]
    used = {read for _, reads, *_ in nodes for read in reads}
    constants = {key: array for key, array in {**CONSTANTS, **MORE}.items() if key in used}
    with pytest.raises(InputError, match=r"expected (values|constants) (of at most|that memory can hold)"):
        rs.load(saved(tmp_path, nodes, constants, IMAGE))


def test_the_sizes_of_old_operators_are_added_up(tmp_path):
    nodes = [("Upsample", ["x", "scales"], ["y"], {})]
    with pytest.raises(InputError, match="expected values of at most"):
        rs.load(saved(tmp_path, nodes, {"scales": CONSTANTS["scales"]}, IMAGE, opset=9))


def test_modules_that_double_are_refused():
    class Doubling(torch.nn.Module):
        def forward(self, x):
            for _ in range(40):
                x = torch.cat([x, x], 1)
            return torch.relu(x)

    program = torch.export.export(Doubling(), (torch.zeros(1, 2, device="meta"),))
    with pytest.raises(InputError, match="expected values of at most"):
        rs.load(program)


def test_names_that_are_no_text_are_refused(tmp_path):
    path = saved(tmp_path, [("Relu", ["x"], ["output_name"], {}), ("Relu", ["output_name"], ["y"], {})], {}, [1, 2])
    path.write_bytes(path.read_bytes().replace(b"output_name", b"output\xffname"))
    with pytest.raises(InputError, match="expected names in UTF-8"):
        rs.load(path)
