"""Regions that exist, where signs stayed undecided: each cell carries the code that the network has inside it.

A sign that was read wrongly makes a code that no point has, or a second cell of one region. What the network itself
shows around an interior point of a cell is there: its code at the point if rounding cannot change it, else the code
beside the point in exact arithmetic, which in almost every direction is that of a full-dimensional region.

So cells are given their true codes and not only dropped: a cell whose code nobody else has stays, with what it covers,
and the list holds as many regions as are known. A cell that shows the code of another one is left out, and so is one
of which nothing can be told: what they cover belongs to no row, ``locate`` gives -1 there, and the partition claims
LOWER. To keep them under a mark would make every count, sum and picture that forgets to look at the mark a wrong one.

Exact arithmetic takes a tenth of a second for a point of a small convolutional network, and of some there are doubts in
every cell: candidates of a pooling tie on a constant background, and sums of equal patches differ in their last bits.
Of a ResNet it takes minutes, and bounds on rounding, which grow about tenfold with each gate, say nothing of the last
ones. Where doubts are too many for fractions numbers of a hundred bits decide, in the time of some twenty to thirty
forward passes for a point, and so, where that is long, for a share of the cells, or for as many as there is time for:
``work["cells_confirmed"]``. Of the others those stay whose
code float64 finds again inside them, and numbers of regions, pairs and bounded regions are ESTIMATES:
``work["cells_unconfirmed"]`` counts them.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool

from reluscope.codes.distinct import group_equal_rows
from reluscope.codes.packed import Codes
from reluscope.geometry.polyhedra.domains import Slice, Space
from reluscope.geometry.polyhedra.rational_polytopes import half_spaces
from reluscope.interruption import is_struck
from reluscope.networks.evaluation.rounded_forward import coded_forward, rounded_codes
from reluscope.networks.evaluation.wide_forward import wide_codes
from reluscope.networks.fractions.rational import RationalNetwork, multiplications
from reluscope.networks.network import Network
from reluscope.partitions.complexes import bends
from reluscope.partitions.complexes.codes_together import codes_together
from reluscope.partitions.partition_in_memory import Partition
from reluscope.stopping import is_interrupted

# How many cells were decided, and what share of the work that was.
Count = Callable[[int, float], None]
# What the work of a partition calls cells of large networks.
CONFIRMED, UNCONFIRMED = "cells_confirmed", "cells_unconfirmed"
# Multiples of it are spread evenly over the unit interval, however many there are.
GOLDEN = (5**0.5 - 1) / 2
# How far beside a witness wide numbers look, of the largest coordinate: more than they round, less than float64 does.
BESIDE = 2.0**-64
# What may be spent on exact evaluations in all: some twenty seconds.
MULTIPLICATIONS = 20_000_000
# Of more doubtful cells one of so many is looked at in wide numbers, about as long as all take in float64, or more ...
WIDE_OF = 16
# ... if so many multiplications of the network suffice: two or three seconds.
WIDE_MULTIPLICATIONS = 1_000_000_000
# From so many gates on wide numbers are asked before fractions, which grow with every gate.
DEEP = 10
# Where there is a limit of time, they are looked at by so many at most, and by twice as many as before.
MOST_AT_ONCE = 16
# In float64, by about so many.
AT_ONCE = 256


def shown(
    part: Partition, until: float | None = None, count: Count | None = None, *, only_share: bool = False
) -> Partition:
    """Return a partition all of whose regions exist, each listed once.

    ``work["cells_left_out"]`` counts dropped cells; with no undecided sign the partition stays as it is. If the network
    is too large for exact arithmetic, cells are confirmed until ``until``, by default a share of them.
    """
    if part.certified or not part.num_undecided or part.network is None or not len(part):
        return part
    if part.confirmed is not None and part.confirmed.all():
        return part
    most = max_exact(part.network, len(part))
    found = codes_inside(part, most, until, count, only_share=only_share)
    codes, is_sure = found.codes, found.is_sure
    had_it = (codes.words == part.codes.words).all(axis=1)
    is_there = is_sure if found.is_whole else is_sure | had_it
    if had_it.all():  # no two have one code
        rows = np.flatnonzero(is_there)
    else:  # of cells with one code the first that had it before, else the first
        order = np.lexsort((~had_it, ~is_there))
        rows = np.sort(order[group_equal_rows(codes.words[order])[0]])
        rows = rows[is_there[rows]]
    geometry = part.geometry
    if len(rows) < len(part) or not had_it.all():
        geometry = geometry.recoded(rows, codes.words[rows])
    left_out = int(part.work.get("cells_left_out", 0)) + len(part) - len(rows)
    work = {word: amount for word, amount in part.work.items() if word not in (CONFIRMED, UNCONFIRMED)}
    work["cells_left_out"] = left_out
    sure = is_sure[rows]
    confirmed = int(np.count_nonzero(sure))
    if confirmed < len(rows):
        work |= {CONFIRMED: confirmed, UNCONFIRMED: len(rows) - confirmed}
    return replace(
        part,
        codes=Codes(geometry.words, codes.layout),
        geometry=geometry,
        work=work,
        num_pending=0,  # of open cells nobody knows whether they are there
        confirmed=None if found.is_whole else sure,
    )


class ShownCells(NamedTuple):
    """Which cells are shown to hold a region of their code.

    If ``is_whole``, all doubtful cells were looked at as closely as can be: one that is not sure is then no region, or
    none that is known.
    """

    codes: Codes  # of all cells
    is_sure: Bool[np.ndarray, " r"]  # has a region of its code around the cell's witness
    is_whole: bool
    num_exact: int  # exact evaluations that were spent


def max_exact(network: Network, num_cells: int = 0) -> int:
    """Return how many exact evaluations of a network may be spent.

    Of very large ones none, one takes minutes; of deep ones none, either, where the cells are so many that even wide
    numbers would take long at all of them.
    """
    each = max(1, multiplications(network))
    return 0 if is_deep(network) and num_cells > _max_wide(network) else MULTIPLICATIONS // each


def is_deep(network: Network) -> bool:
    """Tell whether bounds on rounding may say nothing of the last gates, and fractions are long there."""
    return len(network.gates) >= DEEP


def codes_inside(
    part: Partition,
    most: int,
    until: float | None = None,
    count: Count | None = None,
    *,
    only_share: bool = False,
) -> ShownCells:
    """Return what all cells show inside them, by at most so many exact evaluations; see `shown`."""
    assert part.network is not None
    network, witnesses = part.network_on_domain, part.witnesses
    if part.confirmed is not None:  # seen before, and which are sure is known
        return _by_wide_numbers(part, part.codes, ~part.confirmed, until, count, only_share)
    codes, doubtful, is_whole = _codes_in_floats(part, most, until)
    asked = np.flatnonzero(doubtful | (codes.words != part.codes.words).any(axis=1))
    are_many = len(asked) > most
    if not most or not is_whole or (are_many and len(asked) > _max_wide(network)):
        return _by_wide_numbers(part, codes, doubtful, until, count, only_share)
    exact, is_there, found, pieces = _ExactCodes(part), ~doubtful, [], []
    words = codes.words.copy()
    if is_deep(network) or are_many:
        for rows, seen, is_sure in _beside_by_wide_numbers(part, asked):
            words[rows], is_there[rows] = seen.words, is_sure
            if _is_over(until):
                return ShownCells(Codes(words, codes.layout), is_there, False, 0)
        asked = asked[~is_there[asked]]
    asked = asked[:most]
    for place, row in enumerate(asked.tolist()):
        if _is_over(until):
            asked, is_whole = asked[:place], False
            break
        beside = exact.beside(witnesses[row])
        is_there[row] = beside is not None
        if beside is not None:
            found.append(row)
            pieces.append(beside)
    if found:
        tables = [np.array(table, dtype=np.int64) for table in zip(*pieces, strict=True)]
        words[found] = Codes.from_pieces(tables, codes.layout, num_codes=len(found)).words
    return ShownCells(Codes(words, codes.layout), is_there, is_whole, len(asked))


def _is_over(until: float | None) -> bool:
    """Tell whether a time has come."""
    return until is not None and time.time() >= until


def _codes_in_floats(part: Partition, most: int, until: float | None) -> tuple[Codes, Bool[np.ndarray, " r"], bool]:
    """Return the codes of cells, which of them rounding leaves in doubt, and whether time has sufficed for all.

    Cells whose way here nothing was undecided on have the codes that they were found with.
    """
    network, in_doubt = part.network_on_domain, part.geometry.in_doubt
    words, doubtful = part.codes.words.copy(), np.ones(len(part), dtype=bool) if in_doubt is None else in_doubt.copy()
    is_quick = not most and part.network is not None and bends.pay(part.network)
    asked = np.flatnonzero(doubtful)
    for rows in np.array_split(asked, max(1, len(asked) // AT_ONCE)) if until is not None else [asked]:
        if not len(rows):
            continue
        if _is_over(until):
            return Codes(words, part.codes.layout), doubtful, False
        if is_quick:
            codes, unsure = codes_together(network, part.witnesses[rows], tolerance=part.tolerance)
        else:
            rounded, codes = coded_forward(network, part.witnesses[rows], tolerance=part.tolerance)
            unsure = np.asarray(rounded.doubtful.any(axis=1))
        words[rows], doubtful[rows] = codes.words, unsure
        again = rows[unsure]
        if most and len(again):  # of two ways to bound rounding either one may be the tighter
            rounded, codes = rounded_codes(network, part.witnesses[again], tolerance=part.tolerance)
            words[again], doubtful[again] = codes.words, rounded.doubtful.any(axis=1)
    return Codes(words, part.codes.layout), doubtful, True


def _max_wide(network: Network) -> int:
    """Return how many points may be looked at in wide numbers without asking whether there is time."""
    return WIDE_MULTIPLICATIONS // max(1, multiplications(network))


def _by_wide_numbers(
    part: Partition,
    codes: Codes,
    doubtful: np.ndarray,
    until: float | None,
    count: Count | None,
    only_share: bool,
) -> ShownCells:
    """Return what `codes_inside` does, with wide numbers at a share of the doubtful witnesses, or as time allows."""
    words, is_there = codes.words.copy(), ~doubtful
    # Who strikes while a partition is made waits for no more; who has one confirmed later on wants that.
    asked = np.flatnonzero(doubtful & (not is_interrupted(part.stop) or part.confirmed is not None))
    if (until is None or only_share) and len(asked):
        number = min(len(asked), max(-(-len(asked) // WIDE_OF), _max_wide(part.network_on_domain)))
        asked = asked[np.linspace(0, len(asked) - 1, number).round().astype(int)]
    if until is not None:
        # Wherever time is over, those that were looked at are spread over all.
        asked = asked[np.argsort((np.arange(len(asked)) * GOLDEN) % 1.0, kind="stable")]
    start, at_once = 0, len(asked) if until is None else 1
    while start < len(asked):
        some = asked[start : start + at_once]
        for rows, found, is_sure in _beside_by_wide_numbers(part, some):
            words[rows[is_sure]], is_there[rows[is_sure]] = found.words[is_sure], True
            if count is not None:
                count(int(np.count_nonzero(is_sure)), len(rows) / len(asked))
            if is_struck():
                return ShownCells(Codes(words, codes.layout), is_there, False, 0)
        start, at_once = start + len(some), min(2 * at_once, MOST_AT_ONCE)
        if _is_over(until):
            break
    return ShownCells(Codes(words, codes.layout), is_there, False, 0)


def _beside_by_wide_numbers(part: Partition, rows: np.ndarray) -> Iterator[tuple[np.ndarray, Codes, np.ndarray]]:
    """Yield some rows at a time, the codes beside their witnesses, and which of these are proved.

    At a witness that is on a boundary the tie rule gives a code that no region may have. A step in a random direction
    leaves ties that are ties all around it; it is so short that cells and errors of float64 do not matter.
    """
    if not len(rows):
        return
    witnesses, inside = part.witnesses[rows], _Inside(part)
    step = BESIDE * (np.abs(part.witnesses).max() or 1.0)
    apart = step * np.random.default_rng(20_16).normal(size=witnesses.shape)
    for some, codes, is_doubtful in wide_codes(part.network_on_domain, witnesses, apart=apart):
        is_inside = [inside.has(*both) for both in zip(witnesses[some], apart[some], strict=True)]
        yield rows[some], codes, ~is_doubtful & is_inside


class _Inside:
    """The inside of a domain, in rational arithmetic."""

    def __init__(self, part: Partition) -> None:
        self._sides = [] if isinstance(part.window, Space) else half_spaces(part.window)

    def has(self, *parts: np.ndarray) -> bool:
        """Tell whether the sum of some vectors is strictly inside."""
        point = [*(sum(map(Fraction, map(float, entries))) for entries in zip(*parts, strict=True)), 1]
        return all(sum(a * x for a, x in zip(side, point, strict=True)) > 0 for side in self._sides)


class _ExactCodes:
    """The codes of full-dimensional regions beside points of a domain, in rational arithmetic."""

    def __init__(self, part: Partition) -> None:
        assert part.network is not None
        self._exact = RationalNetwork(part.network)
        self._slice = part.domain if isinstance(part.domain, Slice) else None
        self._inside = _Inside(part)
        self._draw = np.random.default_rng(20_16)

    def beside(self, witness: np.ndarray) -> list[list[int]] | None:
        """Return the code beside a point in some direction, None if the point is not inside the domain."""
        if not self._inside.has(witness):
            return None
        point = [Fraction(float(entry)) for entry in witness]
        direction = [Fraction(float(entry)) for entry in self._draw.normal(size=len(point))]
        if self._slice is None:
            return self._exact.pieces_beside(point, direction)
        lifted, along = (_combined(self._slice.basis, weights) for weights in (point, direction))
        start = [Fraction(float(a)) + b for a, b in zip(self._slice.origin, lifted, strict=True)]
        return self._exact.pieces_beside(start, along)


def _combined(basis: np.ndarray, weights: list[Fraction]) -> list[Fraction]:
    return [
        sum((weight * Fraction(float(entry)) for weight, entry in zip(weights, column, strict=True)), Fraction(0))
        for column in basis.T
    ]
