"""A stage opened and closed for a chunk of combinations of rows: its gate sees the units that may bend."""

from dataclasses import replace

import numpy as np

from reluscope.codes.layout import CodeLayout
from reluscope.codes.steady_words import SteadyWords
from reluscope.networks.graph.choosing_gates import Max
from reluscope.networks.network import Network
from reluscope.networks.passes.combinations import COMBINATIONS
from reluscope.networks.passes.stages import Stage
from reluscope.partitions.complexes.bends import (
    Arrived,
    SharedRanges,
    arrive,
    behind,
    combined,
    fewer_rows,
    heights,
    narrowed,
    table_in_use,
)
from reluscope.partitions.complexes.chunks import CLEAR, Chunk, OpenStage, Resolution, between, check_range

# Units that proofs alone leave open are looked at if they are not more than this.
FEW_UNPROVED = 2**12


def open_bends(chunk: Chunk, stage: Stage, resolution: Resolution) -> Chunk:
    """Send the rows of a chunk to the next gate, and evaluate the units that may bend there at all vertices."""
    assert chunk.shares is not None
    gamma, gate = resolution.rounding, stage.gate
    values, shares, known = fewer_rows(chunk.values, chunk.shares, chunk.errors)
    sent = arrive(stage, values, shares, known, gamma)
    check_range(stage, sent.sizes, sent.size)
    rows, size, proved = sent.rows, sent.size, sent.proved
    expected = proved
    if chunk.rounding is not None:
        expected = np.minimum(chunk.rounding.errors(chunk.stage, size, gamma), proved)
    ranges = SharedRanges(gate, rows, shares)
    looked = ranges.open_units(expected, gamma, CLEAR)
    is_measured, num_unproved = chunk.is_measured, 0
    if chunk.rounding is not None:
        unsure = ranges.open_units(proved, gamma, 0.0) & ~looked
        if is_measured or unsure.sum() > FEW_UNPROVED:
            num_unproved = len(shares) * int(unsure.sum())
        else:
            looked |= unsure
    units = np.flatnonzero(looked)
    arrived = Arrived(rows, units, ranges.steady(), size, sent.carried)
    pre = heights(gate, arrived, shares)
    narrow = narrowed(stage, units).gate
    if chunk.rounding is not None:
        num_unproved += int(between(narrow, pre, chunk.factor, expected[units], proved[units]).sum())
        is_measured |= num_unproved > 0
    pieces = np.zeros((len(chunk), len(units)), dtype=np.min_scalar_type(gate.num_pieces - 1))
    cuts = 0 if isinstance(narrow, Max) else len(narrow.breakpoints) * len(units)
    error = expected if is_measured else proved
    opened = OpenStage(
        pre,
        size[units],
        error[units],
        np.zeros(len(units)),
        pieces,
        np.ones(cuts, dtype=bool),
        proved[units],
        num_unproved,
        arrived,
    )
    return replace(
        chunk, values=sent.live, shares=shares, errors=sent.errors, opened=opened, corners=None, is_measured=is_measured
    )


def close_bends(chunk: Chunk, opened: OpenStage, network: Network, resolution: Resolution) -> Chunk:
    """Return a chunk behind its gate, all units that bend there having cut its cells.

    The chunk must have the cells and shares that the cuts have made.
    """
    stage, arrived = network.stages[chunk.stage], opened.arrived
    assert arrived is not None
    assert chunk.shares is not None
    gate, is_last = stage.gate, chunk.stage == len(network.stages) - 1
    layout = CodeLayout((network.layout.gates[chunk.stage],))
    words = (*chunk.words, SteadyWords.of(layout, arrived.steady, arrived.units, opened.pieces))
    values, errors, shares, outputs = {}, {}, chunk.shares, None
    if not is_last or chunk.keeps_outputs:
        rows, new = behind(stage, arrived, opened.pieces, opened.pre)
        values, shares = {**chunk.values, stage.position: rows}, np.column_stack([shares, new])
    if is_last and chunk.keeps_outputs:
        found = network.finish(values, COMBINATIONS)
        outputs, values = combined(found.flatten(1), shares).cpu().numpy(), {}
    elif not is_last:
        error = arrived.error.copy()
        snapped = opened.snapped[:, None] if opened.proved.ndim == 2 else opened.snapped
        error[arrived.units] = opened.proved + snapped
        used = table_in_use(gate, arrived, opened.pieces)
        errors = {**chunk.errors, stage.position: stage.pass_errors(arrived.size, error, used, resolution.rounding)}
    return replace(
        chunk,
        words=words,
        stage=chunk.stage + 1,
        values=values,
        shares=shares,
        errors=errors,
        opened=None,
        outputs=outputs,
    )
