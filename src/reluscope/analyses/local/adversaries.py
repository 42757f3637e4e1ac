"""Adversaries near given points: projected gradient ascent of the cross-entropy, within a ball and a box.

Every step goes along the gradient, scaled to the norm of the ball (its sign for linf), then back into the ball and
into the box. What is returned is the iterate of the largest loss, not a certificate: no adversary found means nothing.

Reference: Madry et al., "Towards deep learning models resistant to adversarial attacks", 2018, without random starts.
"""

from collections import deque
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from reluscope.analyses.classification.class_predictions import read_classes
from reluscope.arguments import Count, Positive, read_arguments
from reluscope.errors import InputError
from reluscope.geometry.numbers.norms import AnyNorm, Norm
from reluscope.geometry.polyhedra.domains import Box
from reluscope.networks.evaluation.backward import Recording
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.graph.points import Points, chunks
from reluscope.networks.input_units import InputUnits
from reluscope.networks.network import Network
from reluscope.networks.passes.network_graph import BUDGET
from reluscope.networks.passes.numbers import NUMBERS

# So many times the radius is the length of all steps together, which lets the walk turn inside the ball.
REACH = 2.5


@read_arguments
def pgd(
    network: Network,
    x: Points,
    labels: Int[np.ndarray, " s"],
    *,
    radius: Positive,
    steps: Count = 40,
    norm: AnyNorm = "linf",
    box: Box | None = None,
) -> Float[np.ndarray, "s n"]:
    """Return points near the given points at which the loss of their labels is large.

    Parameters
    ----------
    network : Network
        A classifier; a single output f stands for the logits (0, f).
    x : (s, *input_shape) or (s, n)
    labels : (s,) int
        The classes to leave.
    radius : float
        Of the ball around each point, in the units of the inputs.
    steps : int
        Each step has length 2.5 radius / steps.
    norm : "linf", "l2" or Norm
        Norm of the ball; a `Norm` may have one weight per input.
    box : Box, optional
        Allowed inputs; it contains the given points.

    Returns
    -------
    (s, n) float64
        Deterministic; the point itself if no step had a larger loss.

    Raises
    ------
    InputError
        If a label is not a class, a point lies outside the box, or an option is out of range.
    ShapeError
        If there is not one label per point, or the box has another dimension.

    Notes
    -----
    One forward and one backward pass per step.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))])
    >>> rs.local.pgd(net, [[2.0, 1.0]], np.array([0]), radius=0.75)
    array([[1.25, 1.75]])
    """
    network = network.scores
    points = network.points(x)
    number = len(points)
    labels = read_classes(network, labels, number)
    norm = Norm.of(norm)
    if norm.order == 1:
        raise InputError(f'norm must be "linf" or "l2", perhaps with weights, got {str(norm)!r}')
    sides = points.new_tensor(InputUnits.of(norm, network.num_inputs).sides).reshape(network.input_shape)
    balls = _Balls(norm, radius, sides, *_bounds(network, points, box))
    tape = 4 * 8 * sum(node.size for node in network.nodes)
    found = [
        _ascend(network, points[rows], torch.as_tensor(labels[rows], device=points.device), steps, balls)
        for rows in chunks(number, tape, BUDGET)
    ]
    return torch.cat(found).reshape(number, -1).cpu().numpy()


def _bounds(network: Network, points: Tensor, box: Box | None) -> tuple[Tensor, Tensor]:
    if box is None:
        low, high = (points.new_full(network.input_shape, end) for end in (-torch.inf, torch.inf))
        return low, high
    read_domain(box, network.num_inputs)
    low, high = (points.new_tensor(end).reshape(network.input_shape) for end in (box.lo, box.hi))
    outside = ((points < low) | (points > high)).flatten(1).any(dim=1)
    if bool(outside.any()):
        raise InputError(f"point {int(outside.nonzero()[0])} lies outside the box: clip it first, or leave the box out")
    return low, high


class _Balls(NamedTuple):
    """Balls of one radius, cut by a box; vectors over ``sides`` have the norm without weights."""

    norm: Norm
    radius: float
    sides: Tensor
    low: Tensor
    high: Tensor

    def steepest(self, gradient: Tensor) -> Tensor:
        """Return vectors of norm 1 along which a loss grows fastest."""
        gradient = gradient * self.sides
        if self.norm.order == torch.inf:
            return self.sides * gradient.sign()
        length = _lengths(gradient)
        return self.sides * torch.where(length > 0, gradient / length.clamp_min(torch.finfo(torch.float64).tiny), 0.0)

    def nearest(self, x: Tensor, center: Tensor) -> Tensor:
        """Return points moved into the balls around centres, and then into the box."""
        away = (x - center) / self.sides
        if self.norm.order == torch.inf:
            away = away.clamp(-self.radius, self.radius)
        else:
            away = away * (self.radius / _lengths(away).clamp_min(self.radius))
        return torch.minimum(torch.maximum(center + self.sides * away, self.low), self.high)


def _ascend(network: Network, start: Tensor, labels: Tensor, steps: int, balls: _Balls) -> Tensor:
    here, best = start, start
    most = start.new_full((len(start),), -torch.inf)
    for step in range(steps + 1):
        recording = Recording(network, here, NUMBERS)
        output = deque(recording.values(), maxlen=1)[0]
        with torch.enable_grad():
            logits = output.reshape(len(here), -1)
            if logits.shape[1] == 1:
                logits = torch.cat([torch.zeros_like(logits), logits], dim=1)
            loss = torch.nn.functional.cross_entropy(logits, labels, reduction="none")
        gradient = recording.pull_back(loss, torch.ones_like(loss)[None])[0].reshape(here.shape)
        loss = loss.detach()
        best = torch.where(_per_point(loss > most, best), here, best)
        most = torch.maximum(loss, most)
        if step < steps:
            here = balls.nearest(here + REACH * balls.radius / steps * balls.steepest(gradient), start)
    return best


def _per_point(values: Tensor, like: Tensor) -> Tensor:
    return values.reshape(-1, *(1,) * (like.ndim - 1))


def _lengths(vectors: Tensor) -> Tensor:
    return _per_point(torch.linalg.vector_norm(vectors.flatten(1), dim=1), vectors)
