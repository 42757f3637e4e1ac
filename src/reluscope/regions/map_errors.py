"""What rounding does to the gradients of pre-activations, gate by gate.

A gradient that is zero in real arithmetic comes out as rounding of the sums it is made of: at most ``unit gain H``,
with H the largest entry of the gradients that a stage reads. Errors of earlier stages come on top; they are passed on
as the gradients themselves are, larger or smaller by the ratio of their largest entries. A deep network may well have
gradients far below the rounding of its first layers, so neither may be compared with a size of long ago.
"""

import numpy as np
from jaxtyping import Float

from reluscope.networks.graph import Max
from reluscope.networks.stages import Stage


class MapErrors:
    """Bounds on rounding in gradients at several points, followed from stage to stage.

    Parameters
    ----------
    number : int
        Points.
    unit : float
        Rounding of one sum, relative to the sizes of its terms.
    """

    def __init__(self, number: int, unit: float) -> None:
        self._unit = unit
        # By position in the graph: the largest entry of the gradients of a value, and the bound on their errors.
        self._sizes = {0: np.ones(number)}
        self._errors = {0: np.zeros(number)}

    def at(self, stage: Stage, largest: Float[np.ndarray, " v"]) -> Float[np.ndarray, "v ..."]:
        """Return what rounding may leave of a zero entry of the gradients of a stage.

        Parameters
        ----------
        stage : Stage
            In order of evaluation.
        largest : (v,) float64
            The largest entry of the gradients of its pre-activations, at each point.

        Returns
        -------
        (v, u) or (v, u, k) float64
        """
        nothing = np.zeros_like(largest)
        # A sum that several stages read is no gate's value: it may be as large as any before it.
        known = all(source in self._sizes for source in stage.reads)
        sources = stage.reads if known else tuple(self._sizes)
        size = np.max([nothing, *(self._sizes[source] for source in sources)], axis=0)
        error = np.max([nothing, *(self._errors[source] for source in sources)], axis=0)
        passed = error * np.divide(largest, size, out=np.zeros_like(largest), where=size > 0)
        shape = (len(largest), *(1,) * stage.gain.ndim)
        found = self._unit * stage.gain * size.reshape(shape) + passed.reshape(shape)
        steepest = 1.0 if isinstance(stage.gate, Max) else float(stage.gate.slopes.abs().max())
        self._sizes[stage.position] = steepest * largest
        self._errors[stage.position] = steepest * found.reshape(len(largest), -1).max(axis=1, initial=0.0)
        return found
