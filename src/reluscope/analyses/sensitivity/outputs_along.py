"""Outputs along one direction: values over positions along it, and the network on the line itself.

A sample x has the position ``t = v . (x - c)`` along the direction v through the point c. If the output depended on
this alone, its values over t would be a curve, see [sattelberg2026]_, Figure 6.15. On the line ``c + t v`` the output
is a piecewise linear function of t, which is found exactly.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from reluscope.arguments import read_arguments, read_position
from reluscope.errors import InputError, ShapeError
from reluscope.findings import Finding
from reluscope.geometry.polyhedra.slices import Segment
from reluscope.networks.evaluation.rounded_forward import rounded_forward
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.partitions.ask.dispatch import partition
from reluscope.shown import Shown
from reluscope.stopping import is_interrupted
from reluscope.tolerance import Tolerance

EPSILON = float(np.finfo(np.float64).eps)
# Numbers that differ by no more than so many of their last digits are equal for all that float64 says.
LAST_DIGITS = 64


@dataclass(frozen=True, eq=False, repr=False)
class OutputAlong(Shown):
    """An output over positions along a direction.

    Parameters
    ----------
    output : int
    positions, values : (s,) float64
        Of the samples.
    line_positions, line_values : (k,) float64
        Vertices of the output's piecewise linear graph on the line, from the first to the last sample; empty if the
        line was left out.
    value_errors : (s,) float64
        Bounds on the rounding of values.
    position_error : float
        Bound on the rounding of positions.
    """

    output: int
    positions: Float[np.ndarray, " s"]
    values: Float[np.ndarray, " s"]
    line_positions: Float[np.ndarray, " k"]
    line_values: Float[np.ndarray, " k"]
    value_errors: Float[np.ndarray, " s"]
    position_error: float

    def __len__(self) -> int:
        return len(self.positions)

    def explained(self) -> Finding:
        """Return the share of the output's variance over the samples that a line over the positions explains.

        Returns
        -------
        Finding
            The squared correlation, EXACT where rounding leaves nine digits; anywhere from 0 to 1, as it was computed,
            where bounds on rounding are wider than the variance; 0 where there is none.
        """
        columns = (self.positions, self.values)
        parts = [column - column.mean() for column in columns]
        lengths = [float(np.linalg.norm(part)) for part in parts]
        varies = all(
            length > LAST_DIGITS * EPSILON * float(np.linalg.norm(column))
            for length, column in zip(lengths, columns, strict=True)
        )
        noise = [self.position_error * len(self) ** 0.5, float(np.linalg.norm(self.value_errors))]
        # The angle between the centred columns moves by at most the sum of the angles by which each may turn.
        turns = sum(
            np.pi / 2 if length <= 2 * error else 2 * error / length
            for length, error in zip(lengths, noise, strict=True)
        )
        known = turns < 0.5
        value = float(parts[0] @ parts[1] / np.prod(lengths)) ** 2 if known or varies else 0.0
        value, error = min(1.0, value), float(turns) + 16 * EPSILON if known else 1.0
        return Finding.of(
            value,
            max(0.0, value - error),
            min(1.0, value + error),
            name=f"variance explained along the direction, output {self.output}",
            definition="squared correlation of the output and the position along the direction",
            domain=f"{len(self):,} samples",
            num_samples=len(self),
            method="float64 forward pass with a running error bound",
            source="sattelberg2026",
            is_share=True,
        )


@read_arguments
def output_along(
    network: Network,
    x: Points,
    direction: Float[np.ndarray, " n"],
    *,
    output: int = 0,
    on_line: bool = True,
    tolerance: Tolerance | None = None,
) -> OutputAlong:
    """Return an output over the samples' positions along a direction, and on the line through their mean.

    Parameters
    ----------
    network : Network
    x : (s, *input_shape) or (s, n)
    direction : (n,) array
        Nonzero; its length is irrelevant.
    output : int
        Index of the flattened output.
    on_line : bool
        Whether to compute the output on the line, too. The line takes nearly all of the runtime; without it there
        are positions, values and the variance that they explain.
    tolerance : Tolerance, optional

    Returns
    -------
    OutputAlong

    Raises
    ------
    ShapeError
        If the direction does not fit the inputs.
    InputError
        If the direction is zero or the output does not exist.

    Notes
    -----
    About three forward passes of the samples, and one partition of a segment. The partition costs about one forward
    pass per vertex on the line, of which convolutional networks have thousands.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.array([[1.0, 1.0]]), np.zeros(1)), (np.ones((1, 1)), np.zeros(1))])  # max(x_0 + x_1, 0)
    >>> found = rs.sensitivity.output_along(net, [[-1.0, -1.0], [0.5, 0.5], [2.0, 2.0]], np.array([1.0, 1.0]))
    >>> found.line_values.round(9), print(found.explained())
    0.923077 (EXACT)
    (array([0., 0., 4.]), None)
    """
    points = network.points(x)
    flat = points.reshape(len(points), -1).cpu().numpy()
    towards = np.asarray(direction, dtype=np.float64).reshape(-1)
    if towards.size != network.num_inputs:
        raise ShapeError(f"expected a direction of {network.num_inputs} entries, as many as inputs, got {towards.size}")
    length = float(np.linalg.norm(towards))
    if not (length > 0 and np.isfinite(length)):
        raise InputError("expected a finite direction that is not zero: the output is constant along none")
    output = read_position(output, "output", network.num_outputs, "outputs")
    unit, center = towards / length, flat.mean(axis=0)
    positions = (flat - center) @ unit
    forward = rounded_forward(network, points, tolerance=tolerance)
    sizes = float(np.abs(flat).max()) + float(np.abs(center).max())
    gamma = (tolerance or Tolerance()).rounding * EPSILON
    line = _on_the_line(network, center, unit, positions, output, tolerance) if on_line else (np.zeros(0), np.zeros(0))
    return OutputAlong(
        output,
        positions,
        forward.outputs[:, output],
        *line,
        forward.errors[:, output],
        gamma * sizes * float(np.abs(unit).sum()),
    )


def _on_the_line(
    network: Network,
    center: np.ndarray,
    unit: np.ndarray,
    positions: np.ndarray,
    output: int,
    tolerance: Tolerance | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of the output's graph on the line, over the range of the positions."""
    low, high = float(positions.min()), float(positions.max())
    if not high > low:
        value = network(center[None]).reshape(-1)[output]
        return np.array([low]), np.array([float(value)])
    segment = Segment(center + low * unit, center + high * unit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        part = partition(network, segment, tolerance=tolerance)
    if is_interrupted(part.stop):  # a part of the line is of no use
        raise KeyboardInterrupt
    corners, first = np.unique(part.vertices[:, 0], return_index=True)
    return low + corners, part.outputs[first, output]
