"""Distances to the nearest decision boundary of ACAS Xu at random points, ten seconds of processor time each."""

import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch

import reluscope as rs
from benchmarks.measure import Measurement

TARGET = "linf and l2: at least 80 % of points EXACT within 10 s; l1: likewise, or ends within a factor of 1.5"
MODELS = Path(__file__).parents[2] / "shared" / "models"
ORDERS: dict[rs.Norm, float] = {"linf": np.inf, "l2": 2, "l1": 1}
BOX = rs.Box(-0.5, 0.5, 5)
NUM_POINTS, NUM_SAMPLES = 2, 20_000


def run(quick: bool) -> list[Measurement]:
    """Search around points that are uniform in the box of inputs, two for each network; the smallest score decides."""
    torch.set_num_threads(1)
    paths = sorted(MODELS.rglob("acasxu_*_*.onnx"))[: 2 if quick else None]
    # Networks and seeds of their points, 1011 to 1029.
    nets = {1000 + int(path.stem[-3] + path.stem[-1]): rs.load(path, decision="smallest") for path in paths}
    return [_search(nets, norm, 1.0 if quick else 10.0) for norm in ORDERS] if nets else []


def _search(nets: dict[int, rs.Network], norm: rs.Norm, seconds: float) -> Measurement:
    spent: list[float] = []
    shares: list[float] = []
    num_exact = num_wrong = 0
    for seed, net in nets.items():
        for x in np.random.default_rng(seed).uniform(-0.5, 0.5, (NUM_POINTS, 1, 5)):
            # Budgets count processor time, so that other work on the machine changes little.
            with patch("time.time", time.process_time), patch("time.perf_counter", time.process_time):
                began = time.perf_counter()
                found = rs.robustness.decision_distance(
                    net, x, norm=norm, domain=BOX, budget=rs.Budget(seconds=seconds)
                )
                spent.append(time.perf_counter() - began)
            distance = found["decision_distance"]
            num_exact += int(distance.is_exact[0])
            shares.append(float(distance.lower[0] / distance.upper[0]))
            num_wrong += _is_wrong(net, x, found, ORDERS[norm])
    detail = (
        f"{num_exact} of {len(spent)} EXACT, median {np.median(spent):.1f} s; lower at least "
        f"{min(shares):.0%} of upper, {sum(share >= 2 / 3 for share in shares)} within a factor of 1.5; "
        f"{num_wrong} refuted by samples"
    )
    return Measurement(f"ACAS Xu, {len(nets)} networks, {norm}", float(np.mean(spent)), detail=detail)


def _is_wrong(net: rs.Network, x: np.ndarray, found: rs.Findings, order: float) -> bool:
    """Return whether the witness is not of another class at the upper end, or a sample nearer than the lower end is."""
    own = net(x).numpy().argmin()
    distance, beyond = found["decision_distance"], found.details["beyond"][0]
    length = np.linalg.norm(beyond - x[0], ord=order)
    if net(beyond[None]).numpy().argmin() == own or abs(length - distance.upper[0]) > 1e-6 * length:
        return True
    rng = np.random.default_rng(0)
    ways = rng.normal(size=(NUM_SAMPLES, 5)) * rng.choice([0.01, 0.1, 1.0, 100.0], (NUM_SAMPLES, 1))
    ways = ways + (beyond - x[0]) / length
    ways /= np.linalg.norm(ways, ord=order, axis=1)[:, None]
    samples = x + distance.lower[0] * (1 - 1e-7) * rng.choice([0.5, 0.8, 1.0], (NUM_SAMPLES, 1)) * ways
    samples = samples[(np.abs(samples) <= 0.5).all(axis=1)]
    return bool((net(samples).numpy().argmin(axis=1) != own).any())
