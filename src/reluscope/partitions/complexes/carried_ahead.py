"""Values that have gone ahead to the next gate: what a gate's cuts changed, and nothing else, is sent through its map.

A vertex v that cuts have made lies on an edge, at a share t of the way from a to b. The pre-activations f = W h + b of
the next gate are linear in the outputs h of this one, so that

    f(v) = (1 - t) f(a) + t f(b) - W d,        d = (1 - t) h(a) + t h(b) - h(v),

whatever h is. Of ReLUs d is zero but for the units that bend on the edge, of which there are one or two: a vertex costs
some rows of numbers, where a product costs a matrix. Only the vertices that were there before the cuts take a product.
"""

import numpy as np
import torch

from reluscope import _kernels
from reluscope.geometry.cutting.splitting import Subdivision
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.graph.operators.linear import Linear
from reluscope.networks.passes.numbers import product_of_live
from reluscope.networks.passes.stages import Stage, Values
from reluscope.partitions.complexes.chunks import largest

# The entries of a map from which on a product is the dearer way, and the least share of vertices that cuts have made.
LEAST_ENTRIES, LEAST_NEW = 2**13, 0.1


def carried_ahead(following: Stage, stage: Stage, values: Values, work: Subdivision) -> tuple[Values, Values] | None:
    """Return values carried ahead to the next gate, and the sizes of those that it starts from.

    None where products are as good. Only one map may lie between two gates of ReLUs, and it must be large enough.
    """
    gate, leg, position = stage.gate, following.leg, stage.position
    number, old = len(work.heights), len(work.heights) - len(work.tail)
    if not (isinstance(gate, Pointwise) and gate.is_relu and len(leg.plan) == 1 and position not in following.keeps):
        return None
    ((target, node),) = leg.plan
    if not isinstance(node, Linear) or len(node.shape) != 1 or leg.target != target or leg.reads != (position,):
        return None
    is_large = node.weight.numel() >= LEAST_ENTRIES and len(work.tail) >= LEAST_NEW * number
    if not is_large or node.weight.device.type != "cpu":
        return None
    outputs, size = values[position], largest(values[position])
    pre = np.empty((number, len(node.weight)))
    pre[:old] = product_of_live(node, outputs[:old], size.numpy()[0] != 0).numpy()
    _kernels.interpolate_bent(pre, outputs.numpy(), node.weight.numpy(), work.tail, work.head, work.share)
    ahead = {key: value for key, value in values.items() if key != position}
    return {**ahead, target: torch.from_numpy(pre)}, {position: size}
