"""Comparison of every loaded network with its source, at the same points and in float64."""

from collections.abc import Callable

import torch
from torch import Tensor

from reluscope.errors import ConversionMismatchError, InputError, ReluscopeError, ShapeError, UnsupportedOperatorError
from reluscope.networks.evaluation.rounded_forward import rounded_forward
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.networks.passes.provenance import Verification
from reluscope.networks.passes.rounding import ANY_ORDER
from reluscope.tolerance import EPSILON, Tolerance

NUM_POINTS = 24
MAX_DATA_POINTS = 256
# Relative to the largest output: by how much a network may differ from its model.
RELATIVE = 1e-9


def verify(
    network: Network,
    reference: Callable[[Tensor], Tensor],
    *,
    batch: int | None = None,
    tail: Callable[[Tensor], Tensor] | None = None,
    data: Points | None = None,
    name: str,
) -> Verification:
    """Compare a network with the model it was built from, at 24 random points and at most 256 given ones.

    Points are from a fixed seed. Raises ConversionMismatchError, with the point and both values, if an output differs
    by more than 1e-9 of the largest output and by more than rounding explains.
    """
    x = _points(network)
    if data is not None:
        rows = network.points(data).cpu()
        x = torch.cat([x, rows[torch.linspace(0, len(rows) - 1, min(len(rows), MAX_DATA_POINTS)).long()]])
    ours = network(x).cpu()
    if tail is not None:
        ours = tail(ours)
    theirs = _in_batches(reference, x, batch).double()
    theirs = theirs.reshape(len(x), theirs.numel() // len(x))
    if theirs.shape[1] == 0:
        raise ShapeError("expected a model with at least one output, got none")
    ours = ours.reshape(len(x), -1)
    if batch is None:
        _check_alone(network, reference, x[:1], theirs[0])
    if ours.shape != theirs.shape:
        raise ConversionMismatchError(
            f"expected {theirs.shape[1]} outputs as the model has, got {ours.shape[1]}: please report this model"
        )
    overflows = theirs.isinf() & ~ours.isfinite()
    if bool(overflows.any()):
        point, output = overflows.nonzero()[0].tolist()
        raise InputError(
            f"expected outputs that float64 can hold, but output {output} of the model is "
            f"{theirs[point, output].item()} at the point {_shown(x[point])}: scale its weights down"
        )
    deviation = (ours - theirs).abs()
    wrong = ~(deviation <= RELATIVE * (1.0 + theirs.abs().amax()))
    if bool(wrong.any()):
        wrong &= ~(deviation <= _rounding(network, x) + _replaced(network, x))
    if bool(wrong.any()):
        point = int(wrong.any(1).nonzero()[0])
        output = int(deviation[point].nan_to_num(torch.inf).argmax())
        raise ConversionMismatchError(
            f"expected the network to agree with the model, but output {output} is {ours[point, output].item():.12g} "
            f"in the network and {theirs[point, output].item():.12g} in the model at the point {_shown(x[point])}: "
            "please report this model"
        )
    return Verification(len(x), float(deviation.max()) if deviation.numel() else 0.0, name)


def _rounding(network: Network, x: Tensor) -> Tensor:
    """Return how far two evaluations of each point may be apart by rounding alone, whatever the order of sums.

    What a softmax or the like makes of two outputs is no farther apart than twice the farthest of them. Where bounds
    overflow, nothing is allowed for.
    """
    errors = rounded_forward(network, x, tolerance=Tolerance(rounding=ANY_ORDER / EPSILON)).errors
    return torch.from_numpy(4 * errors.max(axis=1, keepdims=True)).nan_to_num(0.0, posinf=0.0)


def _replaced(network: Network, x: Tensor) -> Tensor | float:
    """Return how far the outputs at each point may be apart because pieces took the place of smooth functions."""
    if not network.approximations:
        return 0.0
    from reluscope.networks.approximation_error import largest_distances

    points = x.to(network.device)
    return largest_distances(network, points, points).amax(1, keepdim=True).cpu()


def _points(network: Network) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    shape = (NUM_POINTS // 3, *network.input_shape)
    normal = torch.randn(shape, dtype=torch.float64, generator=generator)
    wide = 10.0 * torch.randn(shape, dtype=torch.float64, generator=generator)
    return torch.cat([normal, wide, torch.rand(shape, dtype=torch.float64, generator=generator)])


def _in_batches(reference: Callable[[Tensor], Tensor], x: Tensor, batch: int | None) -> Tensor:
    """Run the reference in batches of the size it insists on; the last one is filled up with its first point."""
    if batch is None:
        return reference(x)
    parts = []
    for start in range(0, len(x), batch):
        part = x[start : start + batch]
        filled = torch.cat([part, part[:1].expand(batch - len(part), *part.shape[1:])])
        parts.append(reference(filled).reshape(batch, -1)[: len(part)])
    return torch.cat(parts)


def _check_alone(network: Network, reference: Callable[[Tensor], Tensor], point: Tensor, expected: Tensor) -> None:
    """Refuse a model that treats a point alone in another way than in a batch."""
    try:
        alone = reference(point).reshape(-1).double()
    except ReluscopeError:
        raise
    except Exception:
        return  # some models insist on several points, which is no contradiction
    apart = float((alone - expected).abs().max()) if len(alone) == len(expected) else float("inf")
    if apart > RELATIVE * (1.0 + float(expected.abs().max())) and apart > float(_rounding(network, point)):
        raise UnsupportedOperatorError(
            "expected a model that treats a point alike whatever the batch, but its output at a point alone differs "
            "from the output in a batch: remove what depends on the batch size"
        )


def _shown(point: Tensor) -> str:
    entries = point.reshape(-1)
    shown = ", ".join(f"{entry:.6g}" for entry in entries[:16].tolist())
    return f"[{shown}{', ...' if len(entries) > 16 else ''}] of shape {tuple(point.shape)}"
