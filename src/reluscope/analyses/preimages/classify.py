"""Which outputs of a layer have a preimage that is empty, a point, a polytope or unbounded.

P has the rows of units that are equations, Z those that are inequalities (Behrmann et al. 2018, section 2; theorem 4
for preimages that are not empty). A preimage is a point if P has full rank, or if the inequalities that are tight at a
point of it leave only that point; bounded if no direction has ``P d = 0`` and ``Z d <= 0``; else unbounded.
"""

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from reluscope.analyses.preimages.kinds import Preimages
from reluscope.analyses.preimages.layer import GateLayer, LayerLike, check_sizes
from reluscope.analyses.preimages.layer_in_box import LayerAnswer, LayerInBox
from reluscope.analyses.preimages.mixed_system import read_outputs
from reluscope.analyses.preimages.reading_layers import layer_inputs, read_layer
from reluscope.arguments import NonNegative, read_arguments, read_array
from reluscope.errors import InputError, ShapeError
from reluscope.geometry.numbers.resolutions import UNIT_ROUNDOFF, ZEROS
from reluscope.geometry.polyhedra.domains import Box
from reluscope.networks.network import Network
from reluscope.progress import Progress, share_done

# Outputs whose pre-activations are in memory at once, in numbers.
CHUNK = 2**24


@read_arguments
def classify(
    layer: LayerLike,
    y: ArrayLike,
    *,
    domain: Box | None = None,
    gate: str | int | None = None,
    progress: Progress = False,
    tolerance: NonNegative = ZEROS,
) -> Preimages:
    """Return the kind of the preimage of each of some outputs of a layer.

    Parameters
    ----------
    layer : Network, GateLayer, or pair (A, b)
        The pair stands for ``relu(A x + b)``.
    y : (s, u) or (u,)
        Outputs of the gate. Outputs computed in float32 need a tolerance of some 1e-5, since they are outputs only
        up to their rounding.
    domain : Box, optional
        Prior bounds on the inputs of the layer; then nothing is unbounded.
    gate : str or int, optional
        Gate of a network; the first one by default.
    progress : bool or callable
        Show progress; a function receives the share done, from 0 to 1.
    tolerance : float
        Threshold for zero, relative to the sizes of the summands: for violations, singular values, and products of
        directions and rows.

    Returns
    -------
    Preimages
        Each kind with its certificates. A kind is proved if its certificates hold beyond rounding; for small
        systems of whole numbers they are exact.

    Raises
    ------
    InputError
        If an output is not finite or is not an output of the gate, the gate is a maximum, or the layer is too
        large.
    ShapeError
        If outputs have the wrong length.

    Notes
    -----
    A common solution of more equations than inputs is never proved in floating point. If the inputs are known, pass
    them to `classify_at`: the preimage of their outputs is not empty. Cost for each output: one factorisation of up
    to n x n, where it leaves directions undecided a problem of non-negative least squares in as many variables, and
    a linear program that finds a point.

    Examples
    --------
    >>> import reluscope as rs
    >>> triangle = [[1, 0], [0, 1], [-1, -1]]
    >>> for b in ([-1, -1, -1], [-1, -1, 2], [1, 1, 3]):
    ...     print(rs.preimages.classify((triangle, b), [0, 0, 0]).kind(0).name)
    COMPACT
    SINGLETON
    EMPTY
    """
    one = read_layer(layer, gate)
    outputs = read_outputs(one, y)
    work = LayerInBox(one, _read_box(one, domain), _read_tolerance(tolerance))

    def decisions(first: int, last: int) -> list[LayerAnswer]:
        lower, upper = one.intervals(outputs[first:last])
        errors = one.inversion_errors(outputs[first:last]).tolist()
        return [work.of_output(*entry) for entry in zip(lower, upper, errors, strict=True)]

    return _table(work, len(outputs), decisions, progress)


@read_arguments
def classify_at(
    layer: LayerLike,
    x: ArrayLike,
    *,
    domain: Box | None = None,
    gate: str | int | None = None,
    progress: Progress = False,
    tolerance: NonNegative = ZEROS,
) -> Preimages:
    """Return the kind of the preimage of the output of a layer at each of some inputs.

    Parameters
    ----------
    layer : Network, GateLayer, or pair (A, b)
        The pair stands for ``relu(A x + b)``.
    x : (s, *input_shape) or (s, n)
        Inputs of the network, or of a layer that is given on its own.
    domain, gate, progress, tolerance
        As for `classify`.

    Returns
    -------
    Preimages
        Of the output of the layer in real arithmetic at the exact inputs. For a deeper gate of a network the input
        of the layer is computed in float64. The input is in its preimage. A kind is unproved if the sign of a unit
        is within rounding.

    Raises
    ------
    InputError
        If an input is not finite or not in the domain, the gate is a maximum, or the layer is too large.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> found = rs.preimages.classify_at(net, [[1.0, 2.0], [1.0, -2.0]])
    >>> [found.kind(i).name for i in range(2)], found.dims
    (['SINGLETON', 'UNBOUNDED'], array([0, 1]))
    >>> found.count(rs.preimages.PreimageKind.UNBOUNDED)
    Finding(unbounded preimages: 1 (EXACT))
    """
    one = read_layer(layer, gate)
    points = layer_inputs(layer, read_array(x, "inputs"), gate) if isinstance(layer, Network) else _read_points(one, x)
    work = LayerInBox(one, _read_box(one, domain), _read_tolerance(tolerance))
    if domain is not None and not ((points >= domain.lo) & (points <= domain.hi)).all():
        row = int(np.argmin(((points >= domain.lo) & (points <= domain.hi)).all(axis=1)))
        raise InputError(f"expected inputs of the layer in the domain, and input {row} is outside: enlarge the domain")
    sizes = abs(one.weight)

    def decisions(first: int, last: int) -> list[LayerAnswer]:
        chunk = points[first:last]
        pre = one.preactivations(chunk)
        noise = (one.num_inputs + 3) * UNIT_ROUNDOFF * (np.asarray(sizes @ np.abs(chunk).T).T + np.abs(one.bias))
        lower, upper = one.intervals(one.apply(pre))
        lower, upper = (np.where(lower == upper, pre, end) for end in (lower, upper))
        near = np.zeros(len(chunk), dtype=bool)
        for threshold in one.breakpoints:
            near |= ((np.abs(pre - threshold) <= noise) & (noise > 0)).any(axis=1)
        return [work.of_input(*entry) for entry in zip(chunk, noise, lower, upper, (~near).tolist(), strict=True)]

    return _table(work, len(points), decisions, progress)


def _table(
    work: LayerInBox,
    number: int,
    decisions: Callable[[int, int], list[LayerAnswer]],
    progress: Progress,
) -> Preimages:
    """Decide chunk by chunk, and put the answers into columns."""
    began = time.perf_counter()
    step = max(1, CHUNK // (work.layer.num_units + work.layer.num_inputs) // 8)
    answers: list[LayerAnswer] = []
    with share_done("preimages", progress) as tell:
        for first in range(0, number, step):
            answers += decisions(first, min(first + step, number))
            tell(len(answers) / number)
    return Preimages(
        kinds=np.array([answer.decision.kind for answer in answers], dtype=np.int8),
        deciders=np.array([answer.decision.decider for answer in answers], dtype=np.int8),
        is_proved=np.array([answer.decision.is_proved for answer in answers], dtype=bool),
        dims=np.array([answer.dim for answer in answers], dtype=np.int64),
        num_equations=np.array([answer.num_equations for answer in answers], dtype=np.int64),
        points=np.array([answer.point for answer in answers]),
        certificates=tuple(answer.decision.certificates for answer in answers),
        gate=work.layer.name,
        is_in_box=work.box is not None,
        tolerance=work.tolerance,
        seconds=time.perf_counter() - began,
    )


def _read_points(layer: GateLayer, x: ArrayLike) -> np.ndarray:
    points = read_array(x, "inputs")
    check_sizes(points, "inputs")
    if (
        points.ndim == 0
        or not points.size
        or points.size % layer.num_inputs
        or (points.ndim > 1 and points[0].size != layer.num_inputs)
    ):
        raise ShapeError(f"expected inputs of {layer.num_inputs} entries each, got an array of {points.shape}")
    return points.reshape(-1, layer.num_inputs)


def _read_box(layer: GateLayer, box: Box | None) -> Box | None:
    if box is not None and box.dim != layer.num_inputs:
        raise ShapeError(
            f"expected a domain of {layer.num_inputs} coordinates, those that the layer reads, got {box.dim}"
        )
    return box


def _read_tolerance(tolerance: float) -> float:
    if not 0 < tolerance < 0.1:
        raise InputError(f"expected a tolerance between 0 and 0.1, got {tolerance:g}: 1e-9 suits float64")
    return float(tolerance)
