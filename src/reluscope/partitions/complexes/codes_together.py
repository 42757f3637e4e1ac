"""Codes at many points of a line, a plane or a space, by one forward pass of the rows that their values combine.

Points that are near to each other differ in few units: like vertices of a chunk they take shares of an affine function
and of the units that are on different pieces (`reluscope.partitions.complexes.bends`), here with a piece for each point
in place of one for each cell.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from reluscope.codes.layout import CodeLayout
from reluscope.codes.packed import Codes
from reluscope.codes.steady_words import SteadyWords
from reluscope.networks.network import Network
from reluscope.networks.passes.rounding import in_doubt, with_ties
from reluscope.networks.passes.stages import Values
from reluscope.partitions.complexes.bends import (
    Arrived,
    SharedRanges,
    arrive,
    behind,
    fewer_rows,
    first_rows,
    heights,
    narrowed,
    row_bytes,
    table_in_use,
)
from reluscope.partitions.complexes.chunks import CLEAR
from reluscope.tolerance import Tolerance

# Points that go through the network together, and the rows that they may have.
MOST_POINTS, MOST_BYTES = 2**12, 2**29
# Fewer than these are not parted.
FEW = 16


@dataclass(frozen=True)
class _Group:
    """Points before a gate."""

    rows: Int[np.ndarray, " s"]
    stage: int
    values: Values
    shares: Float[np.ndarray, "s k"]
    errors: Values
    words: tuple[SteadyWords, ...]
    doubtful: Bool[np.ndarray, " s"]

    def part(self, chosen: np.ndarray) -> "_Group":
        """Return some of the points."""
        return replace(
            self,
            rows=self.rows[chosen],
            shares=self.shares[chosen],
            words=tuple(words.take(chosen, axis=0) for words in self.words),
            doubtful=self.doubtful[chosen],
        )


@torch.no_grad()
def codes_together(
    network: Network, points: Float[np.ndarray, "s n"], *, tolerance: Tolerance | None = None
) -> tuple[Codes, Bool[np.ndarray, " s"]]:
    """Return the codes of points of a network of few inputs, and where rounding might change them.

    The network must be continuous. A point is doubtful if some unit could be on another piece, by bounds that points
    share.
    """
    unit, layout = (tolerance or Tolerance()).unit, network.layout
    words = np.zeros((len(points), layout.num_words), dtype=np.uint64)
    doubtful = np.zeros(len(points), dtype=bool)
    waiting = [_begun(network, points, rows) for rows in _parted(points, np.arange(len(points)), MOST_POINTS)]
    while waiting:
        group = waiting.pop()
        if group.stage == len(network.stages):
            words[group.rows], doubtful[group.rows] = np.concatenate(group.words, axis=1), group.doubtful
        elif len(group.rows) > FEW and row_bytes(network.stages[group.stage], group.values, group.shares) > MOST_BYTES:
            halves = _parted(points[group.rows], np.arange(len(group.rows)), -(-len(group.rows) // 2))
            waiting += [group.part(chosen) for chosen in halves]
        else:
            waiting.append(_passed(network, group, unit))
    return Codes(words, layout), doubtful


def _begun(network: Network, points: np.ndarray, rows: np.ndarray) -> _Group:
    inputs, shares, errors = first_rows(network.points(points[rows]), points[rows])
    values = network.start(inputs)
    return _Group(rows, 0, values, shares, dict.fromkeys(values, errors), (), np.zeros(len(rows), dtype=bool))


def _passed(network: Network, group: _Group, unit: float) -> _Group:
    """Return points behind the next gate."""
    stage = network.stages[group.stage]
    values, shares, errors = fewer_rows(group.values, group.shares, group.errors)
    sent = arrive(stage, values, shares, errors, unit)
    ranges = SharedRanges(stage.gate, sent.rows, shares)
    units = np.flatnonzero(ranges.open_units(np.zeros_like(sent.proved), unit, CLEAR))
    is_sure = ~ranges.open_units(sent.proved, unit, 0.0)
    is_sure[units] = True
    arrived = Arrived(sent.rows, units, ranges.steady(), sent.size, sent.carried)
    pre, narrow = heights(stage.gate, arrived, shares), narrowed(stage, units).gate
    pieces, doubtful = np.zeros((len(shares), 0), dtype=np.uint8), group.doubtful | (not is_sure.all())
    if len(units):
        seen, error = (torch.from_numpy(np.array(one)).to(network.device) for one in (pre, sent.proved[units]))
        pieces = narrow.pieces(with_ties(narrow, seen, error)).cpu().numpy()
        doubtful |= in_doubt(narrow, seen, error).cpu().numpy()
    rows, new = behind(stage, arrived, pieces, pre)
    error = sent.carried.copy()
    error[units] = sent.proved[units]
    passed = stage.pass_errors(sent.size, error, table_in_use(stage.gate, arrived, pieces), unit)
    layout = CodeLayout((network.layout.gates[group.stage],))
    return replace(
        group,
        stage=group.stage + 1,
        values={**sent.live, stage.position: rows},
        shares=np.column_stack([shares, new]),
        errors={**sent.errors, stage.position: passed},
        words=(*group.words, SteadyWords.of(layout, arrived.steady, units, pieces)),
        doubtful=doubtful,
    )


def _parted(points: np.ndarray, rows: np.ndarray, most: int) -> list[np.ndarray]:
    """Return rows in groups of at most so many, of points near to each other."""
    if len(rows) <= most:
        return [rows]
    inside = points[rows]
    order = np.argsort(inside[:, np.ptp(inside, axis=0).argmax()], kind="stable")
    middle = len(rows) // 2
    return _parted(points, rows[order[:middle]], most) + _parted(points, rows[order[middle:]], most)
