"""From a network that ends with a level gate to the pieces where its sides meet: the walk, and what it keeps."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter

import numpy as np

from reluscope.effort import Effort
from reluscope.geometry.cutting.face_lattices import from_polytope
from reluscope.geometry.polyhedra.domains import Box, Space
from reluscope.geometry.polyhedra.polyhedron import Polyhedron
from reluscope.geometry.polyhedra.window_shapes import window_shape
from reluscope.networks.network import Network
from reluscope.partitions.complexes.chunks import EPSILON, Chunk, Resolution
from reluscope.partitions.complexes.elongated import in_units, sides_of
from reluscope.partitions.complexes.exact_signs import ExactSigns
from reluscope.partitions.complexes.incidence import walk_chunks
from reluscope.partitions.driver.joined_parts import joined_parts
from reluscope.partitions.driver.walk import Checkpoint, Walked
from reluscope.partitions.levels.level_assembly import Label, LevelPieces, assemble_level
from reluscope.partitions.levels.level_bounds import Settle, proved_sides
from reluscope.partitions.levels.level_patches import LevelPatch
from reluscope.partitions.levels.level_walls import NAMES, Walls, cones_by_side


def find_pieces(
    asked: Network,
    window: Box | Polyhedron,
    *,
    sides: Callable[[Chunk], np.ndarray],
    settle: Settle,
    label: Label,
    num_words: int,
    effort: Effort,
    checkpoint: Checkpoint | None = None,
) -> tuple[LevelPieces, Walked, Walls]:
    """Return the pieces where sides of a level gate meet, the walk without its parts, and the walls.

    The network must end with the gate, and the window be bounded, of two or three dimensions. ``sides`` and ``settle``
    go to other processes; ``num_words`` is of a code without the gate.
    """
    units = sides_of(window)
    if units is not None:
        slice_ = in_units(window, units)
        assert not isinstance(slice_.window, Space)  # it is bounded
        pieces, walked, walls = find_pieces(
            asked.restrict(slice_),
            slice_.window,
            sides=sides,
            settle=settle,
            label=label,
            num_words=num_words,
            effort=effort,
            checkpoint=checkpoint,
        )
        return pieces.scaled(units), walked, walls.scaled(units)
    shape = window_shape(window)
    corners, dim = shape.corners, window.dim
    apex = corners.points.mean(axis=0)
    resolution = Resolution.of(effort.tolerance, float(np.linalg.norm(np.ptp(corners.points, axis=0))))
    walked = walk_chunks(
        asked,
        from_polytope(shape.incidence),
        corners,
        asked.points(corners.points),
        resolution,
        finish=partial(LevelPatch.of, sides=sides, apex=apex),
        effort=effort,
        exact_signs=ExactSigns(asked, [window]),
        keep=_Near(asked, settle, apex),
        checkpoint=checkpoint,
    )
    length = 16 * max(resolution.length, EPSILON * float(np.abs(corners.points).max()))
    pieces, walked = joined_parts(
        walked, lambda parts: assemble_level(parts, dim, num_words, length, label), attrgetter("roots")
    )
    walls = Walls(apex, pieces.walls + np.array([walked.work.get(name, 0.0) for name in NAMES]))
    work = {name: amount for name, amount in walked.work.items() if name not in NAMES}
    return pieces, replace(walked, parts=[], work=work), walls


@dataclass(frozen=True, eq=False)
class _Near:
    """Keeps the cells that the level may touch, and counts which side the walls of the others are on."""

    network: Network
    settle: Settle
    apex: np.ndarray

    def __call__(self, chunk: Chunk, work: dict[str, float]) -> np.ndarray:
        sides = proved_sides(chunk, self.network, self.settle)
        is_wall = (chunk.cells.cofaces()[1] < 0) & (chunk.seams == -1)
        dropped = np.where(sides == 0, np.int8(2), sides)
        cones = cones_by_side(chunk.cells, chunk.points, is_wall, dropped, self.apex)
        for name, amount in zip(NAMES, cones, strict=True):
            work[name] = work.get(name, 0.0) + float(amount)
        return sides == 0
