"""Regression and CKA of the coefficients of two convolutional networks of CIFAR size, and what their Jacobians cost.

The networks are those of chapter 6 of Sattelberg (2026), with random weights, on random images. Seconds are those of
the processor; Jacobians are what `Network.linearize` takes within the same run. A loop of autograd calls, one per image
and output, is timed on a few images of each network and taken times their number.
"""

import time

import numpy as np
import torch

import reluscope as rs
from benchmarks.measure import Measurement, in_fresh_process, peak_gigabytes
from reluscope.analyses.similarity.cka import CKA
from reluscope.analyses.similarity.mapping import solve_pairs
from reluscope.analyses.similarity.row_spaces import row_space
from reluscope.analyses.similarity.streamed_samples import coefficient_moments, output_groups
from reluscope.networks.network import Network

TARGET = (
    "under 4 GB, at least 70 % of the time in Jacobians, these at least 5 times as fast as a loop of autograd calls"
)
LOOPED = 10
MEMORY = 5 * 2**29


def simple(side: int, outputs: int) -> torch.nn.Sequential:
    """Return two convolutions, a pool before the ReLU, one fully connected layer."""
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 32, 3),
        torch.nn.Conv2d(32, 32, 3),
        torch.nn.MaxPool2d(2),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(32 * ((side - 4) // 2) ** 2, outputs),
    )


def deeper(side: int, outputs: int) -> torch.nn.Sequential:
    """Return three convolutions with a pool after each ReLU, one fully connected layer."""
    layers: list[torch.nn.Module] = []
    for channels in (3, 32, 32):
        layers += [torch.nn.Conv2d(channels, 32, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2)]
    return torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(32 * (side // 8 - 2) ** 2, outputs))


def measured(number: int, side: int, outputs: int) -> dict:
    """Return seconds by part, the peak memory, and what was found."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    modules = [make(side, outputs).double() for make in (simple, deeper)]
    networks = [rs.load(module, input_shape=(3, side, side)) for module in modules]
    points = torch.as_tensor(np.random.default_rng(0).uniform(size=(number, 3, side, side)))
    jacobians = [0.0]
    plain = Network.linearize

    def timed(self, *given, **named):
        began = time.process_time()
        found = plain(self, *given, **named)
        jacobians[0] += time.process_time() - began
        return found

    Network.linearize = timed  # pyright: ignore[reportAttributeAccessIssue]
    began = time.process_time()
    found = _statistics(networks, points)
    total = time.process_time() - began
    memory = peak_gigabytes()
    loop = sum(_loop(module, points[:LOOPED]) for module in modules) * number / LOOPED
    return {"total": total, "jacobians": jacobians[0], "loop": loop, "memory": memory, "found": found}


def _statistics(networks: list[rs.Network], points: torch.Tensor) -> str:
    spaces, cka, solutions = [row_space(network) for network in networks], [], []
    for group in output_groups(spaces, networks[0].num_outputs, MEMORY):
        moments, _ = coefficient_moments(networks, spaces, points, group, memory=MEMORY)
        cka += [CKA.measure(one, 0, 1) for one in moments]
        for found in solve_pairs(networks, spaces, points, group, moments, [(0, 1), (1, 0)], ridge=0.0, memory=MEMORY):
            solutions += [(one.condition, one.residual, one.method) for one in found.values()]
        del moments
    conditions, residuals, methods = zip(*solutions, strict=True)
    mean = np.mean([float(one) for one in cka if one is not None])
    return (
        f"CKA {mean:.4f}, residuals {min(residuals):.3f} to {max(residuals):.3f}, condition numbers up to "
        f"{max(conditions):.1e}, by {' and '.join(sorted(set(methods)))}"
    )


def _loop(module: torch.nn.Module, images: torch.Tensor) -> float:
    """Return seconds of one autograd call per image and output."""
    began = time.process_time()
    for image in images:
        point = image[None].clone().requires_grad_()
        outputs = module(point).flatten()
        for output in outputs:
            torch.autograd.grad(output, point, retain_graph=True)
    return time.process_time() - began


def run(quick: bool) -> list[Measurement]:
    """Measure in a process of its own, with one thread."""
    # Two of ten outputs: all of them take some twenty minutes, most of it in triangular factors.
    number, side, outputs = (2_000, 24, 1) if quick else (10_000, 32, 2)
    found = in_fresh_process("benchmarks.similarity", "measured", number, side, outputs)
    share = found["jacobians"] / found["total"]
    return [
        Measurement(
            f"regression both ways and CKA, {number:,} images, two networks, {outputs} of their outputs",
            found["total"],
            memory=found["memory"],
            detail=f"{100 * share:.0f} % of it in Jacobians; {found['found']}",
        ),
        Measurement(
            f"Jacobians of {number:,} images, two networks, against a loop of autograd calls",
            found["jacobians"],
            found["jacobians"] / found["loop"],
            found["loop"],
        ),
    ]
