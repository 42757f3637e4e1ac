"""Exact distances to the nearest decision boundary, on small networks, ACAS Xu, and a perceptron on MNIST."""

import time
from pathlib import Path

import numpy as np
import torch

import reluscope as rs
from benchmarks.measure import Measurement
from reluscope.datasets.mnist import mnist
from reluscope.testing import default_network

TARGET = "most test points of MNIST 784-32-32-10 EXACT within 10 s each; ACAS Xu: intervals that close"
SHARED = Path(__file__).parents[2] / "shared"
NORMS: tuple[rs.Norm, ...] = ("l2", "l1", "linf")


def run(quick: bool) -> list[Measurement]:
    """Search around random points, with a budget for each."""
    torch.set_num_threads(1)
    generator = np.random.default_rng(0)
    small = rs.load(default_network([5, 16, 16, 3], seed=1))
    rows = [
        _search(f"[5, 16, 16, 3], {norm}", small, generator.uniform(-1, 1, (2 if quick else 8, 5)), norm,
                rs.Box(-3, 3, 5), 1.0 if quick else 10.0)
        for norm in NORMS
    ]  # fmt: skip
    if (path := SHARED / "models" / "acasxu_1_1.onnx").exists():
        net, box = rs.load(path), rs.Box(-0.5, 0.5, 5)
        for norm in NORMS[:1] if quick else NORMS:
            points = generator.uniform(-0.5, 0.5, (1 if quick else 3, 5))
            rows.append(_search(f"ACAS Xu 1_1, {norm}", net, points, norm, box, 1.0 if quick else 10.0))
    if (SHARED / "data" / "mnist").is_dir() and not quick:
        net, points = _perceptron()
        rows.append(_search("MNIST 784-32-32-10, l2", net, points, "l2", None, 10.0))
        rows += [
            _search(f"MNIST 784-32-32-10 in [0, 1]^784, {norm}", net, points, norm, rs.Box(0, 1, 784), 10.0)
            for norm in NORMS
        ]
    return rows


def _search(
    case: str, net: rs.Network, points: np.ndarray, norm: rs.Norm, domain: rs.Box | None, seconds: float
) -> Measurement:
    rs.robustness.decision_distance(net, points[:1], norm=norm, domain=domain, budget=rs.Budget(regions=2))
    began = time.perf_counter()
    found = rs.robustness.decision_distance(net, points, norm=norm, domain=domain, budget=rs.Budget(seconds=seconds))
    spent = time.perf_counter() - began
    distance = found["decision_distance"]
    branches, done = int(found.details["num_branches"].sum()), int(distance.is_exact.sum())
    widest = float((distance.lower / distance.upper).min())
    detail = (
        f"{done} of {len(found)} points EXACT within {seconds:g} s each, {branches:,} sets of regions, "
        f"{branches / spent:,.0f}/s; lower at least {widest:.0%} of upper"
    )
    return Measurement(case, spent / len(found), detail=detail)


def _perceptron() -> tuple[rs.Network, np.ndarray]:
    """Return 784-32-32-10 after three epochs of MNIST (Adam, rate 0.001, batch 256, seed 0), and eight test images."""
    train, test = (mnist(SHARED / "data" / "mnist", split) for split in ("train", "test"))
    points = torch.tensor(np.asarray(train.points), dtype=torch.float32).reshape(-1, 784)
    labels = torch.tensor(np.asarray(train.labels))
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(784, 32), torch.nn.ReLU(), torch.nn.Linear(32, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10)
    )
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    for _ in range(3):
        for batch in torch.randperm(len(points)).split(256):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(points[batch]), labels[batch]).backward()
            optimizer.step()
    return rs.load(model.double(), input_shape=(784,)), np.asarray(test.points[:8]).reshape(8, 784)
