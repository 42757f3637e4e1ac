"""Rounding of values from gate to gate, for every point by itself, with units held to given pieces.

The error analysis of `reluscope.networks.stages`, entry by entry: what an affine node rounds itself counts in full, and
the errors of its terms, which come from different roundings, add up as independent errors do. What earlier stages
rounded may be far more than a stage rounds itself: large values that cancelled leave small ones with large errors.
"""

import numpy as np
import torch
from jaxtyping import Float, Integer
from torch import Tensor

from reluscope.networks.graph import Max
from reluscope.networks.stages import Finish, Stage, Values


class ValueErrors:
    """Bounds on the rounding of values at several points, followed from stage to stage.

    Parameters
    ----------
    values : dict of tensors ``(s, *shape)``
        What a network starts from; taken as exact.
    unit : float
        Rounding of one sum, relative to the sum of its absolute terms.
    """

    def __init__(self, values: Values, unit: float) -> None:
        self._unit = unit
        self._errors = {position: torch.zeros_like(value) for position, value in values.items()}

    def at(self, stage: Stage, values: Values) -> Float[np.ndarray, "s ..."]:
        """Return bounds ``(s, u)`` or ``(s, u, k)`` on the errors of a gate's pre-activations.

        Parameters
        ----------
        stage : Stage
            In order of evaluation.
        values : dict of tensors ``(s, *shape)``
            What the stage reads.
        """
        errors = self._run(stage, values)
        self._target = stage.gate.candidates(errors[stage.leg.target]).clamp_min(0.0)  # padding has no error
        self._errors = {position: errors[position] for position in stage.keeps}
        return self._target.cpu().numpy()

    def pass_on(self, stage: Stage, pieces: Integer[np.ndarray, "s u"], output: Tensor) -> None:
        """Follow the errors of the stage that was asked for last through its gate.

        Parameters
        ----------
        stage : Stage
        pieces : (s, u) array
            The piece that every unit is held to.
        output : (s, *shape) tensor
            What the gate returns.
        """
        gate, held = stage.gate, torch.as_tensor(pieces.astype(np.int64), device=output.device)
        if isinstance(gate, Max):
            passed = self._target.gather(-1, held[..., None])[..., 0]
        else:
            slope, intercept = gate.slope(held).abs(), gate.intercept(held)
            # Zero and the value itself come without rounding.
            plain = ((slope == 0) | (slope == 1)) & (intercept == 0)
            own = self._unit * (output.reshape(held.shape).abs() + 2 * intercept.abs())
            passed = slope * self._target + torch.where(plain, 0.0, own)
        self._errors[stage.position] = passed.reshape(output.shape)

    def at_end(self, finish: Finish, values: Values) -> Float[np.ndarray, "s m"]:
        """Return bounds ``(s, m)`` on the errors of the flattened outputs; see `at`."""
        errors = self._run(finish, values)[finish.leg.target]
        return errors.reshape(len(errors), -1).cpu().numpy()

    def _run(self, part: Stage | Finish, values: Values) -> Values:
        sizes = {position: values[position].abs() for position in part.reads}
        return part.leg.errors(sizes, self._errors, self._unit)[1]
