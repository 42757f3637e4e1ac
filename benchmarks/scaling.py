"""How the time grows with the number of regions, over three decades, for every engine: the slope of logarithms.

``python -m benchmarks.scaling FILE`` draws it, too.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

import reluscope as rs
from benchmarks.measure import Measurement
from benchmarks.models import mlp
from reluscope.partitions.tree.tree_count import tree_count
from reluscope.plots.style import CATEGORIES, canvas, figure_of

TARGET = "seconds grow in proportion to regions: slopes at most 1.1"


class _Case(NamedTuple):
    """One engine: a network on boxes of growing half-width, all of them and those that are quick."""

    name: str
    network: rs.Network
    halves: tuple[float, ...]
    quick: tuple[float, ...]
    count: Callable[[rs.Network, rs.Box], int]


def run(quick: bool, picture: Path | None = None) -> list[Measurement]:
    """Time each engine on boxes of one network, warm, and fit the slope.

    Parameters
    ----------
    quick : bool
    picture : Path, optional
        Where to draw seconds against regions.
    """
    torch.set_num_threads(1)
    rows, curves = [], {}
    for case in _cases():
        points = [_time(case, half) for half in (case.quick if quick else case.halves)]
        regions, seconds = np.array(points).T
        slope = float(np.polyfit(np.log(regions), np.log(seconds), 1)[0])
        each = ", ".join(f"{int(number):,} in {took:.3g} s" for number, took in points)
        detail = f"slope {slope:.2f} over {np.log10(regions.max() / regions.min()):.1f} decades, EXACT: {each}"
        rows.append(Measurement(case.name, float(seconds.max()), detail=detail))
        curves[f"{case.name}: slope {slope:.2f}"] = regions, seconds
    if picture is not None:
        _draw(curves, picture)
    return rows


def _cases() -> list[_Case]:
    return [
        _Case("incidence, 2-D", mlp(2, 256, 256, 256, 1), (0.06, 0.2, 0.6, 2.0, 12.0), (0.05, 0.1), _partition),
        _Case("incidence, 3-D", mlp(3, 64, 64, 1), (0.08, 0.2, 0.5, 1.2, 4.0), (0.1, 0.2), _partition),
        _Case("cell-wise, 5-D", mlp(5, 24, 24, 1), (0.1, 0.18, 0.3, 0.55, 1.0), (0.1, 0.15), _partition),
        _Case("tree, 20 inputs", mlp(20, 11, 9, 1), (0.1, 0.18, 0.3, 0.5, 1.0), (0.06, 0.1), _by_tree),
    ]


def _time(case: _Case, half: float) -> tuple[int, float]:
    """Return the number of regions and the least time of several, so that small ones are not noise."""
    box = rs.Box(-half, half, case.network.num_inputs)
    case.count(case.network, box)
    times = []
    while len(times) < 5 and sum(times) < 5.0:
        began = time.perf_counter()
        number = case.count(case.network, box)
        times.append(time.perf_counter() - began)
    return number, min(times)


def _partition(network: rs.Network, box: rs.Box) -> int:
    part = rs.partition(network, box)
    assert part.claim == rs.Claim.EXACT
    return len(part)


def _by_tree(network: rs.Network, box: rs.Box) -> int:
    found = tree_count(network, box)
    assert not found.left
    assert not found.num_undecided
    return found.num_found


def _draw(curves: dict[str, tuple[np.ndarray, np.ndarray]], path: Path) -> None:
    axes = canvas(None, (6.5, 4.5))
    for (name, (regions, seconds)), color in zip(curves.items(), CATEGORIES, strict=False):
        axes.loglog(regions, seconds, "o-", color=color, label=name)
    axes.set_xlabel("regions")
    axes.set_ylabel("seconds")
    axes.grid(alpha=0.3)
    axes.legend()
    figure_of(axes).savefig(path, dpi=150)


if __name__ == "__main__":
    for row in run(quick=False, picture=Path(sys.argv[1])):
        print(f"{row.case}: {row.detail}")
