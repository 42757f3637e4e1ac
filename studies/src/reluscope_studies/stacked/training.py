"""Training many small dense networks at once: one forward pass, one backward pass and one optimiser step for all.

Losses are added up and optimisers work entry by entry, so that every network is trained as it would be by itself. The
backward pass is written out: with values laid out as (networks, units, samples) it is two batched products per layer,
into memory that is there already.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import ArrayLike
from torch import Tensor
from torch.nn.functional import leaky_relu_
from torch.optim import Optimizer

from reluscope.arguments import Count, Natural, Seed, read_arguments
from reluscope.errors import InputError, ShapeError
from reluscope.extending.analyses import Progress, ProgressFunction, Shown, one_thread, share_done
from reluscope_studies.stacked.evaluation import losses_of
from reluscope_studies.stacked.loss_functions import LossFunction, loss_function, read_targets
from reluscope_studies.stacked.stack import Stack

# Parameters, their gradients, what the optimiser keeps, and two numbers per unit and sample: a chunk of them stays in
# the cache of a core, and on a GPU fills it.
CHUNK_BYTES = {"cpu": 4 * 2**20, "cuda": 2**30}
# Networks that are done are taken out of a chunk once they are this share of it.
DONE_SHARE = 0.25

Goal = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True, eq=False, repr=False)
class Trained(Shown):
    """Trained networks, with their losses and numbers of epochs.

    Parameters
    ----------
    stack : Stack
        In the order in which they were given; where the goal was reached, as they were then.
    losses : (k,) tensor
        On all samples, at the end.
    epochs : (k,) tensor of int
        Passes over the samples up to the goal, or all.
    reached : (k,) tensor of bool
        Where the goal was reached; False without one.
    snapshots : tuple of Stack
        The networks after the steps that were asked for.
    """

    stack: Stack
    losses: Float[Tensor, " k"]
    epochs: Int[Tensor, " k"]
    reached: Bool[Tensor, " k"]
    snapshots: tuple[Stack, ...] = ()


@read_arguments
def train(
    stack: Stack,
    x: ArrayLike | Tensor,
    y: ArrayLike | Tensor,
    *,
    loss: str,
    optimizer: Callable[[list[Tensor]], Optimizer],
    epochs: Natural,
    batch: Count | None = None,
    order: Seed | Sequence[Seed] = 0,
    goal: Goal | None = None,
    snapshots: Sequence[Natural] = (),
    chunk: Count | None = None,
    progress: Progress = False,
) -> Trained:
    """Train every network of a stack by itself, all at once.

    Parameters
    ----------
    stack : Stack
        First weights; they stay as they are.
    x : (s, n)
        Samples of all networks.
    y : (s,), (s, m) or (k, s, m)
        Targets of all networks, or of each its own; for cross-entropies 0 and 1.
    loss : {"mse", "bce", "cross_entropy"}
        Mean squared error, binary cross-entropy with logits, or cross-entropy of as many classes as outputs, whose
        targets are the classes' probabilities.
    optimizer : callable
        Takes a list of parameters and returns an optimiser that works entry by entry, as SGD and Adam do with or
        without momentum and weight decay: ``partial(torch.optim.Adam, lr=0.025, fused=True)``.
    epochs : int
        Passes over the samples, at most.
    batch : int, optional
        Samples per step; by default all, in one step per epoch.
    order : int or sequence of int
        Seed of the order of samples in batches: one order for all networks, or one seed per network, each its own.
    goal : callable, optional
        Takes outputs and targets (k, s, m) on all samples, and says which networks are done; asked before every epoch
        and after the last. `signs_agree` is one.
    snapshots : sequence of int
        Numbers of steps, in ascending order, after which a copy of all networks is kept; 0 is before the first step.
    chunk : int, optional
        Networks that are trained at once; by default as many as fit into the cache.
    progress : bool or callable
        Show the share of the work that is done, or a function that is told it, from 0 to 1.

    Returns
    -------
    Trained

    Raises
    ------
    InputError, ShapeError
        If epochs, batch, order or chunk make no sense, or points or targets do not fit.

    Notes
    -----
    A network depends on its own first weights, targets and order; on the others, and on the chunk, only as far as
    the library rounds products of other sizes otherwise. A network that diverges does so alone: its loss is not finite.
    On one core a step takes about 1 microsecond for a network of 10 units on 16 samples, and 4 for one of 5 x 10.

    Examples
    --------
    >>> from functools import partial
    >>> from reluscope_studies.stacked import initialize, signs_agree
    >>> stack = initialize((4,), num_inputs=2, seeds=range(20), scheme="he", leak=0.1)
    >>> adam = partial(torch.optim.Adam, lr=0.025)
    >>> done = train(stack, [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0.0, 1.0, 1.0, 0.0], loss="bce",
    ...              optimizer=adam, epochs=1000, goal=signs_agree)
    >>> done.reached.float().mean().item() > 0.5
    True
    """
    function = loss_function(loss)
    points = stack.read_points(x)
    targets = read_targets(stack, y, len(points))
    seeds = [order] * len(stack) if isinstance(order, int) else list(order)
    if epochs < 0 or (batch is not None and batch < 1) or (chunk is not None and chunk < 1):
        raise InputError(f"expected epochs >= 0, batch and chunk >= 1, got {epochs}, {batch} and {chunk}")
    last = epochs * -(-len(points) // (batch or len(points)))
    if list(snapshots) != sorted(set(snapshots) & set(range(last + 1))):
        raise InputError(f"expected snapshots after steps from 0 to {last:,}, in ascending order, got {snapshots}")
    if len(seeds) != len(stack):
        raise ShapeError(f"expected one seed of the order, or one per network, got {len(seeds)} for {len(stack)}")
    at_once = chunk or _networks_at_once(stack, min(batch or len(points), len(points)))
    parts: list[Trained] = []
    with share_done("training", progress) as report:
        for start in range(0, len(stack), at_once):
            rows = slice(start, start + at_once)
            samples = _Samples(points, targets[rows].transpose(1, 2), batch, isinstance(order, int), seeds[rows])
            chosen = stack.take(rows)
            report_part = partial(_report_part, report, start / len(stack), len(chosen) / len(stack))
            with one_thread() if stack.device.type == "cpu" else nullcontext():
                parts.append(
                    _train_together(chosen, samples, function, optimizer, epochs, goal, snapshots, report_part)
                )
    found, took, reached = (
        torch.cat([getattr(part, name) for part in parts]) for name in ("losses", "epochs", "reached")
    )
    taken = [_joined(stack, one) for one in zip(*(part.snapshots for part in parts), strict=True)]
    return Trained(_joined(stack, [part.stack for part in parts]), found, took, reached, tuple(taken))


def _joined(stack: Stack, parts: Sequence[Stack]) -> Stack:
    """Return the stack with the parameters of its chunks."""
    weights, biases = (
        tuple(map(torch.cat, zip(*(getattr(part, name) for part in parts), strict=True)))
        for name in ("weights", "biases")
    )
    return replace(stack, weights=weights, biases=biases)


class _Samples:
    """Samples in columns, x (n, s) and y (k, m, s), and their orders in batches."""

    def __init__(
        self, points: Tensor, targets: Tensor, batch: int | None, is_shared: bool, seeds: Sequence[int]
    ) -> None:
        self.points, self.x, self.y = points, points.T.contiguous(), targets.contiguous()
        self.batch, self.is_shared = batch, is_shared
        self.generators = [torch.Generator().manual_seed(int(seed)) for seed in (seeds[:1] if is_shared else seeds)]

    def take(self, rows: Tensor) -> None:
        """Keep the targets and orders of some networks."""
        self.y = self.y[rows]
        if not self.is_shared:
            self.generators = [self.generators[row] for row in rows.tolist()]

    def batches(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield x, (n, b) for all networks or (k, n, b), and y (k, m, b), of one pass over the samples."""
        if self.batch is None:
            yield self.x, self.y
            return
        number = self.x.shape[1]
        orders = torch.stack([torch.randperm(number, generator=generator) for generator in self.generators])
        for rows in orders.to(self.x.device).split(self.batch, dim=1):
            if self.is_shared:
                # Samples are rows of memory; taken out of columns, entry by entry, they take longer than the step.
                yield self.points[rows[0]].T, self.y[:, :, rows[0]]
            else:
                index = rows[:, None, :]
                shape = (-1, self.y.shape[1], -1)
                yield self.points[rows].transpose(1, 2), self.y.gather(2, index.expand(shape))


class _Descent:
    """Parameters of some networks during training, with memory for their values."""

    def __init__(self, stack: Stack, optimizer: Callable[[list[Tensor]], Optimizer]) -> None:
        self.leak, self.make = stack.leak, optimizer
        pairs = zip(stack.weights, stack.biases, strict=True)
        self.parameters = [one.clone(memory_format=torch.contiguous_format) for pair in pairs for one in pair]
        self.optimizer = optimizer(_with_gradients(self.parameters))
        # Memory by number of samples: values, and derivatives of the losses by them.
        self.rooms: dict[int, tuple[list[Tensor], list[Tensor]]] = {}

    @property
    def layers(self) -> list[tuple[Tensor, Tensor]]:
        return list(zip(self.parameters[::2], self.parameters[1::2], strict=True))

    def forward(self, x: Tensor) -> Tensor:
        """Return outputs (k, m, b)."""
        values, _ = self._room(x.shape[-1])
        read = x
        for layer, ((weight, bias), value) in enumerate(zip(self.layers, values, strict=True)):
            if read.ndim == 2:  # all networks read the same: one product
                flat = value.view(-1, value.shape[2])
                torch.addmm(bias.view(-1, 1), weight.view(-1, weight.shape[2]), read, out=flat)
            else:
                torch.baddbmm(bias[:, :, None], weight, read, out=value)
            if layer + 1 < len(values):
                leaky_relu_(value, self.leak)
            read = value
        return read

    def step(self, x: Tensor, slopes: Tensor) -> None:
        """Step down, given the derivatives (k, m, b) of the losses by the outputs of the forward pass just made."""
        values, backs = self._room(x.shape[-1])
        backs[-1].copy_(slopes)
        for layer, (weight, bias) in reversed(list(enumerate(self.layers))):
            read, back = (values[layer - 1] if layer else x), backs[layer]
            assert weight.grad is not None
            assert bias.grad is not None
            torch.sum(back, dim=2, out=bias.grad)
            if read.ndim == 2:
                torch.mm(back.view(-1, back.shape[2]), read.T, out=weight.grad.view(-1, weight.shape[2]))
            else:
                torch.bmm(back, read.transpose(1, 2), out=weight.grad)
            if layer:
                before = backs[layer - 1]
                torch.bmm(weight.transpose(1, 2), back, out=before)
                torch.ops.aten.leaky_relu_backward.grad_input(before, read, self.leak, True, grad_input=before)
        self.optimizer.step()

    def take(self, rows: Tensor) -> None:
        """Keep some of the networks, and the state of the optimiser for them."""
        found = [one[rows] for one in self.parameters]
        optimizer = self.make(_with_gradients(found))
        for old, new in zip(self.parameters, found, strict=True):
            optimizer.state[new] = {
                name: kept[rows] if isinstance(kept, Tensor) and kept.shape == old.shape else kept
                for name, kept in self.optimizer.state[old].items()
            }
        self.parameters, self.optimizer = found, optimizer
        self.rooms = {}

    def _room(self, number: int) -> tuple[list[Tensor], list[Tensor]]:
        if number not in self.rooms:
            values, backs = ([bias.new_empty(*bias.shape, number) for _, bias in self.layers] for _ in range(2))
            self.rooms[number] = values, backs
        return self.rooms[number]


@torch.no_grad()
def _train_together(
    stack: Stack,
    samples: _Samples,
    loss: LossFunction,
    optimizer: Callable[[list[Tensor]], Optimizer],
    epochs: int,
    goal: Goal | None,
    snapshots: Sequence[int],
    report: ProgressFunction,
) -> Trained:
    """Train a chunk."""
    targets = samples.y
    descent = _Descent(stack, optimizer)
    final = [one.clone() for one in descent.parameters]
    took = torch.full((len(stack),), epochs, device=stack.device)
    reached = torch.zeros(len(stack), dtype=torch.bool, device=stack.device)
    # Which networks are still in the chunk.
    present = torch.arange(len(stack), device=stack.device)
    taken: list[Stack] = []

    def current() -> Stack:
        """Return the networks as they are now, and those that have reached the goal as they were then."""
        parameters, rest = [one.clone() for one in final], ~reached[present]
        for kept, one in zip(parameters, descent.parameters, strict=True):
            kept[present[rest]] = one[rest]
        return replace(stack, weights=tuple(parameters[::2]), biases=tuple(parameters[1::2]))

    step = 0
    for epoch in range(epochs + 1):
        outputs = None
        if goal is not None or (samples.batch is None and epoch < epochs):
            outputs = descent.forward(samples.x)
        if goal is not None and outputs is not None:
            done = goal(outputs.transpose(1, 2), samples.y.transpose(1, 2)) & ~reached[present]
            if done.any():
                rows = present[done]
                reached[rows], took[rows] = True, epoch
                for kept, one in zip(final, descent.parameters, strict=True):
                    kept[rows] = one[done]
                open_ = ~reached[present]
                if not open_.any():
                    break
                if open_.float().mean() <= 1 - DONE_SHARE:
                    stay = open_.nonzero()[:, 0]
                    present = present[stay]
                    descent.take(stay)
                    samples.take(stay)
                    outputs = None
        if epoch == epochs:
            break
        for x, y in samples.batches():
            if step in snapshots:
                taken.append(current())
            if outputs is None or samples.batch is not None:
                outputs = descent.forward(x)
            descent.step(x, loss.slopes(outputs, y).div_(y[0].numel()))
            step += 1
        if epoch % 64 == 0:
            report(epoch / epochs)
    report(1.0)
    trained = current()
    # After the last step, and after the goal, nothing changes.
    taken += [trained] * (len(snapshots) - len(taken))
    found = losses_of(trained, samples.x.T, targets.transpose(1, 2), loss)
    return Trained(trained, found, took, reached, tuple(taken))


def _with_gradients(parameters: list[Tensor]) -> list[Tensor]:
    for one in parameters:
        one.requires_grad_()
        one.grad = torch.zeros_like(one)
    return parameters


def _networks_at_once(stack: Stack, batch: int) -> int:
    number = sum((reads + 1) * units for reads, units in pairwise(stack.sizes))
    each = stack.dtype.itemsize * (4 * number + 2 * batch * sum(stack.sizes[1:]))
    return max(1, CHUNK_BYTES.get(stack.device.type, CHUNK_BYTES["cuda"]) // each)


def _report_part(report: ProgressFunction, start: float, part: float, share: float) -> None:
    report(start + part * share)
