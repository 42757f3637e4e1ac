"""The preimage of one output of a layer as a system of equations and inequalities, ``P x = c`` and ``Z x <= d``.

A unit whose gate gives the output at one pre-activation only is an equation; one that gives it on an interval, such as
a ReLU at zero, has an inequality for each end (Behrmann et al. 2018, equations 1 and 2).
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from reluscope.analyses.preimages.layer import GateLayer, LayerLike, Matrix, check_sizes
from reluscope.analyses.preimages.reading_layers import read_layer
from reluscope.arguments import read_arguments, read_array
from reluscope.errors import ShapeError
from reluscope.geometry.polyhedra.domains import Box
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.shown import Shown


@dataclass(frozen=True, eq=False, repr=False)
class MixedSystem(Shown):
    """The set of x with ``equations x = values`` and ``inequalities x <= bounds``.

    Parameters
    ----------
    equations : (p, n) array or scipy.sparse.csr_array
        The matrix P.
    values : (p,) float64
        The vector c.
    inequalities : (q, n) array or scipy.sparse.csr_array
        The matrix Z.
    bounds : (q,) float64
        The vector d.
    equation_units, inequality_units : (p,) and (q,) int64
        The unit of each row; -1 for a side of a box.
    error : float
        Upper bound on the error of values and bounds; 0 if inverting outputs and subtracting biases rounded
        nothing.

    Examples
    --------
    >>> found = system(([[1, 0], [0, 1], [-1, -1]], [0, -1, -1]), [2, 0, 0])
    >>> found.equations.tolist(), found.values.tolist(), found.bounds.tolist()
    ([[1.0, 0.0]], [2.0], [1.0, 1.0])
    """

    equations: Matrix
    values: Float[np.ndarray, " p"]
    inequalities: Matrix
    bounds: Float[np.ndarray, " q"]
    equation_units: Int[np.ndarray, " p"]
    inequality_units: Int[np.ndarray, " q"]
    error: float = 0.0

    @property
    def num_inputs(self) -> int:
        """Number of coordinates n of x."""
        return self.equations.shape[1]  # pyright: ignore[reportOptionalSubscript]

    @property
    def polyhedron(self) -> Polyhedron:
        """The same set as a polyhedron, dense."""
        return Polyhedron(_dense(self.inequalities), self.bounds, _dense(self.equations), self.values)

    @read_arguments
    def within(self, box: Box) -> "MixedSystem":
        """Return the system with the sides of a box as further inequalities, the upper ones first."""
        if box.dim != self.num_inputs:
            raise ShapeError(
                f"expected a box of {self.num_inputs} coordinates, those that the layer reads, got {box.dim}"
            )
        sides = scipy.sparse.eye_array(box.dim, format="csr")
        if isinstance(self.inequalities, np.ndarray):
            rows = np.concatenate([self.inequalities, sides.toarray(), -sides.toarray()])
        else:
            rows = scipy.sparse.csr_array(scipy.sparse.vstack([self.inequalities, sides, -sides]))
        bounds = np.concatenate([self.bounds, box.hi, -box.lo])
        units = np.concatenate([self.inequality_units, np.full(2 * box.dim, -1)])
        return MixedSystem(self.equations, self.values, rows, bounds, self.equation_units, units, self.error)

    @read_arguments
    def violation(self, x: Float[np.ndarray, " n"]) -> float:
        """Return by how much a point violates the row that it violates most, in units of the pre-activation."""
        num_inputs = self.equations.shape[1]  # pyright: ignore[reportOptionalSubscript]
        if len(x) != num_inputs:
            raise ShapeError(f"x must have {num_inputs} coordinates, got {len(x)}")
        equal = np.abs(self.equations @ x - self.values).max(initial=0.0)
        return float(max(equal, (self.inequalities @ x - self.bounds).max(initial=0.0)))


@read_arguments
def system(
    layer: LayerLike,
    y: ArrayLike,
    *,
    domain: Box | None = None,
    gate: str | int | None = None,
) -> MixedSystem:
    """Return the preimage of one output of a layer as equations and inequalities.

    Parameters
    ----------
    layer : Network, GateLayer, or pair (A, b)
        The pair stands for ``relu(A x + b)``.
    y : (u,) or the gate's shape
        Output of the gate.
    domain : Box, optional
        Prior bounds on the inputs of the layer (remark 3 of the paper).
    gate : str or int, optional
        Gate of a network; the first one by default.

    Returns
    -------
    MixedSystem
        Units with one pre-activation for their output are equations. Every other unit gives one inequality for each
        end of its interval.

    Raises
    ------
    InputError
        If the output is not finite, is not an output of the gate, or belongs to two separate intervals of a unit.
    ShapeError
        If the output has the wrong length.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> found = rs.preimages.system(net, [3.0, 0.0], gate="relu 0")
    >>> found.equation_units, found.inequality_units
    (array([0]), array([1]))
    """
    layer = read_layer(layer, gate)
    output = read_outputs(layer, y)
    if len(output) != 1:
        raise ShapeError(f"expected one output of {layer.num_units} entries, got {len(output)}: take them one by one")
    lower, upper = layer.intervals(output)
    found = system_between(layer, lower[0], upper[0], layer.inversion_errors(output)[0])
    return found if domain is None else found.within(domain)


def system_between(
    layer: GateLayer, lower: Float[np.ndarray, " u"], upper: Float[np.ndarray, " u"], error: float = 0.0
) -> MixedSystem:
    """Return the inputs at which pre-activations of all units are in given intervals, as a mixed system.

    ``error`` is how far the ends of the intervals may be from the right ones.
    """
    equal = np.flatnonzero(lower == upper)
    below = np.flatnonzero((lower < upper) & np.isfinite(upper))
    above = np.flatnonzero((lower < upper) & np.isfinite(lower))
    weight, bias = layer.weight, layer.bias
    if isinstance(weight, np.ndarray):
        rows = np.concatenate([weight[below], -weight[above]])
    else:
        rows = scipy.sparse.csr_array(scipy.sparse.vstack([weight[below], -weight[above]]))
    values, rounding = _difference(lower[equal], bias[equal])
    highest, rounding_above = _difference(upper[below], bias[below])
    lowest, rounding_below = _difference(bias[above], lower[above])
    bounds = np.concatenate([highest, lowest])
    units = np.concatenate([below, above])
    error += max(rounding, rounding_above, rounding_below)
    return MixedSystem(weight[equal], values, rows, bounds, equal, units, error)


def _difference(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, float]:
    """Return a difference and its largest rounding error, which floating point gives exactly (Knuth's two-sum)."""
    found = left - right
    back = found - left
    errors = (left - (found - back)) - (right + back)
    return found, float(np.abs(errors).max(initial=0.0))


def read_outputs(layer: GateLayer, y: ArrayLike) -> Float[np.ndarray, "s u"]:
    """Return outputs of a layer as float64 ``(s, u)``, refused with a sentence where they cannot be."""
    outputs = read_array(y, "outputs")
    check_sizes(outputs, "outputs")
    if outputs.ndim == 0 or outputs.size == 0:
        raise ShapeError(f"expected outputs of {layer.num_units} entries each, got an array of {outputs.shape}")
    if outputs.size == layer.num_units and (outputs.ndim != 2 or outputs.shape[0] != 1):
        return outputs.reshape(1, -1)
    if outputs.ndim < 2 or outputs[0].size != layer.num_units:
        raise ShapeError(
            f"expected outputs of the {layer.num_units} units of {layer.name!r}, got an array of {outputs.shape}"
        )
    return outputs.reshape(len(outputs), -1)


def _dense(matrix: Matrix) -> np.ndarray:
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
