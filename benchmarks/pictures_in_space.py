"""Drawing many polygons of space into PNG: processor time."""

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure

import reluscope as rs
from benchmarks.measure import Measurement
from benchmarks.models import mlp

TARGET = "processor time, one thread: 200,000 polygons in 2 s"
SIDE, FEW = 447, 40


def run(quick: bool) -> list[Measurement]:
    """Time a torus of many quadrilaterals, and solids; the medians of three runs."""
    torch.set_num_threads(1)
    ball = rs.load([(np.r_[np.eye(3), -np.eye(3)], np.zeros(6)), (np.ones((1, 6)), -np.ones(1))])
    torus = _torus(rs.level_set(ball, rs.Box(-1.5, 1.5, 3)), FEW if quick else SIDE)
    rows = []
    ways: dict[str, dict[str, Any]] = {"": {}, ", without edges": {"lines": False}, ", 2,500 pixels": {"pixels": 2500}}
    for name, given in ways.items():
        words = f"torus of {len(torus):,} quadrilaterals{name}"
        rows.append(_timed(words, lambda given=given: rs.plots.level_set(torus, **given)))
    part = rs.partition(mlp(3, 8, 1) if quick else mlp(3, 16, 16, 1), rs.Box(-1, 1, 3))
    ways = {"": {}, ", seen through": {"fade": "volume"}, ", exploded": {"explode": 0.5}}
    for name, given in ways.items():
        rows.append(
            _timed(f"{len(part):,} regions{name}", lambda given=given: rs.plots.solid(part, color="random", **given))
        )
    return rows


def _timed(name: str, draw: Callable[[], Figure]) -> Measurement:
    times = []
    for _ in range(3):
        began = time.process_time()
        rs.plots.to_png(draw())
        times.append(time.process_time() - began)
    return Measurement(name, statistics.median(times))


def _torus(found: rs.LevelSet, number: int) -> rs.LevelSet:
    """Return a torus of so many squared quadrilaterals as a level set."""
    around = np.linspace(0, 2 * np.pi, number, endpoint=False)
    a, b = np.meshgrid(around, around, indexing="ij")
    wide = 0.9 + 0.4 * np.cos(b)
    points = np.stack([wide * np.cos(a), wide * np.sin(a), 0.4 * np.sin(b)], axis=-1).reshape(-1, 3)
    place = np.arange(number * number).reshape(number, number)
    ids = np.stack([place, np.roll(place, -1, 0), np.roll(place, (-1, -1), (0, 1)), np.roll(place, -1, 1)], axis=-1)
    pieces = number * number
    nothing = np.zeros((pieces, 3))
    return replace(
        found,
        vertices=points,
        blur=np.zeros(pieces),
        offsets=np.arange(0, 4 * pieces + 1, 4),
        ids=ids.reshape(-1),
        normals=nothing,
        codes=found.codes[np.zeros(pieces, dtype=np.int64)],
        witnesses=nothing,
    )
