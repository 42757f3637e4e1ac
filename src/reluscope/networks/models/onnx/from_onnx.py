"""A network from an ONNX file, checked against the file as ONNX's reference evaluator runs it in float64.

The package ``onnx`` is optional; it is imported when a file is loaded.
"""

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from reluscope.errors import InputError, ReluscopeError
from reluscope.networks.building.interfaces import Interface
from reluscope.networks.building.verification import verify
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network

if TYPE_CHECKING:
    from reluscope.networks.models.onnx.program import Program
    from reluscope.networks.models.onnx.signature import Signature


def from_onnx(
    path: Path | str,
    input_shape: tuple[int, ...] | None = None,
    data: Points | None = None,
    interface: Interface | None = None,
) -> Network:
    """Load an ONNX file of any opset from 6 up, and compare the network with it.

    Nodes are read by the rules of the file's own opset, those on constants evaluated in float64. `with_parameters`
    takes the names of initializers. Raises an error that names operators that cannot be lowered.
    """
    if find_spec("onnx") is None:
        raise InputError(
            "expected the package onnx, which reads .onnx files: install it with pip install reluscope[onnx]"
        )
    from reluscope.networks.models.onnx.joined_inputs import join_inputs
    from reluscope.networks.models.onnx.onnx_files import read_model
    from reluscope.networks.models.onnx.program import make_program
    from reluscope.networks.models.onnx.signature import as_one_point, make_signature

    path = Path(path)
    interface = interface or Interface()
    model = read_model(path)
    if interface.joined:
        model = join_inputs(model, interface.joined)
    program = make_program(model, interface)
    signature = make_signature(program, input_shape)
    other = as_one_point(signature) if input_shape is None else None
    try:
        return _checked(path.name, program, signature, data, interface)
    except ReluscopeError as error:
        if other is None:
            raise
        try:
            return _checked(path.name, program, other, data, interface)
        except ReluscopeError:
            hint = f"input_shape={other.input_shape} reads the first axis as a part of each point"
            raise type(error)(f"{error}; {hint}") from error


def _checked(
    name: str, program: "Program", signature: "Signature", data: Points | None, interface: Interface
) -> Network:
    """Return a program as a network that agrees with it."""
    from reluscope.networks.models.onnx.onnx_lowering import OnnxTrace
    from reluscope.networks.models.onnx.onnx_reference import Reference

    network = OnnxTrace(program, signature, interface.approximate).lower()
    reference = Reference(program, signature)
    source = f"{name} by ONNX's reference evaluator in float64"
    check = verify(network, reference, batch=reference.batch, data=data, name=source)
    return replace(network, verification=check)
