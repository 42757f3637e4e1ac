"""Faces by which sublevel sets of a function change, also on unbounded domains.

Sublevel sets change at levels of minimal faces. On an unbounded domain the complex is cut at a level below all of these
and at one above, and its faces are found in a box that meets all of them: between the two levels, sublevel sets in the
box are those of the whole domain, up to homotopy.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float

from reluscope.analyses.topology.sets import faces_of_part
from reluscope.analyses.topology.vertex_values import VertexValues
from reluscope.effort import Effort
from reluscope.networks.network import Network
from reluscope.partitions.faces.face_walk import find_faces
from reluscope.partitions.faces.faces import Faces
from reluscope.partitions.partition_in_memory import Partition


@dataclass(frozen=True, eq=False)
class FacesBetween:
    """Faces with the values of a function at their vertices.

    Levels at which sublevel sets change are those of vertices between two ``levels``, infinite on bounded domains.
    """

    faces: Faces
    known: VertexValues
    levels: tuple[float, float] = (-np.inf, np.inf)

    @property
    def is_doubtful(self) -> bool:
        """Whether a sign stayed undecided, or rounding may move a vertex across one of the levels."""
        room = (self.levels[1] - self.levels[0]) / 3  # between the levels and those of minimal faces
        return self.faces.num_undecided > 0 or self.known.error > room / 2


def between_levels(part: Partition, network: Network, outputs: tuple[int, ...], effort: Effort) -> FacesBetween:
    """Return the faces of a partition by which sublevel sets of an output, or of a difference of two, change."""
    faces = faces_of_part(part, effort)
    found = FacesBetween(faces, VertexValues.of(network, faces, outputs))
    if part.window.is_bounded() or faces.num_open:
        return found
    levels = _levels_around(found.known.values, faces)
    weight = torch.zeros(2, network.num_outputs, dtype=torch.float64)
    for output, sign in zip(outputs, (1.0, -1.0), strict=False):
        weight[:, output] = sign
    heights = weight, -torch.tensor(levels, dtype=torch.float64)
    faces = find_faces(network, part.window, heights, effort=replace(effort, tolerance=part.tolerance))
    return FacesBetween(faces, VertexValues.of(network, faces, outputs), levels)


def _levels_around(values: Float[np.ndarray, " v"], faces: Faces) -> tuple[float, float]:
    """Return levels well below and above those of all vertices that are not on the sides of the box of a far domain.

    Either all minimal faces are vertices, or none is and all are met by the sides.
    """
    sizes = np.abs(faces.vertices).max(axis=1)
    inner = values[sizes < sizes.max()]
    known = inner if len(inner) else values
    margin = float(np.ptp(known)) or 1.0
    return float(known.min()) - margin, float(known.max()) + margin
