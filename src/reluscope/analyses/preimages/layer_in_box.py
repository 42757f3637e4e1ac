"""Whether outputs of a layer have one, several or no preimages within a box."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from reluscope.analyses.preimages.bounded import Decision, decide
from reluscope.analyses.preimages.feasibility import find_point
from reluscope.analyses.preimages.kind_certificates import FullRank, certain_shift, is_small
from reluscope.analyses.preimages.kinds import Decider, PreimageKind
from reluscope.analyses.preimages.layer import GateLayer, Matrix
from reluscope.analyses.preimages.mixed_system import MixedSystem, system_between
from reluscope.analyses.preimages.ranks import (
    NullSpace,
    null_space,
    smallest_singular_value_lower,
    smallest_singular_value_lower_sparse,
)
from reluscope.analyses.preimages.rational_layers import near_dyadic
from reluscope.errors import InputError
from reluscope.geometry.polyhedra.domains import Box

# Layers with so many units have all products of their rows at hand; dense questions go up to so many inputs.
MAX_UNITS, MAX_INPUTS = 8192, 6000


@dataclass(frozen=True, eq=False)
class LayerAnswer:
    """The kind of one preimage, and what it was found from."""

    decision: Decision
    dim: int
    num_equations: int
    point: np.ndarray


class LayerInBox:
    """One layer in one box, asked about output after output."""

    def __init__(self, layer: GateLayer, box: Box | None, tolerance: float) -> None:
        self.layer, self.box, self.tolerance = layer, box, tolerance
        weight = layer.weight
        shares_products = isinstance(weight, np.ndarray) and len(weight) <= MAX_UNITS
        self.products = weight @ weight.T if shares_products else None

    def of_output(self, lower: np.ndarray, upper: np.ndarray, error: float) -> LayerAnswer:
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
            return LayerAnswer(empty, dim, count, np.full(self.layer.num_inputs, np.nan))
        point = _simplified(system, found.point)
        is_certain = bool(np.isfinite(certain_shift(system, point)))
        if rank is not None:
            certificate, proved = rank
            decision = Decision(PreimageKind.SINGLETON, Decider.RANK, proved and is_certain, (certificate,))
            return LayerAnswer(decision, 0, count, point)
        assert equations is not None
        slack = system.bounds - system.inequalities @ point
        is_tight = slack <= self.tolerance * _row_sizes(system.inequalities, point, system.bounds)
        decision = decide(system, equations, point, slack, is_tight, self.tolerance, is_in_box=self.box is not None)
        decider = Decider.PROGRAM if found.with_program else decision.decider
        decision = decision._replace(decider=decider, is_proved=decision.is_proved and is_certain)
        return LayerAnswer(decision, dim, count, point)

    def of_input(
        self, point: np.ndarray, noise: np.ndarray, lower: np.ndarray, upper: np.ndarray, is_certain: bool
    ) -> LayerAnswer:
        """Decide for the output at an input, which is in the preimage."""
        equal = np.flatnonzero(lower == upper)
        if len(equal) >= self.layer.num_inputs:
            rank = self._full_rank(equal)
            if rank is not None:
                certificate, proved = rank
                decision = Decision(PreimageKind.SINGLETON, Decider.RANK, proved and is_certain, (certificate,))
                return LayerAnswer(decision, 0, len(equal), point)
        system = self._system(lower, upper)
        equations = self._null_space(system, equal)
        if not equations.basis.shape[1]:
            certificate = FullRank(np.arange(len(equal)))
            decision = Decision(
                PreimageKind.SINGLETON, Decider.RANK, equations.smallest > 0 and is_certain, (certificate,)
            )
            return LayerAnswer(decision, 0, len(equal), point)
        slack = system.bounds - system.inequalities @ point
        units = system.inequality_units
        is_tight = slack <= np.where(units >= 0, noise[units], 0.0)
        decision = decide(system, equations, point, slack, is_tight, self.tolerance, is_in_box=self.box is not None)
        decision = decision._replace(is_proved=decision.is_proved and is_certain)
        return LayerAnswer(decision, equations.basis.shape[1], len(equal), point)

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
