"""Singular values through all layers of WideCIFAR, against autograd row by row and a full decomposition per layer.

Seconds are those of the processor, so that other work on the machine counts less. The rows of a Jacobian by autograd
are timed on a share of them; decompositions are timed whole, on the layers named.
"""

import time

import numpy as np
import torch

import reluscope as rs
from benchmarks.measure import Measurement, in_fresh_process, peak_gigabytes
from reluscope.analyses.stability.jacobians import carried
from reluscope.analyses.stability.singular_values import EPS, before_and_after, singular_values
from reluscope.networks.evaluation.linearize import point_pieces
from reluscope_studies.behrmann2018._networks import SMALL_WIDE, WIDE, Architecture

TARGET = "at least 5 times faster than autograd row by row and a full SVD, under 8 GB"
ROWS = 128
COMPARED = (3, 4, 6)


def model(architecture: Architecture, shape: tuple[int, ...]) -> torch.nn.Sequential:
    """Return the network with random weights after He, in float64."""
    built = architecture.build(shape, 10, 0).double().eval()
    generator = torch.Generator().manual_seed(0)
    for layer in built:
        if isinstance(layer, torch.nn.Conv2d | torch.nn.Linear):
            torch.nn.init.kaiming_normal_(layer.weight, generator=generator)
    return built


def compared(quick: bool) -> list:
    """Return rows of name, entries, and seconds of ours, of rows and of decompositions; and the peak memory."""
    torch.set_num_threads(1)
    architecture, shape = (SMALL_WIDE, (1, 8, 8)) if quick else (WIDE, (3, 32, 32))
    built = model(architecture, shape)
    point = torch.as_tensor(np.random.default_rng(0).uniform(size=(1, *shape)))
    found = _ours(rs.load(built, input_shape=shape), point)
    memory = peak_gigabytes()
    for number in COMPARED:
        found[number - 1] += _by_rows(torch.nn.Sequential(*list(built)[: 2 * number - 1]), point)
    return [found, memory]


def _ours(network: rs.Network, point: torch.Tensor) -> list[list]:
    every, found = rs.stability.layers(network), []
    began = time.process_time()
    for step in carried(network, point_pieces(network, point), gamma=16 * EPS):
        assert step.before is not None
        if step.scale is None:
            singular_values(step.columns, gamma=16 * EPS)
        else:
            before_and_after(step.columns, step.scale, gamma=16 * EPS, errors=step.errors, before=True)
        layer = every[step.before]
        found.append([layer.name, layer.size, time.process_time() - began])
        began = time.process_time()
    return found


def _by_rows(prefix: torch.nn.Sequential, point: torch.Tensor) -> list[float]:
    """Return seconds of the rows of one Jacobian by autograd, and of LAPACK before and after the gate."""
    point = point.clone().requires_grad_()
    value = prefix(point).flatten()
    chosen = torch.linspace(0, len(value) - 1, min(ROWS, len(value))).long()
    began = time.process_time()
    for row in chosen:
        torch.autograd.grad(value[row], point, retain_graph=True)
    rows = (time.process_time() - began) * len(value) / len(chosen)
    with torch.no_grad():
        # LAPACK's time depends on the size, hardly on the entries.
        jacobian = torch.randn(
            len(value), point.numel(), dtype=torch.float64, generator=torch.Generator().manual_seed(1)
        )
        began = time.process_time()
        torch.linalg.svdvals(jacobian)
        jacobian.mul_((value > 0).unsqueeze(1))
        torch.linalg.svdvals(jacobian)
    return [rows, time.process_time() - began]


def run(quick: bool) -> list[Measurement]:
    """Measure both in one process with one thread."""
    rows, memory = in_fresh_process("benchmarks.stability", "compared", quick)
    found = []
    for name, size, seconds, *others in rows:
        reference = sum(others) if others else None
        found.append(
            Measurement(
                f"{name}, {size:,} entries, and its gate",
                seconds,
                None if reference is None else seconds / reference,
                reference,
                detail=f"rows {others[0]:.3g} s, decompositions {others[1]:.3g} s" if others else "",
            )
        )
    total = sum(seconds for _, _, seconds, *_ in rows)
    detail = f"50 samples: {50 * total / 60:.2g} min of one core; seconds of the processor, beside other work"
    return [*found, Measurement("all layers of one sample", total, memory=memory, detail=detail)]
