"""Training many small networks at once, against one after the other with a fused optimiser, on the same core."""

import time
from functools import partial

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits

from benchmarks.measure import Measurement
from reluscope.single_threaded import one_thread
from reluscope_studies import stacked

TARGET = (
    "at least 50 times the networks per second; 222 classes x 10 trials x 4,000 epochs in about a minute on 2 cores"
)
CLASSES, TRIALS, EPOCHS = 222, 10, 4_000
# Epochs of the networks that are trained one after the other: each takes as long as the last.
SINGLE_NETWORKS, SINGLE_EPOCHS = 3, 300
LEAK = 0.1
ADAM = partial(torch.optim.Adam, lr=0.025, fused=True)
ARCHITECTURES = ((10,), (3, 3), (10, 10, 10, 10, 10))


def run(quick: bool) -> list[Measurement]:
    """Train random functions of four bits in place of the 222 classes, all epochs, and until they are solved."""
    epochs = 60 if quick else EPOCHS
    points = torch.tensor([[float(number >> bit & 1) for bit in range(4)] for number in range(16)])
    generator = torch.Generator().manual_seed(0)
    functions = torch.randint(0, 2, (CLASSES, 16, 1), generator=generator).float().repeat_interleave(TRIALS, dim=0)
    with one_thread():
        # The first step of an optimiser imports much.
        _measure((2,), points, functions[:SINGLE_NETWORKS], 2)
        return [_measure(widths, points, functions, epochs) for widths in ARCHITECTURES]


def _measure(widths: tuple[int, ...], points: torch.Tensor, functions: torch.Tensor, epochs: int) -> Measurement:
    common = {"loss": "bce", "optimizer": ADAM, "epochs": epochs}
    began = time.process_time()
    stack = stacked.initialize(widths, num_inputs=4, seeds=range(len(functions)), scheme="he", leak=LEAK)
    stacked.train(stack, points, functions, **common)
    whole = time.process_time() - began
    began = time.process_time()
    solved = stacked.train(stack, points, functions, goal=stacked.signs_agree, **common)
    stopped = time.process_time() - began
    began = time.process_time()
    for index in range(SINGLE_NETWORKS):
        _train_alone(stack.module(index), points, functions[index])
    single = (time.process_time() - began) / SINGLE_NETWORKS / SINGLE_EPOCHS * epochs
    each = whole / len(functions)
    detail = (
        f"{len(functions):,} networks, {epochs:,} epochs: {1 / each:,.0f} networks/s, {single / each:,.0f} times the "
        f"{1 / single:,.2f} one after the other; {stopped:.2g} s where solved networks stop "
        f"({solved.reached.float().mean():.0%}); processor time of one core"
    )
    case = "4-" + "-".join(map(str, widths)) + "-1"
    return Measurement(case, whole, each / single, single * len(functions), None, detail)


def _train_alone(module: nn.Module, points: torch.Tensor, targets: torch.Tensor) -> None:
    optimizer = ADAM(list(module.parameters()))
    for _ in range(SINGLE_EPOCHS):
        optimizer.zero_grad()
        binary_cross_entropy_with_logits(module(points), targets).backward()
        optimizer.step()
