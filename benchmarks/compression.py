"""Losses of all 2^14 subnetworks of a layer of 14 units in one batch, against one after the other, on the same core."""

import time

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from benchmarks.measure import Measurement
from reluscope.single_threaded import one_thread
from reluscope_studies import boolean, stacked

TARGET = "the losses of all 2^14 subnetworks of a network of width 14 in one batch"
WIDTH, INPUTS = 14, 6
# Networks that are evaluated one after the other: each takes as long as the last.
SINGLE = 500


def run(quick: bool) -> list[Measurement]:
    """Evaluate parity's loss for all subnetworks of an untrained network."""
    width = 8 if quick else WIDTH
    bits = torch.tensor(boolean.all_inputs(INPUTS).tolist(), dtype=torch.float32)
    points, targets = 2 * bits - 1, bits.sum(dim=1) % 2
    stack = stacked.initialize((width,), num_inputs=INPUTS, seeds=[0], scheme="he")
    with one_thread():
        stacked.losses(stack, points, targets, loss="bce")  # the first call imports much
        began = time.process_time()
        every = stacked.subnetworks(stack)
        made = time.process_time() - began
        found = stacked.losses(every, points, targets, loss="bce")
        batch = time.process_time() - began
        numbers = torch.linspace(1, len(every) - 1, min(SINGLE, len(every) - 1)).long().tolist()
        modules = [every.module(number) for number in numbers]
        began = time.process_time()
        with torch.no_grad():
            alone = [float(binary_cross_entropy_with_logits(module(points)[:, 0], targets)) for module in modules]
        single = (time.process_time() - began) / len(numbers)
    difference = (found[numbers] - torch.tensor(alone)).abs().max().item()
    detail = (
        f"{len(every):,} subnetworks on {len(points)} samples: {made:.2g} s to make them, {batch - made:.2g} s for "
        f"their losses, {single * len(every) / batch:,.0f} times as fast as one by one (modules that are there "
        f"already), largest difference {difference:.1g}; processor time of one core"
    )
    case = f"2^{width} subnetworks"
    return [Measurement(case, batch, batch / (single * len(every)), single * len(every), None, detail)]
