"""The input with the same features that most resembles another one.

Within a polyhedron of inputs with the features of x (`invariant_set`) the largest inner product with a target image is
a linear program (Behrmann et al. 2018, appendix A7, figure 7), the least distance from it a quadratic one. Multipliers
prove how much better any other point can be.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import inf

import numpy as np
from jaxtyping import Float
from torch import Tensor

from reluscope.analyses.preimages.invariant_set import InvariantSet, invariant_set
from reluscope.arguments import read_arguments
from reluscope.errors import InputError, ShapeError
from reluscope.findings import Finding
from reluscope.geometry.polyhedra.domains import Box
from reluscope.geometry.polyhedra.nearest_point import nearest_point
from reluscope.geometry.programs.linear_program import ProgramStatus
from reluscope.networks.evaluation.rounded_forward import rounded_forward
from reluscope.networks.fractions.rational import RationalNetwork, multiplications
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.networks.passes.rounding import in_doubt, reaches_breakpoint
from reluscope.shown import Shown
from reluscope.tolerance import EPSILON

# Relative to the width of a bound, at most to 1: what is this near to an end is on it.
AT_END = 1e-9
# Relative to the largest singular value: smaller ones count as zero.
DEPENDENT = 1e-9
# What is proved to be within this share of its size counts as exact.
RELATIVE_GAP = 1e-6
# Multiplications of fractions that decide about pieces: about a second.
MULTIPLICATIONS = 1_000_000
# Rounds in which a solver's point is moved onto the equations.
ROUNDS = 5


@dataclass(frozen=True, eq=False, repr=False)
class SameFeatures(Shown):
    """Two inputs with the same features.

    Parameters
    ----------
    set : InvariantSet
        The inputs around the first input that keep its features.
    target : (n,) float64, optional
    found : (n,) float64
        The input found.
    objective : Finding
        Inner product with the target (EXACT or LOWER), or distance from it (EXACT or UPPER); without target the
        distance from the input (LOWER).
    before, after : (u,) float64
        The features of the input and of the input found.
    errors : (u,) float64
        Bounds on the rounding of ``after - before``.
    """

    set: InvariantSet
    target: Float[np.ndarray, " n"] | None
    found: Float[np.ndarray, " n"]
    objective: Finding
    before: Float[np.ndarray, " u"]
    after: Float[np.ndarray, " u"]
    errors: Float[np.ndarray, " u"]

    @property
    def point(self) -> Float[np.ndarray, " n"]:
        """The input whose features are kept."""
        return self.set.point

    @property
    def change(self) -> float:
        """Distance of the two inputs, l2."""
        return float(np.linalg.norm(self.found - self.point))

    @property
    def difference(self) -> float:
        """Largest difference of a feature, as computed in float64."""
        return float(np.abs(self.after - self.before).max(initial=0.0))

    @property
    def proved_within(self) -> float:
        """What no feature differs by more than, in real arithmetic."""
        return float((np.abs(self.after - self.before) + self.errors).max(initial=0.0))

    @property
    def in_roundings(self) -> float:
        """Largest difference of a feature as a multiple of the bound on its rounding: up to 1 nothing is seen."""
        apart = np.abs(self.after - self.before)
        return float(np.max(apart / np.maximum(self.errors, np.finfo(float).tiny), initial=0.0))

    def describe(self) -> str:
        """Say in a line how much was changed and how little is seen of it."""
        return (
            f"moved by {self.change:.4g}; {len(self.before):,} features equal within {self.proved_within:.1e} "
            f"(computed difference {self.difference:.1e}, {self.in_roundings:.2g} of the rounding)"
        )


@read_arguments
def invariant(
    network: Network,
    x: Points,
    *,
    target: Points | None = None,
    domain: Box | None = None,
    gate: str | int | None = None,
    within: str = "layer",
    norm: str = "linear",
) -> SameFeatures:
    """Return the input with the features of x that most resembles a target.

    Parameters
    ----------
    network : Network
    x : one point, ``input_shape`` or (n,)
    target : one point, optional
        The point to resemble; without one the search is for a point far from x.
    domain : Box, optional
        Prior bounds on inputs; required if the set is unbounded.
    gate : str or int, optional
        Gate whose outputs are kept; by default the first gate for "layer", the outputs of the network for "region".
    within : {"layer", "region"}
        See `invariant_set`.
    norm : {"linear", "l2"}
        "linear": the largest inner product ``<target, z>``, as in the paper. "l2": the least distance ``|target -
        z|``.

    Returns
    -------
    SameFeatures
        Its objective is EXACT where multipliers prove it within 1e-6 of its size. Otherwise it is LOWER for inner
        products and UPPER for distances, with an interval.

    Raises
    ------
    InputError
        If the inner product is unbounded (give a domain); also as for `invariant_set`.

    Notes
    -----
    One linear or quadratic program: for 784 inputs and 100 units about a second. Features agree to rounding, not
    only to the tolerance of the solver.

    References
    ----------
    Behrmann et al., "Invariance and inverse stability under ReLU", 2018, appendix A7 (the box there is one of
    inputs).

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(3)[:2], np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> found = rs.preimages.invariant(net, [0.5, 0.0, 0.2], target=[1.0, 1.0, 1.0], domain=rs.Box(0, 1, 3))
    >>> found.found.tolist(), str(found.objective), found.difference
    ([0.5, 0.0, 1.0], '1.5 (EXACT)', 0.0)
    """
    if norm not in ("linear", "l2"):
        raise InputError(f"norm must be 'linear' or 'l2', got {norm!r}")
    around = invariant_set(network, x, domain=domain, gate=gate, within=within)
    if target is None:
        objective, found = around.farthest()
        return _compared(around, None, _polished(around, found), objective)
    goals = network.points(target)
    if len(goals) != 1:
        raise ShapeError(f"expected one target, got {len(goals)}: take them one by one")
    goal = goals.reshape(-1).cpu().numpy().copy()
    if norm == "linear":
        found, bound = _most_alike(around, goal)
    else:
        found, bound = _nearest(around, goal)
    found = _polished(around, found)
    value = float(goal @ found) if norm == "linear" else float(np.linalg.norm(goal - found))
    size = max(1.0, abs(value))
    rounding = 64 * EPSILON * float(np.abs(goal).sum()) * size
    if _has_other_pieces(around):  # the set is another one, of which the input is all that is sure
        known = float(goal @ around.point) if norm == "linear" else float(np.linalg.norm(goal - around.point))
        ends = (min(value, known - rounding), inf) if norm == "linear" else (0.0, max(value, known + rounding))
    elif norm == "linear":
        ends = value, max(value, bound) + rounding
    else:
        ends = min(value, bound) - rounding, value
    return _compared(around, goal, found, _objective(norm, value, ends, goal))


def _has_other_pieces(around: InvariantSet) -> bool:
    """Return whether units of the input may be on other pieces than floats have: fractions decide in small networks."""
    features = around.features
    at = features.at(around.point[None]).with_gates()
    gates = zip(features.stages, at.gates, strict=True)
    if not any(_is_near(stage.gate, gate.preactivations, gate.errors) for stage, gate in gates):
        return False
    if multiplications(features) > MULTIPLICATIONS:
        return bool(rounded_forward(features, around.point[None]).doubtful.any())
    exact = RationalNetwork(features).pieces([Fraction(entry) for entry in around.point.tolist()])
    return any(own != piece[0].tolist() for own, piece in zip(exact, at.pieces, strict=True))


def _is_near(gate: Pointwise | Max, pre: Tensor, errors: Tensor) -> bool:
    """Return whether rounding leaves open on which side of a breakpoint a unit is, or it is on one."""
    if isinstance(gate, Pointwise):
        return bool(reaches_breakpoint(gate, pre, errors).any())
    return bool(in_doubt(gate, pre, errors).any())


def _objective(norm: str, value: float, ends: tuple[float, float], goal: np.ndarray) -> Finding:
    is_linear = norm == "linear"
    return Finding.of(
        value,
        *ends,
        scale=float(np.linalg.norm(goal)) ** (2 if is_linear else 1),
        name="inner product with the target" if is_linear else "distance to the target",
        definition="largest over inputs with the same features" if is_linear else "least l2 distance of such inputs",
        method="linear program" if is_linear else "active sets",
        source="behrmann2018" if is_linear else "",
    )


def _most_alike(around: InvariantSet, goal: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the point with the largest inner product, and the bound that multipliers prove."""
    solved = around.maximize(goal)
    if solved.status is not ProgramStatus.OPTIMAL:
        raise InputError("expected a bounded problem, and inputs with these features go on forever: give a domain")
    number = len(around.bounds)
    pulls, weights = np.maximum(solved.duals[:number], 0.0), solved.duals[number:]
    rest = goal - pulls @ around.inequalities - weights @ around.equations
    ends = np.where(rest > 0, around.upper, around.lower)
    # Where nothing bounds a coordinate, what is left of its coefficient is rounding, times the point's own size.
    open_ended = ~np.isfinite(ends)
    ends = np.where(open_ended, solved.point, ends)
    bound = float(pulls @ around.bounds + weights @ (around.equations @ around.point) + rest @ ends)
    return solved.point, bound + float(np.abs(rest * solved.point)[open_ended].sum())


def _nearest(around: InvariantSet, goal: np.ndarray) -> tuple[np.ndarray, float]:
    found = nearest_point(
        around.inequalities,
        around.bounds,
        goal,
        around.equations,
        around.equations @ around.point,
        lower=around.lower,
        upper=around.upper,
    )
    if not np.isfinite(found.distance):  # empty by less than rounding: x is in it
        return around.point, 0.0
    return found.point, found.lower


def _polished(around: InvariantSet, point: np.ndarray) -> np.ndarray:
    """Return a point on the equations, and on the right side of the inequalities, to rounding."""
    found = np.clip(point, around.lower, around.upper)
    width = np.where(np.isfinite(around.upper - around.lower), around.upper - around.lower, np.inf)
    near = AT_END * np.minimum(width, 1.0)
    found = np.where(found - around.lower <= near, around.lower, found)
    found = np.where(around.upper - found <= near, around.upper, found)
    free = (found > around.lower) & (found < around.upper)
    values = around.equations @ around.point
    margin = 16 * EPSILON * (np.abs(around.inequalities) @ np.abs(found) + np.abs(around.bounds))
    taken = np.zeros(len(around.bounds), dtype=bool)
    for _ in range(ROUNDS):
        taken |= around.bounds - around.inequalities @ found < margin
        rows = np.concatenate([around.equations, around.inequalities[taken]])
        goal = np.concatenate([values, (around.bounds - 2 * margin)[taken]])
        step = np.zeros(len(found))
        if not len(rows) or not free.any():
            break
        step[free] = np.linalg.lstsq(rows[:, free], goal - rows @ found, rcond=DEPENDENT)[0]
        moved = np.clip(found + step, around.lower, around.upper)
        if np.abs(moved - found).max() == 0:
            break
        found = moved
    return found


def _compared(around: InvariantSet, goal: np.ndarray | None, found: np.ndarray, objective: Finding) -> SameFeatures:
    both = rounded_forward(around.features, np.stack([around.point, found]))
    return SameFeatures(around, goal, found, objective, both.outputs[0], both.outputs[1], both.errors.sum(axis=0))
