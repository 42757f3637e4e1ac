"""The operator RNN with rectified units over sequences of a fixed length."""

from typing import Any

import torch

from reluscope.networks.models.onnx.onnx_site import Activation, NodeSite, lowers
from reluscope.networks.models.operators.recurrence import RecurrentWeights, unrolled


@lowers("RNN")
def rnn(site: NodeSite) -> list[Activation]:
    """Both directions, step by step: states at all steps, and the last ones."""
    kinds = {str(one.decode() if isinstance(one, bytes) else one) for one in site.setting("activations", ["Tanh"])}
    if kinds != {"Relu"}:
        raise site.not_piecewise_linear("recurrent units with Relu", f"has units with {', '.join(sorted(kinds))}")
    if site.given(4) is not None or site.setting("clip") is not None:
        raise site.unsupported("with lengths of sequences or a clip")
    x, builder = site.activation(), site.builder
    whole, in_front = site.whole(x), bool(site.setting("layout", 0))
    axis = 1 if in_front else 0
    batch = x.shape[1 - axis]
    steps = [builder.take(whole, axis, number) for number in range(x.shape[axis])]
    tables: list[Any] = [site.weight(place) for place in (1, 2, 3, 5)]
    into, back, biases, first = tables
    hidden = back.shape[-1]
    if first is None:
        start = torch.zeros(len(into), batch, hidden, dtype=torch.float64)
    else:
        start = first.movedim(1, 0) if in_front else first
    direction, sides = site.setting("direction", "forward"), []
    for side in range(len(into)):
        bias = torch.zeros(hidden, dtype=torch.float64) if biases is None else biases[side].reshape(2, -1).sum(dim=0)
        is_back = direction == "reverse" or side == 1
        found = unrolled(site, steps, RecurrentWeights(into[side], back[side], bias), start[side], reverse=is_back)
        sides.append((found, found[0 if is_back else -1]))
    # (steps, sides, batch, hidden), and the last states without steps.
    every = [builder.reshape(found[step], (batch, hidden)) for step in range(len(steps)) for found, _ in sides]
    ends = [last for _, last in sides]
    shapes = (len(steps), len(sides), batch, hidden), (len(sides), batch, hidden)
    outputs = []
    for parts, shape in zip((every, ends), shapes, strict=True):
        value = builder.reshape(builder.concatenate(parts, 0), shape)
        order = list(range(len(shape)))
        if in_front:  # the batch axis comes first
            order = [order[-2], *order[:-2], order[-1]]
            value = builder.permute(value, order)
        outputs.append(site.close(value, [shape[place] for place in order]))
    return outputs
