"""Pairs of codes whose regions can share a facet, by the hyperplanes of their units, before regions are computed.

Every unit that differs between two regions with a common facet is on a breakpoint on all of that facet. In the first
gate where the codes differ both have the same pre-activations, so all units that differ there leave their pieces on
one hyperplane H; in later gates the pre-activations of either region must be on the breakpoint on all of H. Affine
functions are compared by their values at a few random points: they vanish on one hyperplane if and only if these are
proportional (with probability one).
"""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int, Shaped

from reluscope import _kernels
from reluscope.codes.distinct import group_equal_rows
from reluscope.codes.layout import WORD_BITS
from reluscope.codes.packed import Codes
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.graph.points import chunks
from reluscope.networks.network import Network
from reluscope.networks.passes.carry import carry
from reluscope.networks.passes.rounded import HeldRoundedNumbers, Rounded
from reluscope.networks.passes.stages import Stage

NUM_POINTS = 4
# In groups of so many codes it pays to know which units share their hyperplanes with no other.
MANY_MEMBERS = 32
# Values of functions at random points that are proportional up to this belong to one hyperplane.
PROPORTIONAL = 1e-9
BUDGET = 64 * 2**20


class PairsOnHyperplanes(NamedTuple):
    """Pairs of rows (i, j), i < j, of a table of codes.

    Unclear pairs: in the first gate where the codes differ, units that differ are constant and on a breakpoint up to
    rounding.
    """

    candidates: Int[np.ndarray, "c 2"]  # all units that differ can vanish on one hyperplane
    unclear: Int[np.ndarray, "k 2"]  # undecided because of rounding, see above


@torch.no_grad()
def pairs_on_hyperplanes(
    network: Network, codes: Codes, points: Float[np.ndarray, "g n"], *, rounding: float
) -> PairsOnHyperplanes:
    """Return the pairs of distinct codes whose differing units can all vanish on one hyperplane.

    No other pair of regions shares a facet. The codes have to be all different; ``points`` say where about random
    points are to lie; ``rounding`` is what it leaves of zero, relative to the size of the terms.
    """
    if len(codes) < 2:
        nothing = np.zeros((0, 2), dtype=np.int64)
        return PairsOnHyperplanes(nothing, nothing)
    points = _random_points(points)
    group = np.zeros(len(codes), dtype=np.int64)
    pairs, lines = np.zeros((0, 2), dtype=np.int64), np.zeros((0, NUM_POINTS))
    unclear = [np.zeros((0, 2), dtype=np.int64)]
    for stage, layout in zip(network.stages, codes.layout, strict=True):
        words = codes.words[:, codes.layout.words(stage.index)].copy()
        thresholds = _thresholds(stage)
        is_on, found, found_lines = np.ones(len(pairs), dtype=bool), [pairs], [lines]
        for members, slot, values, noise in _tables(network, codes, stage, group, pairs[:, 0], points, rounding):
            gate = (words, layout.num_planes, layout.words_per_plane, values, noise, thresholds)
            mine = np.flatnonzero(slot[pairs[:, 0]] >= 0)
            is_on[mine] = _kernels.stays(*gate, slot, pairs[mine], lines[mine], PROPORTIONAL)
            alone = _alone_units(values, noise, thresholds, np.bincount(slot[members]))
            place = 0
            # In pieces, between which Ctrl-C is heard.
            while place < len(members):
                new, new_lines, is_clear, place = _kernels.search_pairs(
                    *gate, slot, members, alone, PROPORTIONAL, place
                )
                found.append(new[is_clear])
                found_lines.append(new_lines[is_clear])
                unclear.append(new[~is_clear])
        found[0], found_lines[0] = pairs[is_on], lines[is_on]
        pairs, lines = np.concatenate(found), np.concatenate(found_lines)
        group = group_equal_rows(np.column_stack([group.astype(np.uint64), words]))[1]
    return PairsOnHyperplanes(_sorted(pairs), _sorted(np.concatenate(unclear)))


def _sorted(pairs: np.ndarray) -> np.ndarray:
    pairs = np.sort(pairs, axis=1)
    return pairs[np.lexsort(pairs.T[::-1])]


def _random_points(points: np.ndarray) -> Float[np.ndarray, "m n"]:
    """Return random points at the scale of some of the given ones."""
    some = points[:: max(1, len(points) // 1000)]
    center, spread = some.mean(axis=0), float(some.std(axis=0).max()) or 1.0
    return center + spread * np.random.default_rng(0).normal(size=(NUM_POINTS, points.shape[1]))


def _thresholds(stage: Stage) -> Float[np.ndarray, "u p"]:
    """Return the breakpoints of all units; none for max gates."""
    units = stage.gate.num_units
    if isinstance(stage.gate, Max):
        return np.zeros((units, 0))
    breakpoints = stage.gate.breakpoints.cpu().numpy()
    return np.ascontiguousarray(np.broadcast_to(breakpoints, (len(breakpoints), units)).T)


def _tables(
    network: Network,
    codes: Codes,
    stage: Stage,
    group: np.ndarray,
    wanted: np.ndarray,
    points: np.ndarray,
    rounding: float,
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield a gate's pre-activations at random points for the groups that need them, some at a time.

    Codes of these groups; of each code the place of its group, -1 if not here; values (q, u, k, m) with units held to
    the group's pieces in all earlier gates, one candidate except for max gates; bounds on their rounding.
    """
    sizes = np.bincount(group, minlength=group.max(initial=-1) + 1)
    needed = sizes > 1
    needed[group[wanted]] = True
    numbers = np.flatnonzero(needed)
    if not len(numbers):
        return
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(sizes)
    candidates = stage.gate.num_pieces if isinstance(stage.gate, Max) else 1
    per_group = NUM_POINTS * (network.bytes_per_point + 16 * stage.gate.num_units * candidates)
    for rows in chunks(len(numbers), per_group, BUDGET):
        here = numbers[rows]
        members = np.concatenate([order[ends[number] - sizes[number] : ends[number]] for number in here])
        slot = np.full(len(group), -1)
        slot[members] = np.repeat(np.arange(len(here)), sizes[here])
        values, noise = _held_values(network, codes[order[ends[here] - 1]], stage, points, rounding)
        yield members, slot, values, noise


def _held_values(
    network: Network, codes: Codes, stage: Stage, points: np.ndarray, rounding: float
) -> tuple[np.ndarray, np.ndarray]:
    number, count = len(codes), len(points)
    held = [
        torch.as_tensor(piece.astype(np.int64), device=network.device).repeat_interleave(count, dim=0)
        for piece in pieces_of(codes)[: stage.index]
    ]
    x = network.points(points).repeat(number, *(1,) * len(network.input_shape))
    arrived = carry(network, HeldRoundedNumbers(rounding, held), Rounded.exactly(x))
    seen = next(islice(arrived, stage.index, None))
    table, noise = (part.cpu().numpy().reshape(number, count, stage.gate.num_units, -1) for part in seen)
    # The largest of a unit's candidates and points.
    return np.ascontiguousarray(table.transpose(0, 2, 3, 1)), noise.max(axis=(1, 3))


def _alone_units(
    values: np.ndarray, noise: np.ndarray, thresholds: np.ndarray, sizes: np.ndarray
) -> Shaped[np.ndarray, "q w"]:
    """Return packed for every large group the units that flip on hyperplanes of no other unit; none of a max gate."""
    number, units = noise.shape
    is_alone = np.zeros((number, -(-units // WORD_BITS) * WORD_BITS), dtype=bool)
    weights = np.random.default_rng(1).normal(size=NUM_POINTS)
    for group in np.flatnonzero(sizes >= MANY_MEMBERS) if thresholds.shape[1] else ():
        with np.errstate(divide="ignore", invalid="ignore"):
            functions = values[group] - thresholds[..., None]
            lengths = np.linalg.norm(functions, axis=2)
            keys = np.abs(functions @ weights) / lengths
            is_sure = (np.ptp(functions, axis=2) > 2 * noise[group, :, None]) & (
                noise[group, :, None] <= PROPORTIONAL * lengths
            )
        # What is less than sure shares its hyperplane with anything; breakpoints that do not exist are no hyperplanes.
        exists = np.isfinite(thresholds)
        owners = np.repeat(np.arange(units), thresholds.shape[1]).reshape(exists.shape)
        kept = exists & is_sure
        order = np.argsort(keys[kept], kind="stable")
        key, owner = keys[kept][order], owners[kept][order]
        is_close = np.diff(key) <= 10 * PROPORTIONAL
        own = (~exists | is_sure).all(axis=1)
        own[owner[1:][is_close]] = own[owner[:-1][is_close]] = False
        is_alone[group, :units] = own
    return np.packbits(is_alone, axis=1, bitorder="little").view(np.uint64)
