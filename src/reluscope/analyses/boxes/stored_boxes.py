"""Boxes of inputs with affine forms of the outputs, as named arrays."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float

from reluscope.analyses.boxes.output_boxes import OutputBox
from reluscope.files import stored
from reluscope.networks.passes.forms import Forms

_OF_FORMS = ("centers", "weights", "errors")


def form_arrays(name: str, boxes: Sequence[OutputBox], num_outputs: int, dim: int) -> dict[str, np.ndarray]:
    """Return the forms of boxes as arrays whose names begin with a name; their ends are not among them."""
    forms = [one.outputs for one in boxes]
    shapes = {"centers": (-1, num_outputs), "weights": (-1, num_outputs, dim), "errors": (-1, num_outputs)}
    arrays = {
        f"{name}.form_{of}": np.array([getattr(one, of) for one in forms], dtype=float).reshape(shapes[of])
        for of in _OF_FORMS
    }
    arrays[f"{name}.noise"] = np.concatenate([np.zeros((0, num_outputs)), *(one.noise.T for one in forms)])
    arrays[f"{name}.num_noise"] = np.array([one.noise.shape[1] for one in forms], dtype=np.int64)
    return arrays


def read_forms(
    name: str, arrays: Mapping[str, np.ndarray], ends: Float[np.ndarray, "q 2 n"], outputs: int
) -> tuple[OutputBox, ...]:
    """Return boxes with the forms that `form_arrays` took apart; ValueError if they are none."""
    number, _, dim = ends.shape
    centers = stored.array(arrays, f"{name}.form_centers", np.float64, (number, outputs))
    weights = stored.array(arrays, f"{name}.form_weights", np.float64, (number, outputs, dim))
    errors = stored.array(arrays, f"{name}.form_errors", np.float64, (number, outputs), least=0)
    counts = stored.array(arrays, f"{name}.num_noise", np.int64, (number,), least=0)
    noise = stored.array(arrays, f"{name}.noise", np.float64, (int(counts.sum()), outputs))
    columns = np.split(noise, np.cumsum(counts)[:-1]) if number else []
    return tuple(
        OutputBox(low, high, Forms(center, weight, np.ascontiguousarray(column.T), error))
        for (low, high), center, weight, column, error in zip(ends, centers, weights, columns, errors, strict=True)
    )
