"""A network from a PyTorch model, by what its forward pass does and not by what its modules are called.

``torch.export`` captures the pass of a float64 copy in evaluation mode; the model itself is never touched.
"""

import io
import logging
import sys
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import redirect_stderr
from copy import copy
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import ExportedProgram, default_decompositions
from torch.export.graph_signature import InputKind

from reluscope.errors import InputError, ShapeError, UnsupportedOperatorError
from reluscope.networks.building.interfaces import Interface, as_given
from reluscope.networks.building.parameters import check_finite
from reluscope.networks.graph.input_shapes import check_size
from reluscope.networks.models.operators.refused_operators import is_refused
from reluscope.networks.models.torch.aten_lowering import TorchTrace
from reluscope.networks.models.torch.aten_site import HANDLERS, BatchAxisError, as_double
from reluscope.networks.models.torch.calling import Calling
from reluscope.networks.models.torch.float64_models import double_twin, in_double
from reluscope.networks.models.torch.known_checks import KnownAnswers, number_taken
from reluscope.networks.models.torch.torch_source import TorchSource
from reluscope.networks.models.torch.traced_nodes import name_of


def from_module(model: nn.Module, input_shape: tuple[int, ...], interface: Interface | None = None) -> TorchSource:
    """Trace a module, which is left as it is.

    Raises ShapeError for a shape that the model does not accept, NotPiecewiseLinearError or UnsupportedOperatorError
    for operators, InputError for unclear inputs or outputs or weights that are not finite.
    """
    model = getattr(model, "_orig_mod", model)  # what torch.compile wrapped
    interface = interface or Interface()
    calling = Calling.of(model, interface)
    twin = double_twin(model)
    repeating = calling.repeating()
    if repeating is not None and not _runs(calling, twin, input_shape):
        calling = repeating
    try:
        return _trace_module(twin, input_shape, 2, calling, interface)
    except (BatchAxisError, ShapeError) as error:
        keeps_batch = isinstance(error, BatchAxisError) and _keeps_batch(twin, input_shape, calling)
        # Only a model whose code has the batch size in it may be taken for one point at a time.
        if not keeps_batch:
            try:
                return _trace_module(twin, input_shape, 1, calling, interface)
            except (BatchAxisError, ShapeError):
                pass
        each = None if calling.fixed else _point_by_point(twin, input_shape, calling, keeps_batch=keeps_batch)
        if each is None:
            raise error from None
        note = [] if keeps_batch else ["The model takes one point without a batch axis."]
        return _trace_module(each, input_shape, 2, Calling(None, {}, None), interface, note)


def _point_by_point(
    twin: nn.Module, input_shape: tuple[int, ...], calling: Calling, *, keeps_batch: bool
) -> nn.Module | None:
    """Return a twin whose forward pass is mapped over points, in batches of one or without an axis.

    None if it takes no such points, or if points of a batch depend on each other.
    """
    forward = twin.forward

    def of_one(point: Tensor) -> Tensor:
        args, kwargs = calling.arguments(point[None] if keeps_batch else point)
        output = calling.pick(forward(*args, **kwargs))
        return output[0] if keeps_batch else output

    sample = torch.randn(3, *input_shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    with in_double([]):
        if keeps_batch and not torch.allclose(calling(twin, sample), torch.stack([of_one(point) for point in sample])):
            return None
    each = copy(twin)
    each.forward = torch.vmap(of_one)
    return each if _runs(Calling(None, {}, None), each, input_shape) else None


def from_program(
    program: ExportedProgram, input_shape: tuple[int, ...] | None, interface: Interface | None = None
) -> TorchSource:
    """Lower an exported program; its own input shape is used unless it leaves some of it open."""
    interface = interface or Interface()
    calling = Calling(None, as_given(interface.inputs), interface.output)
    fixed_inputs = calling.checked_for(program)
    name, shape = _program_input(program, fixed_inputs)
    batch = shape[0] if isinstance(shape[0], int) else 2
    own = tuple(length if isinstance(length, int) else None for length in shape[1:])
    if input_shape is None and None in own:
        raise InputError(f"expected input_shape, because the exported program leaves it open: {tuple(shape[1:])}")
    wanted = tuple(length for length in own if length is not None) if input_shape is None else input_shape
    if len(wanted) != len(own) or any(a not in (None, b) for a, b in zip(own, wanted, strict=True)):
        raise ShapeError(f"expected input_shape {own} as the program was exported, got {wanted}")
    check_size(wanted, "the exported program takes")
    position = calling.position_in(program)
    trace = _trace_program(program, name, wanted, batch, {}, position, fixed_inputs=fixed_inputs, interface=interface)
    fixed = batch if isinstance(shape[0], int) else None
    return TorchSource(trace.lower(), trace.reference, fixed)


def _keeps_batch(twin: nn.Module, input_shape: tuple[int, ...], calling: Calling) -> bool:
    with in_double([]):
        output = calling(twin, torch.zeros(2, *input_shape, dtype=torch.float64))
    return output.ndim > 0 and len(output) == 2


def _runs(calling: Calling, twin: nn.Module, input_shape: tuple[int, ...]) -> bool:
    try:
        with in_double([]):
            calling(twin, torch.zeros(2, *input_shape, dtype=torch.float64))
    except Exception:
        return False
    return True


def _trace_module(
    twin: nn.Module,
    input_shape: tuple[int, ...],
    batch: int,
    calling: Calling,
    interface: Interface,
    told: Sequence[str] = (),
) -> TorchSource:
    sample = torch.randn(batch, *input_shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    notes: list[str] = []

    def reference(x: Tensor) -> Tensor:
        with in_double(notes):
            return calling(twin, x.clone())  # a model may write into its input

    try:
        reference(sample)
    except InputError:
        raise
    except Exception as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        if "'indices'" in first and "Long" in first:
            raise InputError(
                "expected a model of real numbers, got one that looks up whole ones, such as tokens: load a part "
                'behind the embedding, as in submodule="encoder.layer.0.mlp", at=tokens'
            ) from error
        shapes = {name: tuple(torch.as_tensor(one).shape) for name, one in interface.inputs.items()}
        held = ", ".join(f"{name} of shape {shape}" for name, shape in shapes.items())
        raise ShapeError(
            f"expected an input shape that the model accepts{f' with {held}' if held else ''}, got {input_shape}: its "
            f"forward pass fails with {first!r}"
        ) from error
    args, kwargs = calling.arguments(sample)
    known = KnownAnswers(notes)
    with in_double(notes), known.listening(points := sample.clone()):
        calling(twin, points)
    with in_double(notes, tracing=True), known.answering():
        program = _exported(twin, args, kwargs, known)
    fixed_inputs = calling.constants_of(program, sample)
    name, _ = _program_input(program, fixed_inputs)
    state = twin.state_dict(keep_vars=True)
    output = calling.position_in(program)
    notes = list(dict.fromkeys([*notes, *told]))
    trace = _trace_program(
        program,
        name,
        input_shape,
        batch,
        state,
        output,
        fixed_inputs=fixed_inputs,
        notes=tuple(notes),
        interface=interface,
    )
    network = trace.lower()
    fixed = None
    if batch == 1:
        fixed = 1
        trace = replace(
            trace, notes=(*trace.notes, "The model takes one point at a time: its batch size is fixed to 1.")
        )
        network = trace.lower()
    logits = trace.reference if network.left_off else None
    return TorchSource(network, reference, fixed, trace.tail.finish, logits, batch)


def _exported(twin: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], known: KnownAnswers) -> ExportedProgram:
    """Return what torch.export captures; what it prints and logs where it fails is of no use to readers."""
    said, quiet = io.StringIO(), logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with redirect_stderr(said), warnings.catch_warnings():
            # Recurrent layers keep a list of their weights, which are parameters all the same.
            warnings.filterwarnings("ignore", ".*were assigned during export.*", UserWarning)
            program = torch.export.export(twin, args, kwargs)
            if any("_vmap" in str(node.target) for node in program.graph.nodes):
                warnings.filterwarnings("ignore", ".*LeafSpec.*", FutureWarning)
                program = program.run_decompositions({})  # into operators of whole batches
    except Exception as error:
        if known.taken:
            raise number_taken(known.taken[0]) from error
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UnsupportedOperatorError(
            f"expected a forward pass that torch.export can capture, but it fails with {first!r}: "
            "write it without branches that depend on the data"
        ) from error
    finally:
        logging.disable(quiet)
    sys.stderr.write(said.getvalue())
    return program


def _trace_program(
    program: ExportedProgram,
    input_name: str,
    input_shape: tuple[int, ...],
    batch: int,
    state: Mapping[str, Tensor],
    output: int,
    *,
    fixed_inputs: Mapping[str, Any],
    notes: tuple[str, ...] = (),
    interface: Interface | None = None,
) -> TorchTrace:
    """Bring a program to known operators and collect its constants in float64, weights under several names once."""
    program = _simplified(program, input_name)
    signature = program.graph_signature
    stored = {**program.constants, **program.state_dict}
    constants: dict[str, Any] = dict(fixed_inputs)
    parameters: dict[str, Tensor] = {}
    placeholders: dict[str, str] = {}
    first_names: dict[Any, str] = {}
    for spec in signature.input_specs:
        if spec.kind == InputKind.USER_INPUT or spec.target is None:
            continue
        entry: Any = stored.get(spec.target)
        if isinstance(entry, Tensor):
            entry = as_double(entry.detach().cpu())
        if spec.kind in {InputKind.PARAMETER, InputKind.BUFFER}:
            name = first_names.setdefault(_storage(stored[spec.target], spec.target), spec.target)
            check_finite(entry, name)
            parameters.setdefault(name, entry)
            placeholders[spec.arg.name] = name
        else:
            constants[spec.arg.name] = entry
    for node in program.graph.nodes:
        if node.op == "get_attr":
            constants[str(node.target)] = getattr(program.graph_module, str(node.target))
    named = {**state, **program.state_dict}
    aliases = {name: first_names[key] for name, entry in named.items() if (key := _storage(entry, name)) in first_names}
    return TorchTrace(
        program.graph,
        constants,
        parameters,
        placeholders,
        aliases,
        input_name,
        str(list(signature.user_outputs)[output]),
        input_shape,
        batch,
        notes,
        {} if interface is None else interface.approximate,
    )


def _storage(tensor: Tensor, name: str) -> Any:
    """Return what two names of one weight have in common."""
    return (tensor.data_ptr(), tensor.shape, tensor.stride()) if tensor.numel() else name


def _simplified(program: ExportedProgram, input_name: str) -> ExportedProgram:
    """Return the program without in-place operators, and with operators unknown here taken apart where PyTorch can."""
    if not all(_is_functional(node) for node in program.graph.nodes):
        program = _decomposed(program, {})
    for _ in range(3):
        dependent: set[Any] = set()
        for node in program.graph.nodes:
            if node.name == input_name or dependent.intersection(node.all_input_nodes):
                dependent.add(node)
        unknown = {
            node.target
            for node in dependent
            if isinstance(node.target, torch._ops.OpOverload)
            and name_of(node) not in HANDLERS
            and not is_refused(name_of(node))
            and node.target.has_kernel_for_dispatch_key(torch._C.DispatchKey.CompositeImplicitAutograd)
        }
        if not unknown:
            break  # to list what PyTorch can take apart takes longer than to trace a small model
        known = default_decompositions()
        if not unknown.intersection(known):
            break
        program = _decomposed(program, {target: known[target] for target in unknown if target in known})
    return program


def _is_functional(node: Any) -> bool:
    """Return whether an operator only computes; writing in place and regions of code have to be rewritten first."""
    if node.op != "call_function":
        return node.op in {"placeholder", "output"}
    if isinstance(node.target, torch._ops.OpOverload):
        return not node.target._schema.is_mutable
    return not isinstance(node.target, torch._ops.HigherOrderOperator)


def _decomposed(program: ExportedProgram, table: dict[Any, Callable[..., Any]]) -> ExportedProgram:
    with warnings.catch_warnings():
        # PyTorch 2.13 warns of its own older names while it copies a program.
        warnings.filterwarnings("ignore", ".*LeafSpec.* is deprecated", FutureWarning)
        return program.run_decompositions(table)


def _program_input(program: ExportedProgram, fixed: Collection[str]) -> tuple[str, list[Any]]:
    """Return the name and the shape of a program's one input; open lengths are symbols."""
    names = [name for name in program.graph_signature.user_inputs if isinstance(name, str) and name not in fixed]
    tensors = [
        node for node in program.graph.nodes if node.op == "placeholder" and node.name in names and "val" in node.meta
    ]
    tensors = [node for node in tensors if isinstance(node.meta["val"], Tensor)]
    if len(tensors) != 1:
        listed = ", ".join(node.name for node in tensors) or "none"
        raise InputError(
            f"expected a model with one input, got {len(tensors)}: {listed}; hold all but one fixed, with inputs="
        )
    shape = list(tensors[0].meta["val"].shape)
    if not shape:
        raise InputError("expected a model whose input has a batch axis, got one that takes a single number")
    return tensors[0].name, shape
