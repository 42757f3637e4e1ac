"""One nonempty preimage with free directions: unbounded, a polytope, or a single point after all.

With a point at hand everything is asked of cones: of all inequalities for boundedness, of those that are tight at the
point for uniqueness (theorem 4 of Behrmann et al. 2018, stated for nonempty preimages).
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from reluscope.analyses.preimages.kind_certificates import (
    Certificate,
    PositiveCombination,
    RecessionDirection,
    SecondPoint,
    is_small,
)
from reluscope.analyses.preimages.kinds import Decider, PreimageKind
from reluscope.analyses.preimages.mixed_system import MixedSystem
from reluscope.analyses.preimages.null_cones import Cone, decide_cone, row_lengths
from reluscope.analyses.preimages.ranks import NullSpace
from reluscope.analyses.preimages.rational_layers import snapped
from reluscope.geometry.numbers.resolutions import UNIT_ROUNDOFF

# How far a second point goes towards the next inequality.
SHARE = 0.5


class Decision(NamedTuple):
    """A kind, what decided it, whether it is proved, and the certificates."""

    kind: PreimageKind
    decider: Decider
    is_proved: bool
    certificates: tuple[Certificate, ...]


def decide(
    system: MixedSystem,
    equations: NullSpace,
    point: Float[np.ndarray, " n"],
    slack: Float[np.ndarray, " q"],
    is_tight: Bool[np.ndarray, " q"],
    tolerance: float,
    *,
    is_in_box: bool,
) -> Decision:
    """Decide the kind of a nonempty preimage whose equations leave k > 0 directions.

    The point is in the set; ``slack`` is that of the inequalities there, and ``is_tight`` says which count as zero.
    ``is_in_box``: the system has the sides of a box, and is bounded by them.
    """
    found: list[Certificate] = []
    proved, decider = True, Decider.DIRECTION
    if not is_in_box:
        certificate, decider, proved = boundedness(system, equations, tolerance)
        if isinstance(certificate, RecessionDirection):
            return Decision(PreimageKind.UNBOUNDED, decider, proved, (certificate,))
        found.append(certificate)
    tight = np.flatnonzero(is_tight)
    direction, margin, with_program = equations.basis[:, 0], np.inf, False
    if len(tight):
        inner = decide_cone(equations.basis, system.inequalities[tight], tolerance)
        if inner.direction is None:
            rows = tight[inner.rows]
            weights = inner.weights / row_lengths(system.inequalities)[rows]
            certificate = PositiveCombination(rows, weights, point)
            decider = Decider.PROGRAM if inner.with_program else Decider.COMBINATION
            # Sides of the box are tight beyond doubt: entries of the point are compared with them.
            sides = (system.inequality_units[rows] < 0) & (slack[rows] == 0)
            is_proved = bool(sides.all()) and _is_combination_proved(system, equations, inner._replace(rows=rows))
            is_proved = is_proved or (is_small(system) and certificate.check(system, tolerance).is_proof)
            return Decision(PreimageKind.SINGLETON, decider, is_proved, (certificate,))
        direction, margin, with_program = inner.direction, inner.margin, inner.with_program
    along = system.inequalities @ direction
    ahead = ~is_tight & (along > 0)
    step = SHARE * float(np.min(slack[ahead] / along[ahead], initial=max(1.0, float(np.linalg.norm(point)))))
    found.append(SecondPoint(point, point + step * direction))
    shift = _shift(system, equations, direction)
    if np.isfinite(shift):
        near = step * (along + row_lengths(system.inequalities) * shift)
        clear = min(margin, 1.0) > shift + system.num_inputs * 4 * UNIT_ROUNDOFF
        proved = proved and clear and bool((near < slack)[~is_tight].all())
    else:
        proved = False
    if not proved and is_small(system):
        proved = all(certificate.check(system, tolerance).is_proof for certificate in found)
    return Decision(PreimageKind.COMPACT, Decider.PROGRAM if with_program else decider, proved, tuple(found))


def boundedness(
    system: MixedSystem, equations: NullSpace, tolerance: float
) -> tuple[PositiveCombination | RecessionDirection, Decider, bool]:
    """Return what says whether a nonempty set is bounded, what found it, and whether it is proved."""
    cone = decide_cone(equations.basis, system.inequalities, tolerance)
    if cone.direction is None:
        certificate = PositiveCombination(cone.rows, cone.weights / row_lengths(system.inequalities[cone.rows]))
        decider, proved = Decider.COMBINATION, _is_combination_proved(system, equations, cone)
    else:
        certificate = RecessionDirection(_simplified(system, cone.direction))
        decider, proved = Decider.DIRECTION, _is_direction_proved(system, equations, cone)
    if not proved and is_small(system):
        proved = certificate.check(system, tolerance).is_proof
    return certificate, Decider.PROGRAM if cone.with_program else decider, proved


def _shift(system: MixedSystem, equations: NullSpace, direction: np.ndarray) -> float:
    """Return how far the nearest direction that solves the equations is at most."""
    if not len(system.values):
        return 0.0
    if equations.smallest == 0:
        return np.inf
    rounding = (system.num_inputs + 2) * UNIT_ROUNDOFF * row_lengths(system.equations)
    return float(np.linalg.norm(np.abs(system.equations @ direction) + rounding)) / equations.smallest


def _is_direction_proved(system: MixedSystem, equations: NullSpace, cone: Cone) -> bool:
    assert cone.direction is not None
    shift = _shift(system, equations, cone.direction)
    return bool(min(cone.margin, 1.0) > shift + (system.num_inputs + 4) * 2 * UNIT_ROUNDOFF)


def _is_combination_proved(system: MixedSystem, equations: NullSpace, cone: Cone) -> bool:
    """Return whether weights near those found cancel exactly, all positive, over rows surely of full rank.

    t, c: least singular values of P and of the rows on its null space, f the rows' norm: the matrix of both has none
    below ``min(t h, c / 2)``, h = c / (2 (f + c)); a change by the remainder over that makes it vanish.
    """
    if equations.smallest == 0:
        return False
    rows = system.inequalities[cone.rows]
    rows = rows if isinstance(rows, np.ndarray) else rows.toarray()
    unit = rows / np.linalg.norm(rows, axis=1)[:, None]
    total = unit.T @ cone.weights
    matrix = system.equations if isinstance(system.equations, np.ndarray) else system.equations.toarray()
    inside = equations.basis @ (equations.basis.T @ total)
    others = equations.weights_of(inside - total)
    rest = total + matrix.T @ others
    terms = len(cone.weights) + len(others) + 3
    rounding = terms * UNIT_ROUNDOFF * 2 * (cone.weights @ np.abs(unit) + np.abs(others) @ np.abs(matrix))
    size = float(np.sqrt(len(unit)))
    # The basis is known up to rounding, and with it the rows on it.
    below = cone.margin - 8 * system.num_inputs * UNIT_ROUNDOFF * size * (1 + 1 / equations.smallest)
    if not below > 0:
        return False
    half = below / (2 * (size + below))
    smallest = min(equations.smallest * half, below / 2, 1.0)
    return bool(np.linalg.norm(np.abs(rest) + rounding) < smallest * cone.weights.min())


def _simplified(system: MixedSystem, direction: np.ndarray) -> np.ndarray:
    """Return small whole numbers in place of a direction of a small system if these are one, too."""
    if is_small(system):
        whole = snapped(direction)
        if whole is not None:
            check = RecessionDirection(whole).check(system)
            if check.holds and check.is_proof:
                return whole
    return direction
