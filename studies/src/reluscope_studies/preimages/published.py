"""Algorithm 1 of Behrmann et al. 2018 as printed, and where it errs.

It calls a preimage finite if P has full rank, or if 0 is in the convex hull of the rows of Z on the null space of P.
To be bounded takes 0 in the *interior* of the hull, and it is not asked whether there is a preimage at all.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import scipy.linalg
from jaxtyping import Bool, Int8
from numpy.typing import ArrayLike

from reluscope import Finding
from reluscope.arguments import read_arguments, read_position
from reluscope.errors import ShapeError
from reluscope.extending.analyses import (
    GateLayer,
    LayerLike,
    LinearProgram,
    PreimageKind,
    Preimages,
    ProgramStatus,
    Shown,
    read_layer,
    read_outputs,
    row_lengths,
    system,
)


class Error(IntEnum):
    """In which way the printed algorithm errs.

    EMPTY: finite or not, there is no preimage. ZERO_ROW: "finite" for an unbounded preimage, by a row of Z that
    vanishes on the null space. RANK: the rows do not span it. BOUNDARY: 0 is on the boundary of their hull. MISSED:
    "infinite" for a bounded preimage.
    """

    NONE = 0
    EMPTY = 1
    ZERO_ROW = 2
    RANK = 3
    BOUNDARY = 4
    MISSED = 5


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
    """Answers of the published algorithm, compared with the kinds of preimages.

    Not a table of `Findings`, since kinds of errors have no ends; `count` returns the number of answers with one.

    Parameters
    ----------
    says_finite : (s,) bool
    errors : (s,) int8
        As `Error`.
    is_hidden_singleton : (s,) bool
        Whether "finite" is right and the preimage is a single point by its inequalities, which the algorithm does
        not detect.
    """

    says_finite: Bool[np.ndarray, " s"]
    errors: Int8[np.ndarray, " s"]
    is_hidden_singleton: Bool[np.ndarray, " s"]

    @read_arguments
    def error(self, position: int) -> Error:
        """Return the error in one answer."""
        position = read_position(position, "position", len(self.errors), "preimages")
        return Error(int(self.errors[position]))

    @read_arguments
    def count(self, error: Error) -> Finding:
        """Return how many answers err in a way (with NONE: do not), as an EXACT number of these outputs."""
        return Finding.of(
            int((self.errors == error).sum()),
            name=f"answers of Algorithm 1, error: {error.name.lower().replace('_', ' ')}",
            definition="Algorithm 1 as printed against the kinds found",
            source="behrmann2018",
        )


@read_arguments
def algorithm_1(A: ArrayLike, b: ArrayLike, y: ArrayLike) -> bool:
    """Return the answer of Algorithm 1 of the paper: whether the preimage of y is finite.

    The map is ``relu(A x + b)``. As printed, with its errors: for answers use `classify`.

    Parameters
    ----------
    A, b, y : (m, n), (m,) and (m,) arrays

    Returns
    -------
    bool

    Notes
    -----
    A linear program with a variable for each zero output.

    Examples
    --------
    >>> strip = [[1, 0], [-1, 0], [0, 1]]
    >>> algorithm_1(strip, [-1, -1, -1], [0, 0, 0])  # wrong: nothing bounds the second coordinate from below
    True
    """
    found = system((A, b), y)
    equations, inequalities = (np.asarray(rows) for rows in (found.equations, found.inequalities))
    if len(equations) and np.linalg.matrix_rank(equations) == found.num_inputs:
        return True
    reduced = _on_null_space(equations, inequalities)
    height, size = reduced.shape
    if height <= size:
        return False
    program = LinearProgram(height)
    program.set_all_bounds(np.zeros(height), np.ones(height))
    program.add_rows(reduced.T, np.zeros(size), np.zeros(size))
    program.add_rows(np.ones((1, height)), np.ones(1), np.ones(1))
    return program.maximize(np.ones(height)).status is ProgramStatus.OPTIMAL


@read_arguments
def compare_with_algorithm_1(
    layer: LayerLike,
    y: ArrayLike,
    found: Preimages,
    *,
    gate: str | int | None = None,
) -> Comparison:
    """Return the errors of the published algorithm on some outputs.

    Parameters
    ----------
    layer : Network, GateLayer, or pair (A, b)
    y : (s, u) or (u,)
        Outputs of a ReLU.
    found : Preimages
        Of the same outputs, without a box.
    gate : str or int, optional

    Returns
    -------
    Comparison

    Raises
    ------
    ShapeError
        If the numbers of outputs and preimages differ, or the preimages are those in a box.

    Examples
    --------
    >>> import reluscope as rs
    >>> from reluscope_studies import preimages
    >>> strip = [[1, 0], [-1, 0], [0, 1]], [-1, -1, -1]
    >>> found = rs.preimages.classify(strip, [0, 0, 0])
    >>> preimages.compare_with_algorithm_1(strip, [0, 0, 0], found).error(0).name
    'BOUNDARY'
    """
    one = read_layer(layer, gate)
    outputs = read_outputs(one, y)
    if len(outputs) != len(found) or found.is_in_box:
        raise ShapeError(f"expected {len(outputs)} preimages, those of the outputs, in no box, got {len(found)}")
    says_finite = np.zeros(len(found), dtype=bool)
    errors = np.zeros(len(found), dtype=np.int8)
    for row, output in enumerate(outputs):
        kind = found.kind(row)
        says_finite[row] = algorithm_1(np.asarray(one.weight), one.bias, output)
        if kind is PreimageKind.EMPTY:
            errors[row] = Error.EMPTY
        elif says_finite[row] and kind is PreimageKind.UNBOUNDED:
            errors[row] = _why(one, output, found.tolerance)
        elif not says_finite[row] and kind is not PreimageKind.UNBOUNDED:
            errors[row] = Error.MISSED
    hidden = says_finite & (found.kinds == PreimageKind.SINGLETON) & (found.dims > 0)
    return Comparison(says_finite, errors, hidden)


def _why(layer: GateLayer, output: np.ndarray, tolerance: float) -> Error:
    """Return why 0 in the hull did not mean bounded."""
    mixed = system(layer, output)
    inequalities = np.asarray(mixed.inequalities)
    reduced = _on_null_space(np.asarray(mixed.equations), inequalities)
    if (np.linalg.norm(reduced, axis=1) <= tolerance * np.maximum(row_lengths(inequalities), 1e-300)).any():
        return Error.ZERO_ROW
    return Error.RANK if np.linalg.matrix_rank(reduced) < reduced.shape[1] else Error.BOUNDARY


def _on_null_space(equations: np.ndarray, inequalities: np.ndarray) -> np.ndarray:
    basis = scipy.linalg.null_space(equations) if len(equations) else np.eye(inequalities.shape[1])
    return inequalities @ basis
