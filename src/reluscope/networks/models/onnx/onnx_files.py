"""From a file to an ONNX model, with one clear sentence for every file that is none."""

from collections.abc import Iterator
from math import prod
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError
from onnx import inliner

from reluscope.errors import InputError

OLDEST, NEWEST = 6, onnx.defs.onnx_opset_version()


def read_model(path: Path) -> onnx.ModelProto:
    """Return the model in a file, its external data loaded and its own functions written out.

    Raises InputError if the file is missing, truncated or not ONNX, or its external data cannot be read.
    """
    try:
        model = onnx.load(path, load_external_data=False)
    except FileNotFoundError as error:
        raise InputError(f"expected an ONNX file, but {path} does not exist") from error
    except (DecodeError, OSError, ValueError) as error:
        raise InputError(
            f"expected an ONNX file, but {path.name} cannot be read as one ({_first_line(error)}): it may be truncated "
            "or of another format"
        ) from error
    unread = next((name for name in _names(model.graph) if not isinstance(name, str)), None)
    if unread is not None:
        raise InputError(
            f"expected names in UTF-8, but {path.name} has {str(unread)[:60]}: it may be damaged; export it again"
        )
    if not model.graph.output:
        raise InputError(f"expected an ONNX model, but {path.name} holds no graph with an output: export it again")
    try:
        onnx.load_external_data_for_model(model, str(path.parent))
    except (OSError, ValueError, RuntimeError, onnx.checker.ValidationError) as error:
        raise InputError(
            f"expected the weights that {path.name} keeps in other files beside it, but they cannot be read: "
            f"{_first_line(error)}"
        ) from error
    return _without_functions(model, path.name)


def _names(graph: onnx.GraphProto) -> Iterator[str | bytes]:
    """Yield the names in a graph and in those within it: text that is none comes as bytes."""
    yield graph.name
    for entry in (*graph.input, *graph.output, *graph.initializer, *graph.value_info):
        yield entry.name
    for node in graph.node:
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        for attribute in node.attribute:
            yield attribute.name
            for inner in (attribute.g, *attribute.graphs):
                yield from _names(inner) if inner.node else ()


def declared_outputs(path: Path) -> int | None:
    """Return how many outputs a file says a point has, None where it does not, or cannot be read: loading will say why.

    The first axis is the batch where it is open or of length 1; any other may be, or not.
    """
    try:
        (output,) = onnx.load(path, load_external_data=False).graph.output
    except (DecodeError, OSError, ValueError):
        return None
    dims = [entry.dim_value for entry in output.type.tensor_type.shape.dim]  # 0 where it is open
    return prod(dims[1:]) or None if len(dims) > 1 and dims[0] in (0, 1) else None


def opset_of(model: onnx.ModelProto) -> int:
    """Return the version of the standard operators that a model is written in.

    Raises InputError if it is older or newer than the known ones.
    """
    versions = [entry.version for entry in model.opset_import if entry.domain in {"", "ai.onnx"}]
    if not versions and all(node.domain not in {"", "ai.onnx"} for node in model.graph.node):
        return NEWEST
    if not versions:
        raise InputError("expected an ONNX model that says its opset, got one that does not: export it again")
    if not OLDEST <= versions[0] <= NEWEST:
        remedy = f"update the package onnx ({onnx.__version__})" if versions[0] > NEWEST else "export it again"
        raise InputError(f"expected an ONNX model of opset {OLDEST} to {NEWEST}, got opset {versions[0]}: {remedy}")
    return versions[0]


def _without_functions(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    if not model.functions:
        return model
    try:
        return inliner.inline_local_functions(model)
    except Exception as error:
        raise InputError(
            f"expected a valid ONNX model, but the functions that {name} defines cannot be written out: "
            f"{_first_line(error)}"
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
