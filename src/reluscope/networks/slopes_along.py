"""Derivatives of pre-activations along directions, gate by gate, with units held to given pieces, and their rounding.

Forward through the linear parts: a derivative is a sum of earlier derivatives, and the error analysis is that of
`reluscope.networks.stages`, entry by entry and without the constants. No size of a gate stands for all its units: some
may be 2^100 times as steep as others, and be read with weights that take that back.
"""

import numpy as np
import torch
from jaxtyping import Float, Integer

from reluscope.networks.graph import Max
from reluscope.networks.linearize import run_linear
from reluscope.networks.network import Network
from reluscope.networks.stages import Stage, Values


class SlopesAlong:
    """Derivatives along several directions, each in a region of its own.

    Parameters
    ----------
    network : Network
    directions : (k, n) array
        Taken as exact.
    unit : float
        Rounding of one sum, relative to the sum of its absolute terms.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.array([[1.0], [2.0**90]]), np.zeros(2)), (np.array([[3.0, 2.0**-90]]), np.zeros(1))])
    >>> slopes = SlopesAlong(net, np.array([[1.0]]), 1e-15)
    >>> values, errors = slopes.at(net.stages[0])
    >>> values[0] == [1.0, 2.0**90], errors[0] / values[0]
    (array([ True,  True]), array([1.e-15, 1.e-15]))
    """

    def __init__(self, network: Network, directions: Float[np.ndarray, "k n"], unit: float) -> None:
        self._unit, self._number = unit, len(directions)
        start = torch.as_tensor(directions, device=network.device).reshape(-1, *network.input_shape)
        self._slopes: Values = {0: start[None]}
        self._errors: Values = {0: torch.zeros_like(start)}

    def at(self, stage: Stage) -> tuple[Float[np.ndarray, "k ..."], Float[np.ndarray, "k ..."]]:
        """Return the derivatives of a gate's pre-activations, and bounds on their errors.

        Parameters
        ----------
        stage : Stage
            In order of evaluation, each followed by `pass_on`.

        Returns
        -------
        slopes, errors : (k, u) or (k, u, c) float64
            Of padding minus infinity and 0.
        """
        sizes = {position: self._slopes[position][0].abs() for position in stage.reads}
        self._errors = stage.leg.slope_errors(sizes, self._errors, self._unit)
        self._slopes = run_linear(stage.leg.plan, self._slopes)
        target = stage.leg.target
        self._target = self._slopes[target][0], self._errors[target]
        slopes, errors = (stage.gate.candidates(one) for one in self._target)
        return slopes.cpu().numpy(), errors.clamp_min(0.0).cpu().numpy()

    def pass_on(self, stage: Stage, pieces: Integer[np.ndarray, "k u"]) -> None:
        """Follow the derivatives of the stage that was asked for last through its gate.

        Parameters
        ----------
        stage : Stage
        pieces : (k, u) array
            The piece that every unit is held to.
        """
        gate = stage.gate
        held = torch.as_tensor(pieces.astype(np.int64), device=self._target[0].device)
        slopes, errors = (one.reshape(self._number, -1) for one in self._target)
        if isinstance(gate, Max):
            source = gate.source(held)
            slopes, errors = slopes.gather(1, source), errors.gather(1, source)
        else:
            factor = gate.slope(held)
            slopes, errors = factor * slopes, factor.abs() * errors
            # Zero and the value itself come without rounding.
            errors = errors + torch.where((factor == 0) | (factor.abs() == 1), 0.0, self._unit * slopes.abs())
        self._slopes = {position: self._slopes[position] for position in stage.keeps}
        self._errors = {position: self._errors[position] for position in stage.keeps}
        self._slopes[stage.position] = slopes.reshape(1, self._number, *gate.shape)
        self._errors[stage.position] = errors.reshape(self._number, *gate.shape)
