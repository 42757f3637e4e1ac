"""Activation regions of a line or a plane, the lower-dimensional ones included: the codes of all faces.

Every unit keeps its sign on the interior of a face of the partition, so every code of a point is the code of a cell, an
edge or a vertex. By continuity a face's pieces are those of a cell beside it or lower: a unit can only touch its
breakpoint from above there. Where floats see such a touch, or come close to one, the face's code is found in rational
arithmetic.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch

from reluscope.analyses.counting.exact_complex import ExactComplex
from reluscope.codes.packed import Codes
from reluscope.networks.evaluation.linearize import gate_values
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.passes.rounded import HeldRoundedNumbers, Rounded
from reluscope.networks.passes.rounding import TIE
from reluscope.tolerance import EPSILON

# In doubt is what is this small against the largest value of its unit, or within this many rounding errors.
FRACTION = 1e-7
ROUNDINGS = 4096.0


@dataclass(frozen=True)
class FaceCodes:
    """The codes of all faces.

    A face whose code is in doubt is left out, so that each of them may have one more code.
    """

    codes: Codes  # all different
    num_undecided: int  # faces left out because their code is in doubt
    num_exact: int  # faces whose code was found in rational arithmetic


@torch.no_grad()
def face_codes(complex_: ExactComplex) -> FaceCodes:
    """Return the codes that occur on a complex, each once."""
    part = complex_.part
    at_vertices = [_lowest(complex_, table, complex_.cells, complex_.corners) for table in complex_.pieces]
    beside = np.where(complex_.right < 0, complex_.left, complex_.right)
    has_edges = complex_.dim == 2
    at_edges = [np.minimum(table[complex_.left], table[beside]) for table in complex_.pieces] if has_edges else []
    doubtful_vertices, doubtful_edges = _doubts(complex_, at_vertices, at_edges)
    layout, exact = part.codes.layout, 0
    sure = np.ones(len(complex_.vertices), dtype=bool)
    for vertex in np.flatnonzero(doubtful_vertices).tolist():
        point = complex_.point(vertex)
        if point is None:
            sure[vertex] = False
            continue
        exact += 1
        for table, pieces in zip(at_vertices, complex_.exact.pieces(point), strict=True):
            table[vertex] = pieces
    found = [part.codes, Codes.from_pieces(at_vertices, layout, num_codes=len(sure))[sure]]
    undecided = int((~sure).sum())
    if has_edges:
        tail, head = complex_.ends.T
        sure = sure[tail] & sure[head]
        for table, pieces, stage in zip(at_edges, at_vertices, complex_.network.stages, strict=True):
            if not isinstance(stage.gate, Max):
                table[:] = np.maximum(pieces[tail], pieces[head])  # what an end exceeds, the edge exceeds
        for edge in np.flatnonzero(doubtful_edges).tolist():
            ends = [complex_.point(int(vertex)) for vertex in complex_.ends[edge]]
            if ends[0] is None or ends[1] is None:
                sure[edge] = False
                continue
            exact += 1
            middle = [(a + b) * Fraction(1, 2) for a, b in zip(*ends, strict=True)]
            for table, pieces in zip(at_edges, complex_.exact.pieces(middle), strict=True):
                table[edge] = pieces
        found.append(Codes.from_pieces(at_edges, layout, num_codes=len(sure))[sure])
        undecided += int((~sure).sum())
    return FaceCodes(Codes.concatenate(found).unique(), undecided, exact)


def _lowest(complex_: ExactComplex, table: np.ndarray, cells: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Return the lowest piece (v, u) among the cells around every vertex."""
    order = np.argsort(corners, kind="stable")
    starts = np.searchsorted(corners[order], np.arange(len(complex_.vertices)))
    return np.minimum.reduceat(table[cells[order]], starts, axis=0)


def _doubts(
    complex_: ExactComplex, at_vertices: list[np.ndarray], at_edges: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return at which vertices and edges a unit may have a lower piece than that of all cells beside."""
    network = complex_.network
    vertices = np.zeros(len(complex_.vertices), dtype=bool)
    edges = np.zeros(len(complex_.ends), dtype=bool)
    carrier = HeldRoundedNumbers(ROUNDINGS * EPSILON)
    arrived = gate_values(network, carrier, Rounded.exactly(network.points(complex_.vertices)))
    for index, (stage, seen) in enumerate(zip(network.stages, arrived, strict=True)):
        z, rounding = (part.cpu().numpy() for part in seen)
        pieces = at_vertices[index].astype(np.int64)
        if isinstance(stage.gate, Max):
            top = z.max(axis=2)
            finite = np.where(np.isfinite(z), np.abs(z), 0.0)
            doubt = FRACTION * finite.max(axis=(0, 2)) + rounding.max(axis=2)
            ties = z >= (top - doubt)[..., None]
            lower = np.arange(z.shape[2]) < pieces[..., None]
            vertices |= (ties & lower).any(axis=(1, 2))
            if at_edges:
                tail, head = complex_.ends.T
                lower = np.arange(z.shape[2]) < at_edges[index].astype(np.int64)[..., None]
                edges |= (ties[tail] & ties[head] & lower).any(axis=(1, 2))
            continue
        levels = np.broadcast_to(stage.gate.breakpoints.cpu().numpy(), (len(stage.gate.breakpoints), z.shape[1]))
        below = np.take_along_axis(levels, np.maximum(pieces - 1, 0), axis=0)
        heights = z - below
        doubt = FRACTION * np.abs(heights).max(axis=0) + rounding + TIE * np.abs(below)
        vertices |= ((pieces > 0) & (heights <= doubt)).any(axis=1)
    return vertices, edges
