"""Which axis of an ONNX input is the batch, and what one point looks like."""

from dataclasses import dataclass
from math import prod

from reluscope.errors import InputError, ShapeError
from reluscope.networks.graph.input_shapes import check_size
from reluscope.networks.models.onnx.program import Program


@dataclass(frozen=True)
class Signature:
    """How points become tensors of the file."""

    tensor_shape: tuple[int, ...]  # shape of the file's input for one point
    has_batch: bool  # whether its first axis is a batch
    fixed_batch: int | None  # length of the batch axis, None where it is open
    note: str | None = None  # what a reader should know about the choice

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one point."""
        return self.tensor_shape[1:] if self.has_batch else self.tensor_shape

    def output_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of one output from the shape of the file's output for one point."""
        return shape[1:] if self.has_batch and shape[:1] == (1,) else shape


def make_signature(program: Program, input_shape: tuple[int, ...] | None) -> Signature:
    """Return the signature of a program.

    The first axis is a batch if its length is open or 1, or if the output starts with the same length; a vector of
    fixed length has no batch. A given ``input_shape`` decides where the file allows both.
    """
    dims = program.dims
    if input_shape is not None:
        return _as_given(program, dims, input_shape)
    if dims is None or None in dims[1:] or dims == (None,):
        declared = "no shape" if dims is None else f"({', '.join('?' if d is None else str(d) for d in dims)})"
        raise InputError(
            f"expected input_shape, the shape of one point without the batch axis, because the file declares "
            f"{declared} for its input {program.input_name}"
        )
    check_size([length or 1 for length in dims], f"the file declares for its input {program.input_name}")
    first, rest = (dims[0] if dims else None), tuple(length or 1 for length in dims[1:])
    if not dims or (len(dims) == 1 and first is not None):
        return Signature(tuple(length or 1 for length in dims), False, None)
    if first is None or first == 1:
        return Signature((1, *rest), True, first)
    if program.output_length == first:
        note = (
            f"The first axis of the input, of length {first}, was read as a batch; "
            f"input_shape={(first, *rest)} makes it a part of each point."
        )
        return Signature((1, *rest), True, first, note)
    return Signature((first, *rest), False, None)


def as_one_point(signature: Signature) -> Signature | None:
    """Return the other reading of a first axis that was taken for a batch, None where there is none."""
    length = signature.fixed_batch
    if not signature.has_batch or length in (None, 1):
        return None
    shape = (length, *signature.input_shape)
    note = f"The first axis of the input, of length {length}, was read as a part of each point: as a batch it fails."
    return Signature(shape, False, None, note)


def _as_given(program: Program, dims: tuple[int | None, ...] | None, shape: tuple[int, ...]) -> Signature:
    if dims is None:
        return Signature((1, *shape), True, None)
    if dims and _fits(dims[1:], shape):
        return Signature((1, *shape), True, dims[0])
    if _fits(dims, shape):
        return Signature(shape, False, None)
    known = [length for length in dims[1:] if length is not None]
    if len(shape) == 1 and len(known) == len(dims) - 1 and prod(known) == shape[0]:
        hint = f"; flattened points of {shape[0]} entries are accepted without it"
    else:
        hint = ""
    wanted = ", ".join("?" if length is None else str(length) for length in dims[1:])
    raise ShapeError(
        f"expected input_shape ({wanted}{',' * (len(dims) == 2)}) as the file declares it for {program.input_name}, "
        f"got {shape}{hint}"
    )


def _fits(dims: tuple[int | None, ...], shape: tuple[int, ...]) -> bool:
    return len(dims) == len(shape) and all(a in (None, b) for a, b in zip(dims, shape, strict=True))
