"""Reading of arguments that depend on a network: gates, outputs and domains."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from reluscope.arguments import describe, read_array, read_position
from reluscope.errors import InputError, ShapeError
from reluscope.geometry import Box, Polyhedron, Slice, Space

# How far points that are meant to lie on a slice may be from it, relative and absolute: data come in float32.
ON_SLICE = 1e-6


def read_gate(gate: Any, names: Sequence[str]) -> int:
    """Return the position of a gate, given by its name or its position, from the end if negative.

    Raises InputError with the list of names if there is none.
    """
    if isinstance(gate, str) and gate in names:
        return list(names).index(gate)
    try:
        return read_position(gate, "gate", len(names), "gates")
    except InputError:
        known = ", ".join(names) or "none: the network is affine"
        raise InputError(f"gate must be a name or a position among {known}, got {describe(gate)}") from None


def read_outputs(outputs: Any, num_outputs: int) -> tuple[int, ...]:
    """Return the positions of some flattened outputs, from the end if negative; all for None.

    Raises InputError if it is no sequence of whole numbers, empty, or out of range.
    """
    if outputs is None:
        return tuple(range(num_outputs))
    if isinstance(outputs, str | bytes) or not hasattr(outputs, "__len__") or not hasattr(outputs, "__getitem__"):
        raise InputError(f"outputs must be a sequence of positions below {num_outputs}, got {describe(outputs)}")
    if not len(outputs):
        raise InputError(f"outputs must be from 0 to {num_outputs - 1}, one at least, got none")
    return tuple(read_position(output, "outputs", num_outputs, "outputs") for output in outputs)


def read_domain(domain: Any, num_inputs: int) -> Space | Box | Polyhedron | Slice:
    """Return a domain in the space of the inputs.

    Raises InputError if it is no domain, ShapeError if it lies in another space.
    """
    if not isinstance(domain, Slice | Box | Space | Polyhedron):
        raise InputError(f"domain must be a Slice, Box, Space or Polyhedron, got {describe(domain)}")
    if domain.ambient_dim != num_inputs:
        raise ShapeError(
            f"the domain lies in {domain.ambient_dim} dimensions, but the network has {num_inputs} inputs: build it "
            "from points of the network's input space"
        )
    return domain


def coordinates_on(domain: Slice, x: Any) -> Any:
    """Return points in the coordinates of a slice; points of the input space that lie on it are turned into them.

    Raises ShapeError for points of the input space beside the slice.
    """
    if not hasattr(x, "shape") and not isinstance(x, Sequence):
        return x
    points = read_array(x, "x")
    size = points[0].size if points.ndim > 1 and len(points) else points.size
    if size == domain.dim or size != domain.ambient_dim:
        return x
    found = domain.project(points)
    flat = points.reshape(*found.shape[:-1], domain.ambient_dim)
    if not np.allclose(domain.lift(found), flat, rtol=ON_SLICE, atol=ON_SLICE):
        raise ShapeError("x must lie on the slice, got points beside it: give domain.project(x) for the closest points")
    return found
