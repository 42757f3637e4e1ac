"""A function of the outputs at the vertices of a complex, and how far it may be from what it is there."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from reluscope.codes.packed import Codes
from reluscope.findings import Column, Quantity
from reluscope.networks.evaluation.maps_of_codes import maps_of_codes
from reluscope.networks.network import Network
from reluscope.partitions.faces.faces import Faces


@dataclass(frozen=True)
class VertexValues:
    """Values of a function at vertices.

    No value is farther than ``error`` from what it would be without rounding.
    """

    values: Float[np.ndarray, " v"]
    error: float

    @classmethod
    def of(cls, network: Network, faces: Faces, outputs: tuple[int, ...]) -> "VertexValues":
        """Evaluate an output, or the difference of two, at all vertices.

        One evaluation with errors. Where vertices lie is known but for their blur, over which the function changes at
        most by its steepest slope on any cell.
        """
        if not len(faces.vertices):
            return cls(np.zeros(0), 0.0)
        signs = (1.0, -1.0)[: len(outputs)]
        at = network.at(faces.vertices)
        values = np.zeros(len(faces.vertices))
        errors = np.zeros(len(faces.vertices))
        for sign, output in zip(signs, outputs, strict=True):
            values += sign * at.outputs[:, output]
            errors += at.errors[:, output] + np.spacing(np.abs(at.outputs[:, output]))
        if faces.blur.any():
            distinct = np.unique(faces.words, axis=0)
            maps, off = maps_of_codes(network, Codes(distinct, network.layout))
            slope = np.zeros((len(distinct), network.num_inputs))
            for sign, output in zip(signs, outputs, strict=True):
                slope += sign * maps.weight[:, output].numpy()
            rounding = np.sqrt(network.num_inputs) * off[:, list(outputs)].sum(axis=1)
            steepest = float((np.linalg.norm(slope, axis=1) + rounding).max(initial=0.0))
            errors += 2 * steepest * faces.blur
        return cls(values, float(errors.max(initial=0.0)))

    def column(self, quantity: Quantity, found: Float[np.ndarray, " k"], is_doubtful: bool, method: str) -> Column:
        """Return some of the values, or infinities, as a column: EXACT as errors are small beside their range."""
        error = np.where(np.isfinite(found), self.error, 0.0)
        # Of what is infinite there is nothing to round.
        low, high = found - error, found + error
        if is_doubtful:
            low, high = np.full(len(found), -np.inf), np.full(len(found), np.inf)
        return Column.of(
            quantity, found, low, high, scale=np.ptp(self.values) if len(self.values) else 0.0, method=method
        )
