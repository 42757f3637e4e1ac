"""Which outputs of a layer have a preimage that is empty, a point, a polytope or unbounded.

P has the rows of units that are equations, Z those that are inequalities (Behrmann et al. 2018, section 2; theorem 4
for preimages that are not empty). A preimage is a point if P has full rank, or if the inequalities that are tight at a
point of it leave only that point; bounded if no direction has ``P d = 0`` and ``Z d <= 0``; else unbounded.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from reluscope.analyses.preimages.bounded import Decision, decide
from reluscope.analyses.preimages.feasibility import find_point
from reluscope.analyses.preimages.kind_certificates import FullRank, certain_shift, is_small
from reluscope.analyses.preimages.kinds import Decider, PreimageKind, Preimages
from reluscope.analyses.preimages.layer import GateLayer, LayerLike, Matrix, check_sizes, layer_inputs, read_layer
from reluscope.analyses.preimages.mixed_system import MixedSystem, read_outputs, system_between
from reluscope.analyses.preimages.ranks import (
    NullSpace,
    null_space,
    smallest_singular_value_lower,
    smallest_singular_value_lower_sparse,
)
from reluscope.analyses.preimages.rational_layers import near_dyadic
from reluscope.arguments import NonNegative, read_arguments, read_array
from reluscope.errors import InputError, ShapeError
from reluscope.geometry.numbers.resolutions import UNIT_ROUNDOFF, ZEROS
from reluscope.geometry.polyhedra.domains import Box
from reluscope.networks.network import Network
from reluscope.progress import Progress, share_done

# Layers with so many units have all products of their rows at hand; dense questions go up to so many inputs.
MAX_UNITS, MAX_INPUTS = 8192, 6000
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
    work = _LayerInBox(one, _read_box(one, domain), _read_tolerance(tolerance))

    def decisions(first: int, last: int) -> list[_Answer]:
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
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> found = rs.preimages.classify_at(net, [[1.0, 2.0], [1.0, -2.0]])
    >>> [found.kind(i).name for i in range(2)], found.dims
    (['SINGLETON', 'UNBOUNDED'], array([0, 1]))
    >>> found.count(rs.preimages.PreimageKind.UNBOUNDED)
    Finding(unbounded preimages: 1 (EXACT))
    """
    one = read_layer(layer, gate)
    points = layer_inputs(layer, read_array(x, "inputs"), gate) if isinstance(layer, Network) else _read_points(one, x)
    work = _LayerInBox(one, _read_box(one, domain), _read_tolerance(tolerance))
    if domain is not None and not ((points >= domain.lo) & (points <= domain.hi)).all():
        row = int(np.argmin(((points >= domain.lo) & (points <= domain.hi)).all(axis=1)))
        raise InputError(f"expected inputs of the layer in the domain, and input {row} is outside: enlarge the domain")
    sizes = abs(one.weight)

    def decisions(first: int, last: int) -> list[_Answer]:
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


@dataclass(frozen=True, eq=False)
class _Answer:
    """The kind of one preimage, and what it was found from."""

    decision: Decision
    dim: int
    num_equations: int
    point: np.ndarray


class _LayerInBox:
    """One layer in one box, asked about output after output."""

    def __init__(self, layer: GateLayer, box: Box | None, tolerance: float) -> None:
        self.layer, self.box, self.tolerance = layer, box, tolerance
        weight = layer.weight
        shares_products = isinstance(weight, np.ndarray) and len(weight) <= MAX_UNITS
        self.products = weight @ weight.T if shares_products else None

    def of_output(self, lower: np.ndarray, upper: np.ndarray, error: float) -> _Answer:
        """Decide with nothing known of the preimage, not even that there is one."""
        system = self._system(lower, upper, error)
        rank, equations = self._rank(system)
        basis = np.zeros((self.layer.num_inputs, 0)) if equations is None else equations.basis
        count, dim = len(system.values), basis.shape[1]
        found = find_point(system, basis, self.tolerance)
        if found.point is None:
            assert found.farkas is not None
            decider = Decider.PROGRAM if found.with_program else Decider.EQUATIONS
            proved = found.farkas.check(system, self.tolerance).is_proof
            empty = Decision(PreimageKind.EMPTY, decider, proved, (found.farkas,))
            return _Answer(empty, dim, count, np.full(self.layer.num_inputs, np.nan))
        point = _simplified(system, found.point)
        is_certain = bool(np.isfinite(certain_shift(system, point)))
        if rank is not None:
            certificate, proved = rank
            decision = Decision(PreimageKind.SINGLETON, Decider.RANK, proved and is_certain, (certificate,))
            return _Answer(decision, 0, count, point)
        assert equations is not None
        slack = system.bounds - system.inequalities @ point
        is_tight = slack <= self.tolerance * _row_sizes(system.inequalities, point, system.bounds)
        decision = decide(system, equations, point, slack, is_tight, self.tolerance, is_in_box=self.box is not None)
        decider = Decider.PROGRAM if found.with_program else decision.decider
        decision = decision._replace(decider=decider, is_proved=decision.is_proved and is_certain)
        return _Answer(decision, dim, count, point)

    def of_input(
        self, point: np.ndarray, noise: np.ndarray, lower: np.ndarray, upper: np.ndarray, is_certain: bool
    ) -> _Answer:
        """Decide for the output at an input, which is in the preimage."""
        equal = np.flatnonzero(lower == upper)
        if len(equal) >= self.layer.num_inputs:
            rank = self._full_rank(equal)
            if rank is not None:
                certificate, proved = rank
                decision = Decision(PreimageKind.SINGLETON, Decider.RANK, proved and is_certain, (certificate,))
                return _Answer(decision, 0, len(equal), point)
        system = self._system(lower, upper)
        equations = self._null_space(system, equal)
        if not equations.basis.shape[1]:
            certificate = FullRank(np.arange(len(equal)))
            decision = Decision(
                PreimageKind.SINGLETON, Decider.RANK, equations.smallest > 0 and is_certain, (certificate,)
            )
            return _Answer(decision, 0, len(equal), point)
        slack = system.bounds - system.inequalities @ point
        units = system.inequality_units
        is_tight = slack <= np.where(units >= 0, noise[units], 0.0)
        decision = decide(system, equations, point, slack, is_tight, self.tolerance, is_in_box=self.box is not None)
        decision = decision._replace(is_proved=decision.is_proved and is_certain)
        return _Answer(decision, equations.basis.shape[1], len(equal), point)

    def _system(self, lower: np.ndarray, upper: np.ndarray, error: float = 0.0) -> MixedSystem:
        found = system_between(self.layer, lower, upper, error)
        return found if self.box is None else found.within(self.box)

    def _rank(self, system: MixedSystem) -> tuple[tuple[FullRank, bool] | None, NullSpace | None]:
        """Return the certificate of full rank, or the null space."""
        equal = system.equation_units
        rank = self._full_rank(equal) if len(equal) >= self.layer.num_inputs else None
        if rank is not None:
            return rank, None
        equations = self._null_space(system, equal)
        if equations.basis.shape[1]:
            return None, equations
        return (FullRank(np.arange(len(equal))), equations.smallest > 0), None

    def _full_rank(self, equal: np.ndarray) -> tuple[FullRank, bool] | None:
        """Return a proof that the rows of some units span everything, if products of rows give one."""
        size, weight = self.layer.num_inputs, self.layer.weight
        if not isinstance(weight, np.ndarray):
            smallest = smallest_singular_value_lower_sparse(weight[equal])
            return (FullRank(np.arange(len(equal))), True) if smallest > 0 else None
        if self.products is not None:
            few = equal[:size]
            if smallest_singular_value_lower(self.products[np.ix_(few, few)], size, shifts=(0.0,)) > 0:
                return FullRank(np.arange(size, dtype=np.int32)), True
        rows = weight[equal]
        if smallest_singular_value_lower(rows.T @ rows, len(rows), shifts=(0.0,)) > 0:
            return FullRank(np.arange(len(equal), dtype=np.int32)), True
        return None

    def _null_space(self, system: MixedSystem, equal: np.ndarray) -> NullSpace:
        rows = system.equations
        if isinstance(rows, np.ndarray):
            few = self.products is not None and len(equal) <= self.layer.num_inputs
            gram = self.products[np.ix_(equal, equal)] if few and self.products is not None else None
            return null_space(rows, self.tolerance, gram)
        if self.layer.num_inputs > MAX_INPUTS:
            raise InputError(
                f"expected equations of full rank or at most {MAX_INPUTS:,} inputs, and the layer reads "
                f"{self.layer.num_inputs:,}, of which {len(equal):,} equations leave some open: look at a smaller layer"
            )
        return null_space(rows.toarray(), self.tolerance)


def _table(
    work: _LayerInBox,
    number: int,
    decisions: Callable[[int, int], list[_Answer]],
    progress: Progress,
) -> Preimages:
    """Decide chunk by chunk, and put the answers into columns."""
    began = time.perf_counter()
    step = max(1, CHUNK // (work.layer.num_units + work.layer.num_inputs) // 8)
    answers: list[_Answer] = []
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


def _simplified(system: MixedSystem, point: np.ndarray) -> np.ndarray:
    """Return a near point of few binary digits if a small system holds there exactly."""
    if is_small(system):
        near = near_dyadic(point)
        if system.violation(near) == 0:
            return near
    return point


def _row_sizes(matrix: Matrix, point: np.ndarray, bounds: Float[np.ndarray, " q"]) -> Float[np.ndarray, " q"]:
    """Return the sizes of what is added up in rows at a point."""
    return np.asarray(abs(matrix) @ np.abs(point)) + np.abs(bounds)


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
