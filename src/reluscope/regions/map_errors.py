"""What rounding does to the gradients of pre-activations, unit by unit.

A gradient that is zero in real arithmetic comes out as rounding of the sums it is made of. The error analysis of
`reluscope.networks.stages` follows it as it follows values: the largest entry of a unit's gradient takes the place of
the value, and constants have no gradient. Sizes are those of the gradients as they are, read anew at every gate: a deep
network may well have gradients far below the rounding of its first layers, and hidden units are of any scale.
"""

import numpy as np
import torch
from jaxtyping import Float, Integer

from reluscope.networks.graph import Max
from reluscope.networks.network import Network
from reluscope.networks.stages import Finish, Stage


class MapErrors:
    """Bounds on rounding in gradients at several points, followed from stage to stage.

    Parameters
    ----------
    network : Network
    number : int
        Points.
    unit : float
        Rounding of one sum, relative to the sizes of its terms.
    """

    def __init__(self, network: Network, number: int, unit: float) -> None:
        self._unit = unit
        start = torch.ones(number, *network.input_shape, dtype=torch.float64, device=network.device)
        # By position in the graph: the largest entry of the gradient of every entry, and the bound on its errors.
        self._sizes = {0: start}
        self._errors = {0: torch.zeros_like(start)}

    def at(
        self, stage: Stage, pieces: Integer[np.ndarray, "v u"], largest: Float[np.ndarray, "v ..."]
    ) -> Float[np.ndarray, "v ..."]:
        """Return what rounding may leave of a zero entry of the gradients of a stage.

        Parameters
        ----------
        stage : Stage
            In order of evaluation.
        pieces : (v, u) array
            The piece that every unit is held to.
        largest : (v, u) or (v, u, k) float64
            The largest entry of the gradient of every pre-activation.

        Returns
        -------
        (v, u) or (v, u, k) float64
        """
        gate = stage.gate
        sizes, errors = stage.leg.errors(self._sizes, self._errors, self._unit, constants=False)
        found = gate.candidates(errors[stage.leg.target]).clamp_min(0.0)  # padding has no error
        size = torch.as_tensor(largest, device=found.device)
        held = torch.as_tensor(pieces.astype(np.int64), device=found.device)
        if isinstance(gate, Max):
            size, error = (table.gather(-1, held[..., None])[..., 0] for table in (size, found))
        else:
            slope = gate.slope(held).abs()
            size = slope * size
            # Zero and the gradient itself come without rounding.
            error = slope * found + torch.where((slope == 0) | (slope == 1), 0.0, self._unit * size)
        shape = (len(size), *gate.shape)
        self._sizes = {position: sizes[position] for position in stage.keeps} | {stage.position: size.reshape(shape)}
        self._errors = {position: errors[position] for position in stage.keeps} | {stage.position: error.reshape(shape)}
        return found.cpu().numpy()

    def at_end(self, finish: Finish) -> Float[np.ndarray, "v m"]:
        """Return what rounding may leave of a zero entry of the gradients of the outputs; see `at`."""
        found = finish.leg.errors(self._sizes, self._errors, self._unit, constants=False)[1][finish.leg.target]
        return found.reshape(len(found), -1).cpu().numpy()
