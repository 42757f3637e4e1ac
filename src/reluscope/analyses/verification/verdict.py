"""What became of a property: that it holds, an input at which it does not, or how much of its inputs is undecided."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property

import numpy as np
from jaxtyping import Float

from reluscope.analyses.verification.on_scores import property_on_scores
from reluscope.analyses.verification.property import Property
from reluscope.analyses.verification.violation_attack import outputs_at
from reluscope.arguments import holds_across_jumps, read_arguments
from reluscope.checking.proofs import Proof
from reluscope.errors import ShapeError
from reluscope.findings import Finding
from reluscope.geometry.numbers.resolutions import OUTWARD
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.networks.building.combined import beside_inputs
from reluscope.networks.evaluation.rounded_forward import rounded_forward
from reluscope.networks.evaluation.underflow import LOSS
from reluscope.networks.file_outputs import num_file_outputs
from reluscope.networks.fractions.rational import RationalNetwork, multiplications
from reluscope.networks.graph.left_off import refuse_left_off
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.shown import Shown
from reluscope.stopping import Explained, Stop

# Points that are decided in rational arithmetic at most, and the multiplications of a pass, half a second or so, up to
# which they are.
NUM_EXACT, MAX_MULTIPLICATIONS = 3, 500_000


class Verdict(StrEnum):
    """Whether a property holds.

    HOLDS: proved, for every input. VIOLATED: there is a counterexample, beyond rounding or in rational arithmetic.
    OPEN: neither, so far.
    """

    HOLDS = "HOLDS"
    VIOLATED = "VIOLATED"
    OPEN = "OPEN"


@dataclass(frozen=True, eq=False, repr=False)
class Counterexample(Shown):
    """An input that violates a property, whatever the rounding of its outputs.

    Parameters
    ----------
    point : (n,) float64
    outputs, errors : (m,) float64
        The model's outputs, and bounds on their rounding: from one float64 evaluation, or from exact values.
    case : int
        Case of the property whose box contains the point.
    exact : tuple of n fractions, optional
        The exact input if it is not a float64: for unsafe outputs that are attained with equality only, for example
        where 3 x is 1. ``point`` is then the closest float64 point.
    """

    point: Float[np.ndarray, " n"]
    outputs: Float[np.ndarray, " m"]
    errors: Float[np.ndarray, " m"]
    case: int
    exact: tuple[Fraction, ...] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Verified(Shown, Explained):
    """A verdict, with its evidence.

    Parameters
    ----------
    verdict : Verdict
    counterexample : Counterexample, optional
        If the property is VIOLATED.
    undecided : Finding
        Share of the inputs that are undecided, averaged over the cases; 0 if the verdict is HOLDS.
    stop : Stop, optional
        Why the search ended early, if it did; `stopped` says it in words.
    proof : Proof, optional
        If the property HOLDS and a proof was requested.
    """

    verdict: Verdict
    counterexample: Counterexample | None
    undecided: Finding
    stop: Stop | None
    proof: Proof | None = None

    def __str__(self) -> str:
        return str(self.verdict)


@read_arguments
@holds_across_jumps
def replay(network: Network, safe: Property, x: Points) -> Counterexample | None:
    """Return the first point that violates a property in spite of rounding, None if none is known to.

    Unsafe outputs are often attained with equality on whole regions (``Y_0 <= 0`` after a last ReLU, constant
    outputs). If rounding leaves no point beyond equality and some points close to it, the closest points are
    decided in rational arithmetic.

    Parameters
    ----------
    network : Network
    safe : Property
    x : (s, n) or (s, *input_shape)
        Taken as exact.

    Raises
    ------
    ShapeError
        If the property has other numbers of inputs or outputs than the network.

    Notes
    -----
    About three forward passes, and at most three in rational arithmetic, for networks of up to half a million
    weights.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(1), np.zeros(1)), (np.eye(1), np.zeros(1))])  # relu(x)
    >>> safe = rs.verification.Property([rs.verification.Case([0.0], [1.0], [rs.Polyhedron([[-1.0]], [-0.5])])])
    >>> rs.verification.replay(net, safe, [[0.25], [2.0], [0.75]]).point  # relu(x) >= 0.5, and x within [0, 1]
    array([0.75])
    """
    asked = asked_network(network, safe)
    return Replays(asked, safe).first(network.points(x).reshape(-1, network.num_inputs).cpu().numpy())


class Replays:
    """Looks for counterexamples among points, for one network and one property.

    The network is the one that the property is about (`asked_network`). What rational arithmetic needs is made once.
    """

    def __init__(self, network: Network, safe: Property) -> None:
        self._network, self._safe = network, property_on_scores(network, safe).certain

    @cached_property
    def _exact(self) -> RationalNetwork | None:
        """The network in rational arithmetic, None where a pass through it takes too long."""
        network = self._network
        return RationalNetwork(network) if multiplications(network) <= MAX_MULTIPLICATIONS else None

    def likely(self, points: Float[np.ndarray, "s n"]) -> Counterexample | None:
        """Return the first of some points, None if rounded outputs show none that could be one."""
        outputs = outputs_at(self._network, points)
        is_near = np.zeros(len(points), dtype=bool)
        for case in self._safe.cases:
            for one in case.unsafe:
                is_near |= (outputs @ one.A.T <= one.b).all(axis=1)
        return self.first(points[is_near]) if is_near.any() else None

    def first(self, flat: Float[np.ndarray, "s n"]) -> Counterexample | None:
        """Return the first of some points that violates the property in spite of rounding."""
        forward = rounded_forward(self._network, flat, loss=LOSS)
        near: list[tuple[float, int, int, Polyhedron]] = []
        for index, case in enumerate(self._safe.cases):
            inside = ((flat >= case.lower) & (flat <= case.upper)).all(axis=1)
            if not inside.any():
                continue
            for unsafe in case.unsafe:
                sure = inside & surely_in(unsafe, forward.outputs, forward.errors)
                if sure.any():
                    row = int(sure.argmax())
                    return self._counterexample(flat[row], forward.outputs[row], forward.errors[row], index)
                least, _ = _excess(unsafe, forward.outputs, forward.errors)
                excess = np.where(inside, least, np.inf)
                for row in np.argsort(excess, kind="stable")[:NUM_EXACT].tolist():
                    near.append((float(excess[row]), row, index, unsafe))
        near = sorted((one for one in near if one[0] <= 0), key=lambda one: one[:3])[:NUM_EXACT]
        for _, row, index, unsafe in near if self._exact is not None else ():
            found = self._exactly(flat[row], index, unsafe)
            if found is not None:
                return found
        return None

    def _exactly(self, point: np.ndarray, index: int, unsafe: Polyhedron) -> Counterexample | None:
        assert self._exact is not None
        exact = tuple(Fraction(entry) for entry in point.tolist())
        outputs = self._exact.output(exact)
        values = tuple(outputs[place] for place in range(self._network.num_outputs))
        return self._found(exact, values, index) if holds_at(unsafe, values) else None

    def exactly(
        self, point: Sequence[Fraction], outputs: Sequence[Fraction], index: int, place: int
    ) -> Counterexample | None:
        """Return what was found in rational arithmetic, None if its outputs violate the property only by rounding."""
        unsafe = self._safe.cases[index].unsafe[place]
        return self._found(point, outputs, index) if holds_at(unsafe, outputs) else None

    def _found(self, point: Sequence[Fraction], outputs: Sequence[Fraction], index: int) -> Counterexample:
        near, rounded = np.array([float(entry) for entry in point]), np.array([float(value) for value in outputs])
        is_held = all(Fraction(entry) == exact for entry, exact in zip(near.tolist(), point, strict=True))
        return self._counterexample(
            near, rounded, np.spacing(np.abs(rounded)), index, None if is_held else tuple(point)
        )

    def _counterexample(
        self,
        point: np.ndarray,
        outputs: np.ndarray,
        errors: np.ndarray,
        index: int,
        exact: tuple[Fraction, ...] | None = None,
    ) -> Counterexample:
        if self._network.left_off is not None:
            outputs, errors = (one[0] for one in self._network.left_off.values(outputs[None], errors[None]))
        elif self._safe.relates_inputs:
            outputs, errors = outputs[: self._safe.num_outputs], errors[: self._safe.num_outputs]
        return Counterexample(point, outputs, errors, index, exact)


def holds_at(unsafe: Polyhedron, values: Sequence[Fraction]) -> bool:
    """Return whether outputs lie in a polyhedron, in rational arithmetic."""

    def product(row: np.ndarray) -> Fraction:
        return sum((Fraction(factor) * value for factor, value in zip(row.tolist(), values, strict=True)), Fraction(0))

    return all(product(row) <= Fraction(end) for row, end in zip(unsafe.A, unsafe.b.tolist(), strict=True)) and all(
        product(row) == Fraction(end) for row, end in zip(unsafe.C, unsafe.d.tolist(), strict=True)
    )


def surely_in(unsafe: Polyhedron, outputs: Float[np.ndarray, "s m"], errors: Float[np.ndarray, "s m"]) -> np.ndarray:
    """Return which outputs lie in a polyhedron whatever their errors within the bounds are.

    Equations are fulfilled by nothing that has errors.
    """
    return np.zeros(len(outputs), dtype=bool) if len(unsafe.C) else _excess(unsafe, outputs, errors)[1] <= 0


def _excess(unsafe: Polyhedron, outputs: np.ndarray, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return by how much outputs are outside at least and at most, whatever their errors are, (s,) each."""
    A, b = unsafe.inequalities()
    with np.errstate(over="ignore", invalid="ignore"):  # what is too large for float64 is not known
        return _excess_of_rows(A, b, outputs, errors)


def _excess_of_rows(
    A: np.ndarray, b: np.ndarray, outputs: np.ndarray, errors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    sizes = np.abs(outputs) @ np.abs(A).T + np.abs(b)
    rounding = errors @ np.abs(A).T * OUTWARD + 2 * A.shape[1] * np.finfo(float).eps * sizes
    rounding += LOSS * (((outputs != 0) | (errors != 0)) @ (A != 0).T.astype(float))
    values = outputs @ A.T - b
    least, most = ((values + sign * rounding).max(axis=1, initial=-np.inf) for sign in (-1, 1))
    return least, most


def asked_network(network: Network, safe: Property) -> Network:
    """Return the network whose outputs a property is about: the given one, or ``(f(x), x)`` where inputs are related.

    A property over other numbers of inputs or outputs is refused, and relations of inputs where a function is left off.
    """
    own, given = (network.num_inputs, num_file_outputs(network)), (safe.num_inputs, safe.num_outputs)
    if own != given:
        raise ShapeError(
            f"expected a property over as many inputs and outputs as the network has, {own[0]} and {own[1]}, got "
            f"{given[0]} and {given[1]}"
        )
    if not safe.relates_inputs:
        return network
    refuse_left_off("a condition that relates inputs", network.left_off)
    return beside_inputs(network)


def asked_outputs(
    safe: Property, inputs: Float[np.ndarray, "*s n"], outputs: Float[np.ndarray, "*s m"]
) -> Float[np.ndarray, "*s k"]:
    """Return the points that are in unsafe sets or not: outputs, and inputs behind them where they are related."""
    return np.concatenate([outputs, inputs], axis=-1) if safe.relates_inputs else outputs
