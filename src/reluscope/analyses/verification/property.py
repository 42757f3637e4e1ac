"""Properties: for no input in some boxes do the outputs lie in some polyhedra.

That is the normal form of VNN-LIB: a disjunction of cases, each of a box of inputs and a disjunction of polyhedra of
outputs. What it describes is what must not happen.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from reluscope.arguments import read_arguments
from reluscope.errors import InputError, ShapeError
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.shown import Shown

# Sums with larger inputs may be too large for float64. Of rows of unsafe outputs the largest coefficient is no larger,
# and no smaller than its inverse: what products below the smallest number lose is counted for such rows.
LARGEST_INPUT, LARGEST_ROW = 1e100, 2.0**100


@read_arguments
@dataclass(frozen=True, eq=False, repr=False)
class Case(Shown):
    """A box of inputs, and the outputs that no input in the box may have.

    Parameters
    ----------
    lower, upper : (n,) float64
        Ends of the box; a side may have length zero.
    unsafe : sequence of Polyhedron
        In the space of outputs, or of outputs and inputs (`Property`). No input in the box may have outputs in any of
        them.

    Raises
    ------
    InputError
        If the box is empty or beyond 1e100, no outputs are unsafe, or rows of unsafe outputs have no coefficient of
        ordinary size (1e-30 to 1e30) or a larger one.
    ShapeError
        If the polyhedra have different dimensions.
    """

    lower: Float[np.ndarray, " n"]
    upper: Float[np.ndarray, " n"]
    unsafe: Sequence[Polyhedron]

    def __post_init__(self) -> None:
        if (empty := np.flatnonzero(self.lower > self.upper)).size:
            axis = int(empty[0])
            raise InputError(
                f"the inputs of a case must not be empty, got [{self.lower[axis]:g}, {self.upper[axis]:g}] for input "
                f"{axis}: swap its ends"
            )
        if not len(self.lower):
            raise ShapeError("a case must have at least one input, got none")
        if (largest := float(np.abs([self.lower, self.upper]).max())) > LARGEST_INPUT:
            raise InputError(
                f"the inputs of a case must be at most {LARGEST_INPUT:g}, got {largest:g}: measure them in other units"
            )
        if not len(self.unsafe):
            raise InputError("a case must have at least one polyhedron of unsafe outputs, got none")
        dims = sorted({one.dim for one in self.unsafe})
        if len(dims) > 1:
            raise ShapeError(f"the unsafe outputs of a case must be equally many, got {dims[0]} and {dims[1]}")
        for one in self.unsafe:
            sizes = np.abs(np.concatenate([one.A, one.C])).max(axis=1)
            wrong = sizes[(sizes > LARGEST_ROW) | ((sizes > 0) & (sizes < 1 / LARGEST_ROW))]
            if wrong.size:
                raise InputError(
                    f"the largest coefficient of each row of unsafe outputs must be between {1 / LARGEST_ROW:.1g} and "
                    f"{LARGEST_ROW:.1g}, or 0, got {wrong[0]:g}: multiply the row"
                )
        object.__setattr__(self, "unsafe", tuple(self.unsafe))


@read_arguments
@dataclass(frozen=True, eq=False, repr=False)
class Property(Shown):
    """A safety property: no input in the box of a case has outputs in one of the case's polyhedra.

    Parameters
    ----------
    cases : sequence of Case
    relates_inputs : bool
        Whether the polyhedra are sets of outputs followed by inputs, (y, x), of m + n coordinates: for conditions that
        relate inputs to each other or to outputs.

    Raises
    ------
    InputError
        If there are no cases.
    ShapeError
        If the cases have different numbers of inputs or outputs, or no outputs beside related inputs.

    Examples
    --------
    >>> import reluscope as rs
    >>> unsafe = rs.Polyhedron([[-1.0]], [-3.0])  # y >= 3
    >>> safe = rs.verification.Property([rs.verification.Case([0.0, 0.0], [1.0, 1.0], [unsafe])])
    >>> safe.num_inputs, safe.num_outputs
    (2, 1)
    >>> above_first = rs.Polyhedron([[-1.0, 1.0, 0.0]], [0.0])  # y >= x_0
    >>> case = rs.verification.Case([0.0, 0.0], [1.0, 1.0], [above_first])
    >>> rs.verification.Property([case], relates_inputs=True).num_outputs
    1
    """

    cases: Sequence[Case]
    relates_inputs: bool = False

    def __post_init__(self) -> None:
        if not len(self.cases):
            raise InputError("a property must have at least one case, got none")
        for what, sizes in (
            ("inputs", {len(one.lower) for one in self.cases}),
            ("outputs", {one.unsafe[0].dim for one in self.cases}),
        ):
            if len(sizes) > 1:
                low, high = sorted(sizes)[:2]
                raise ShapeError(f"the cases of a property must have equally many {what}, got {low} and {high}")
        object.__setattr__(self, "cases", tuple(self.cases))
        if self.num_outputs < 1:
            raise ShapeError(
                f"relates_inputs=True needs unsafe sets of outputs and {self.num_inputs} inputs behind them, got "
                f"{self.cases[0].unsafe[0].dim} coordinates"
            )

    @property
    def num_inputs(self) -> int:
        """Number of inputs n."""
        return len(self.cases[0].lower)

    @property
    def num_outputs(self) -> int:
        """Number of outputs m."""
        return self.cases[0].unsafe[0].dim - self.num_inputs * self.relates_inputs
