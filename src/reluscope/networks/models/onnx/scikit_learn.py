"""What skl2onnx writes beside standard operators, in standard ones: scaled inputs, chosen columns, named numbers."""

import numpy as np
from onnx import NodeProto, helper

_DOMAIN = "ai.onnx.ml"


def in_standard_nodes(node: NodeProto) -> tuple[list[NodeProto], dict[str, np.ndarray]]:
    """Return a node as standard nodes, with their constants; others stay as they are.

    ``Scaler`` is ``(x - offset) * scale``; ``ArrayFeatureExtractor`` takes columns; ``ZipMap`` gives names to numbers
    and leaves them as they are.
    """
    if node.domain == _DOMAIN and node.op_type == "ZipMap":
        return [helper.make_node("Identity", node.input, node.output, node.name)], {}
    if node.domain == _DOMAIN and node.op_type == "ArrayFeatureExtractor":
        flat, (output,) = f"{node.output[0]}.columns", node.output
        shape = f"{output}.shape"
        parts = [
            helper.make_node("Reshape", [node.input[1], shape], [flat]),
            helper.make_node("Gather", [node.input[0], flat], [output], node.name, axis=-1),
        ]
        return parts, {shape: np.array([-1])}
    if node.domain != _DOMAIN or node.op_type != "Scaler":
        return [node], {}
    settings = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    (output,) = node.output
    offset, scale, moved = (f"{output}.{part}" for part in ("offset", "scale", "moved"))
    constants = {
        offset: np.array(settings.get("offset", [0.0]), dtype=np.float64),
        scale: np.array(settings.get("scale", [1.0]), dtype=np.float64),
    }
    parts = [
        helper.make_node("Sub", [node.input[0], offset], [moved], f"{node.name}.sub" if node.name else ""),
        helper.make_node("Mul", [moved, scale], [output], f"{node.name}.mul" if node.name else ""),
    ]
    return parts, constants
