"""Sets of outputs as polyhedra: a class, a class with a margin, one vector of features."""

import numpy as np
from numpy.typing import ArrayLike

from reluscope.arguments import read_point
from reluscope.errors import InputError
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.evaluation.decisions import Decision


def class_target(num_outputs: int, label: int, *, margin: float = 0.0, decision: Decision = "largest") -> Polyhedron:
    """Return the outputs at which a class leads the others by a margin: ``f_label - f_j >= margin``.

    With one output f the classes are 0 (``-f >= margin``) and 1 (``f >= margin``). Margin 0 is the closure of the
    class, ties included; negative margins take outputs that are at most so far behind.
    """
    classes = max(2, num_outputs)
    if not 0 <= label < classes:
        raise InputError(f"expected a class from 0 to {classes - 1}, got {label}")
    if not np.isfinite(margin):
        raise InputError(f"expected a finite margin, got {margin}")
    if num_outputs == 1:
        sign, level = (-1.0 if label else 1.0), decision if isinstance(decision, float) else 0.0
        return Polyhedron([[sign]], [sign * level - margin])
    rows = np.delete(np.eye(num_outputs), label, axis=0)
    rows[:, label] = -1.0
    rows = -rows if decision == "smallest" else rows
    return Polyhedron(rows, np.full(len(rows), -margin))


def vector_target(num_outputs: int, y: ArrayLike) -> Polyhedron:
    """Return one vector of outputs as a polyhedron of equations."""
    vector = read_point(y, "outputs")
    if len(vector) != num_outputs:
        raise InputError(f"expected a vector of {num_outputs} outputs, got {len(vector)} entries")
    return Polyhedron(np.zeros((0, num_outputs)), np.zeros(0), np.eye(num_outputs), vector)
