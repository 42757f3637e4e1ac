"""Forecasts of partitions against the partitions themselves: how near, how often the interval holds the truth."""

import time

import numpy as np
import torch

import reluscope as rs
from benchmarks.measure import Measurement
from benchmarks.models import mlp

TARGET = "the truth inside nine of ten intervals, within a factor of two, in the seconds given"

CASES = [
    ((2, 256, 256, 256, 1), rs.Box(-1, 1, 2)),
    ((2, 256, 256, 256, 1), rs.Box(-10, 10, 2)),
    ((2, 256, 256, 256, 1), rs.Box(-100, 100, 2)),
    ((3, 64, 64, 64, 1), rs.Box(-1, 1, 3)),
]


def run(quick: bool) -> list[Measurement]:
    """Forecast with several seeds on one thread; seconds are the forecast's, the ratio is to those of the partition."""
    torch.set_num_threads(1)
    rows = []
    for sizes, box in CASES[:1] if quick else CASES:
        network = mlp(*sizes)
        began = time.perf_counter()
        truth = len(rs.partition(network, box, keep="codes"))
        whole = time.perf_counter() - began
        for seconds in (0.3, 1.0):
            values, held, took = [], [], []
            for seed in range(2 if quick else 12):
                began = time.perf_counter()
                found = rs.forecast(network, box, seconds=seconds, seed=seed).finding("forecast_regions")
                took.append(time.perf_counter() - began)
                low, high = found.interval or (found.value, found.value)
                values.append(found.value / truth)
                held.append(low <= truth <= high)
            near = np.quantile(values, [0.1, 0.5, 0.9])
            detail = (
                f"{truth:,} regions; forecast / truth {near[1]:.2f}, in four of five {near[0]:.2f} to {near[2]:.2f}; "
                f"{sum(held)} of {len(held)} intervals hold it"
            )
            middle = float(np.median(took))
            case = f"{list(sizes)}, {box.describe()}, {seconds:g} s"
            rows.append(Measurement(case, middle, middle / whole, whole, detail=detail))
    return rows
