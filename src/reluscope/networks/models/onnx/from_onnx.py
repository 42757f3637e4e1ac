"""A network from an ONNX file, checked against the file as ONNX's reference evaluator runs it in float64.

The package ``onnx`` is optional; it is imported when a file is loaded.
"""

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from reluscope.errors import InputError
from reluscope.networks.building.interfaces import Interface
from reluscope.networks.building.verification import verify
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network


def from_onnx(
    path: Path | str,
    input_shape: tuple[int, ...] | None = None,
    data: Points | None = None,
    interface: Interface | None = None,
) -> Network:
    """Load an ONNX file of any opset from 6 up.

    Parameters
    ----------
    path : path
        The file; weights that it keeps in other files are found beside it.
    input_shape : tuple of int, optional
        Shape of one point, without the batch axis, where the file leaves it open.
    data : (s, *input_shape), optional
        Points at which the network is compared with the file, beside random ones.

    interface : Interface, optional
        Which of several inputs and outputs are meant.

    Returns
    -------
    Network
        ``with_parameters`` takes the names of the file's initializers.

    Raises
    ------
    InputError
        If the package onnx is missing, the file cannot be read, has several inputs or outputs and none is
        chosen, or leaves its shape open.
    NotPiecewiseLinearError, UnsupportedOperatorError
        If an operator cannot be lowered, by name and place.
    ConversionMismatchError
        If the network disagrees with the file.

    Notes
    -----
    Every node is read by the rules of the file's own opset. Nodes on constants are evaluated in float64; numbers
    stored in lower precision keep their stored value.
    """
    if find_spec("onnx") is None:
        raise InputError(
            "expected the package onnx, which reads .onnx files: install it with pip install reluscope[onnx]"
        )
    from reluscope.networks.models.onnx.onnx_files import read_model
    from reluscope.networks.models.onnx.onnx_lowering import OnnxTrace
    from reluscope.networks.models.onnx.onnx_reference import Reference
    from reluscope.networks.models.onnx.program import make_program
    from reluscope.networks.models.onnx.signature import make_signature

    path = Path(path)
    interface = interface or Interface()
    program = make_program(read_model(path), interface)
    signature = make_signature(program, input_shape)
    network = OnnxTrace(program, signature, interface.approximate).lower()
    reference = Reference(program, signature)
    name = f"{path.name} by ONNX's reference evaluator in float64"
    check = verify(network, reference, batch=reference.batch, data=data, name=name)
    return replace(network, verification=check)
