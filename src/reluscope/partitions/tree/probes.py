"""Numbers of regions from random ways down the tree of linear programs, none of which visits more than one region.

A way goes on with one of the parts into which a unit cuts the cell at hand, all equally likely. The product of the
numbers of parts along it has the number of regions as its mean (Knuth 1975), however many there are. Few ways have
large products, so that most sets of ways give less than the truth.
"""

import time
from collections.abc import Callable, Iterator
from math import inf
from typing import NamedTuple

import numpy as np
import torch

from reluscope.geometry.cutting.framed_cells import CellFrame, FramedCell
from reluscope.geometry.polyhedra.domains import Domain, Slice
from reluscope.networks.network import Network
from reluscope.partitions.tree.tree_coordinates import Coordinates
from reluscope.partitions.tree.tree_items import Block
from reluscope.tolerance import Tolerance

# A witness closer than this to a wall, relative to its own size, is moved, at most so many times.
CLOSE, MAX_STEPS = 1e-4, 16


class Probe(NamedTuple):
    """One way down the tree."""

    product: int  # of the numbers of parts along the way, as far as it went
    is_whole: bool  # whether it ended at a region, not for lack of time


def probes(
    network: Network,
    domain: Domain,
    *,
    programs: float = inf,
    seconds: float = inf,
    tolerance: Tolerance | None = None,
    seed: int = 0,
) -> Iterator[Probe]:
    """Yield probes until so many programs are done, or the time is over.

    The last one may be cut short. ``programs`` counts units that are decided, by linear programs if need be, on all
    probes together. Raises as `tree_regions`.
    """
    until, done = time.monotonic() + seconds, 0
    if isinstance(domain, Slice):
        network, domain = network.restrict(domain), domain.window
    coordinates = Coordinates.of(network, domain, Tolerance() if tolerance is None else tolerance)
    draw = np.random.default_rng(seed)

    def goes_on() -> bool:
        nonlocal done
        done += 1
        return done <= programs and time.monotonic() < until

    while True:
        probe = _probe(coordinates, draw, goes_on)
        yield probe
        if not probe.is_whole or done >= programs or time.monotonic() >= until:
            return


def _probe(coordinates: Coordinates, draw: np.random.Generator, goes_on: Callable[[], bool]) -> Probe:
    product = 1
    block = Block.first(coordinates)
    with torch.no_grad():
        while not block.is_finished:
            (gate,), (cell,) = block.gates(), block.cells
            choices = []
            for index in range(gate.num_choices):
                if not goes_on():
                    return Probe(product, False)
                found, cells = gate.choices(index, cell)
                way = int(draw.integers(len(cells)))
                product *= len(cells)
                cell = _centred(cells[way], coordinates.frame)
                choices.append(found[way])
            block = gate.chosen(cell, np.array(choices))
    return Probe(product, True)


def _centred(cell: FramedCell, frame: CellFrame) -> FramedCell:
    """Return a cell with a witness away from its walls: each cut on the way down leaves it half as far from some."""
    y = cell.witness
    norms = np.linalg.norm(cell.rows, axis=1)
    for _ in range(MAX_STEPS):
        slack = cell.rows @ _image(y, frame)
        relative = slack / norms
        if len(slack) == 0 or relative.min() > CLOSE * np.abs(y).max():
            break
        # To the middle of the chord that goes straight away from the nearest wall.
        row = cell.rows[np.argmin(relative)]
        step = frame.generators.T @ row if len(frame.generators) else row
        step = step / np.abs(step).max()
        rates = np.concatenate([cell.rows @ _image(step, frame), step, -step])
        room = np.concatenate([slack, y - frame.lower, frame.upper - y])
        with np.errstate(divide="ignore", invalid="ignore"):
            ahead = np.where(rates < 0, room / -rates, np.inf).min()
            behind = np.where(rates > 0, room / rates, np.inf).min()
        y = y + step * (ahead - behind) / 2
    return cell._replace(witness=y)


def _image(y: np.ndarray, frame: CellFrame) -> np.ndarray:
    return frame.generators @ y if len(frame.generators) else y
