"""`level_set`: where an output of a network equals a level, as an exact mesh."""

import os
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from math import sqrt
from typing import Literal

import numpy as np

from reluscope.arguments import describe, read_arguments, read_position
from reluscope.budget import RegionBudget
from reluscope.codes.layout import CodeLayout
from reluscope.codes.packed import Codes
from reluscope.effort import Effort
from reluscope.errors import InputError, NotApplicableError
from reluscope.geometry.polyhedra.domains import Domain, Slice, Space
from reluscope.interruption import has_struck, held
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.evaluation.maps_of_codes import maps_of_codes
from reluscope.networks.file_outputs import level_on_scores
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.network import Network
from reluscope.partitions.complexes.chunks import Chunk
from reluscope.partitions.complexes.incidence import num_left
from reluscope.partitions.complexes.level_gate import with_level_gate
from reluscope.partitions.levels.level_assembly import LevelPieces
from reluscope.partitions.levels.level_bounds import above_or_below
from reluscope.partitions.levels.level_checkpoints import KeptPatches, key_of
from reluscope.partitions.levels.level_patches import level_sides
from reluscope.partitions.levels.level_pieces import find_pieces
from reluscope.partitions.levels.level_polygons import oriented
from reluscope.partitions.levels.level_sets import LevelSet
from reluscope.progress import Progress
from reluscope.stopping import INTERRUPTED, is_interrupted
from reluscope.tolerance import Tolerance

# Relative to the longest: gradients that may be rounding alone.
FLAT = 1e-6


@held
@read_arguments
def level_set(
    network: Network,
    domain: Domain,
    *,
    level: float = 0.0,
    output: int | tuple[int, int] = 0,
    plateaus: Literal["below", "above"] = "below",
    budget: RegionBudget | None = None,
    executor: Executor | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> LevelSet:
    """Return the exact set where an output crosses a level: segments in the plane, polygons in space.

    Parameters
    ----------
    network : Network
    domain : Box, Polyhedron or Slice
        Bounded, of two or three dimensions: in the input space, or a slice of an input space of any dimension.
    level : float
        Level of the model's output. If the model ends with a sigmoid or the like, the closest number before it is
        used.
    output : int or two of them
        The function f is this output; for two outputs the first minus the second, whose level 0 is their tie.
    plateaus : {"below", "above"}
        The side to which regions with f identically equal to the level belong. With "below" the pieces are the
        boundary of ``f > level``, with "above" that of ``f >= level``.
    budget : Budget, optional
        Limit of seconds, or of cells around the level; the result holds the finished part.
    executor : concurrent.futures.Executor, optional
        Runs independent parts.
    progress : bool or callable
        Show progress; a function receives the share done, from 0 to 1.
    tolerance : Tolerance, optional
        Resolution and rounding; see `Tolerance`.
    checkpoint : path, optional
        A folder that keeps finished parts; if it exists, the computation continues from it.

    Returns
    -------
    LevelSet
        Empty if the level is not crossed.

    Raises
    ------
    InputError
        If the output does not exist, the domain is unbounded or of another dimension, or the checkpoint belongs to
        another level set, is damaged, or cannot be written.
    NotApplicableError
        If a checkpoint is given for a network with max gates, which is computed in one piece.
    ShapeError
        If the domain lies in another space.
    DegenerateGeometryError
        If the domain is empty or flat.

    Notes
    -----
    The level is one more gate after the network, and cuts cells as units do, with their error analysis and
    resolution. After each gate, cells are dropped if bounds of f, rounding included, exclude the level. The cost is
    that of the cells around the level, not of all regions.

    Where f touches the level without crossing it, as the absolute value touches 0, there is no piece.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> ball = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])  # the l1 ball
    >>> surface = rs.level_set(ball, rs.Box(-2, 2, 3))
    >>> surface
    LevelSet(8 polygons, EXACT, closed, of box [-2, 2]^3)
    >>> surface.is_closed, surface.euler_characteristic, round(surface.area, 12), round(surface.volume(), 12)
    (True, 2, 6.928203230276, 1.333333333333)
    """
    outputs, level = level_on_scores(network.left_off, _read_output(output, network.num_outputs), level)
    read_domain(domain, network.num_inputs)
    window = domain.window if isinstance(domain, Slice) else domain
    if isinstance(window, Space) or window.dim not in (2, 3):
        raise InputError(
            f"level sets are found on bounded domains of two or three dimensions, got {domain.describe()}: give a Box, "
            "or a Slice of two or three directions"
        )
    began = time.perf_counter()
    tolerance = tolerance or Tolerance()
    inner = network.restrict(domain) if isinstance(domain, Slice) else network
    asked = with_level_gate(inner, outputs, level)
    least = 1 if plateaus == "below" else 0
    if checkpoint is not None and any(isinstance(stage.gate, Max) for stage in asked.stages):
        raise NotApplicableError(
            "expected a network without max gates for a checkpoint, since others are taken through in one piece: leave "
            "it out"
        )

    def kept(tasks: Sequence[Chunk]) -> KeptPatches:
        assert checkpoint is not None
        key = key_of(network, domain, outputs, level, tolerance, tasks)
        return KeptPatches(checkpoint, key, window.dim, inner.layout.num_words, len(tasks))

    with Effort.of(budget, executor, progress, tolerance).counting("level set") as effort:
        pieces, walked, walls = find_pieces(
            asked,
            window,
            sides=partial(level_sides, layout=CodeLayout((asked.layout.gates[-1],))),
            settle=above_or_below,
            label=lambda sides: sides >= least,
            num_words=inner.layout.num_words,
            effort=effort,
            checkpoint=None if checkpoint is None else kept,
        )
    ids, normals = _directed(inner, outputs, pieces)
    num_open = int(num_left(walked, 1)[0])
    found = LevelSet(
        domain=domain,
        level=level,
        outputs=outputs,
        plateaus=plateaus,
        vertices=pieces.vertices,
        blur=pieces.blur,
        offsets=pieces.offsets,
        ids=ids,
        normals=normals,
        codes=Codes(pieces.words[pieces.above], network.layout),
        witnesses=pieces.witnesses[pieces.above],
        solid_cells=Codes(pieces.words[pieces.sides == 0], network.layout),
        solid_witnesses=pieces.witnesses[pieces.sides == 0],
        border=pieces.border,
        walls=walls,
        num_undecided=walked.num_undecided + pieces.num_unmatched,
        num_open=num_open,
        tolerance=tolerance,
        fingerprint=network.fingerprint,
        stop=INTERRUPTED if has_struck() else walked.stop,
        work={**walked.work, "seconds": time.perf_counter() - began},
    )
    if is_interrupted(found.stop):
        warnings.warn("interrupted: the level set holds the pieces finished so far", stacklevel=4)
    return found


def _read_output(output: int | tuple[int, int], number: int) -> tuple[int, ...]:
    chosen = output if isinstance(output, tuple) else (output,)
    found = tuple(read_position(one, "output", number, "outputs") for one in chosen)
    if len(set(found)) < len(found):
        raise InputError(f"output must be one output, or two different ones, got {describe(output)}")
    return found


def _directed(network: Network, outputs: tuple[int, ...], pieces: LevelPieces) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices of pieces in the sense that goes with their normals, and these: gradients beside them."""
    if not len(pieces.above):
        return pieces.ids, np.zeros((0, pieces.vertices.shape[1]))
    gradients, errors = _gradients(network, outputs, pieces.words[pieces.above])
    lengths = np.linalg.norm(gradients, axis=1)
    # Plateaus on the level, or less than rounding above it, have none but rounding. Gradients on both sides of a piece
    # are perpendicular to it: the longer one has the direction with the smaller error.
    flat = np.flatnonzero((lengths <= FLAT * lengths.max()) | (FLAT * lengths <= errors))
    if len(flat):
        below, _ = _gradients(network, outputs, pieces.words[pieces.below[flat]])
        is_steeper = np.linalg.norm(below, axis=1) > lengths[flat]
        gradients[flat[is_steeper]] = below[is_steeper]
        lengths = np.linalg.norm(gradients, axis=1)
    normals = gradients / np.where(lengths > 0, lengths, 1.0)[:, None]
    return oriented(pieces.vertices, pieces.offsets, pieces.ids, normals), normals


def _gradients(network: Network, outputs: tuple[int, ...], words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradients of the function on cells with some codes, and bounds on the lengths of their errors."""
    distinct, row = np.unique(words, axis=0, return_inverse=True)
    maps, entries = maps_of_codes(network, Codes(distinct, network.layout))
    weight = maps.weight.numpy()
    first, *others = outputs
    slopes = weight[:, first] - weight[:, others].sum(axis=1)  # one other at the most
    errors = sqrt(weight.shape[2]) * entries[:, list(outputs)].sum(axis=1)
    return slopes[row.reshape(-1)], errors[row.reshape(-1)]
