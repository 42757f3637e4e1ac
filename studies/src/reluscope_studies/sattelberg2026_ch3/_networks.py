"""Many networks that learn Boolean functions at once, by the protocol of the whole chapter.

Adam at rate 0.025 for at most 4,000 epochs on all inputs, minus ones and ones, with binary cross-entropy; weights are
normal with He's variance. The dissertation says nothing of the first biases: here they are PyTorch's usual ones, which
fit the counts of its Table 3.2 where zeros do not.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from jaxtyping import Float, Int

from reluscope.studies import Setting
from reluscope_studies import boolean, stacked

LEAK, EPOCHS, RATE = 0.1, 4_000, 0.025
ADAM = partial(torch.optim.Adam, lr=RATE, fused=True)
# Of PyTorch's seeds those below are for weights, those above for biases.
MAX_SEEDS = 2**31


@dataclass(frozen=True, eq=False)
class Learned:
    """Results of the training of t networks for each of k functions.

    Parameters
    ----------
    epochs : (t, k) int16
        Passes over the inputs until all were right; -1 where that never was.
    right : (t, k) int16
        Inputs that are right at the end.
    """

    epochs: Int[np.ndarray, "t k"]
    right: Int[np.ndarray, "t k"]


def seeds_of(setting: Setting, place: Sequence[int], trials: int, functions: int) -> Int[np.ndarray, "t k"]:
    """Return the seeds of networks at a place in a study: the first ones are the same however many there are."""
    return np.random.default_rng([setting.seed, *place]).integers(MAX_SEEDS, size=(trials, functions))


def first_networks(
    widths: tuple[int, ...], *, num_inputs: int, seeds: Sequence[int], leak: float = 0.0, device: str = "cpu"
) -> stacked.Stack:
    """Return networks with He's normal weights and PyTorch's usual biases."""
    weights = stacked.initialize(widths, num_inputs=num_inputs, seeds=seeds, scheme="he", leak=leak, device=device)
    others = [MAX_SEEDS + seed for seed in seeds]
    return replace(
        weights, biases=stacked.initialize(widths, num_inputs=num_inputs, seeds=others, device=device).biases
    )


def signed_inputs(num_inputs: int) -> Float[np.ndarray, "size n"]:
    """Return all inputs in lexicographic order, as minus ones and ones."""
    return 2.0 * boolean.all_inputs(num_inputs) - 1.0


def learn(
    functions: Sequence[boolean.BooleanFunction],
    widths: tuple[int, ...],
    seeds: Int[np.ndarray, "t k"],
    *,
    leak: float,
    epochs: int,
    device: str,
    progress: bool | Callable[[float], None] = False,
) -> Learned:
    """Train one network for every seed, each for the function of its column, until all its inputs are right.

    Parameters
    ----------
    functions : sequence of k BooleanFunction
        Of as many inputs.
    widths : tuple of int
        Units of the hidden layers.
    seeds : (t, k) int
    leak : float
    epochs : int
        At most.
    device : str
    progress : bool or callable
        Whether to show a bar, or a function that is told the share that is done.
    """
    x = signed_inputs(functions[0].num_inputs)
    targets = np.tile(np.stack([one.values for one in functions]), (len(seeds), 1)).astype(np.float32)[:, :, None]
    flat = seeds.ravel().tolist()
    stack = first_networks(widths, num_inputs=x.shape[1], seeds=flat, leak=leak, device=device)
    done = stacked.train(
        stack,
        x,
        targets,
        loss="bce",
        optimizer=ADAM,
        epochs=epochs,
        goal=stacked.signs_agree,
        progress=progress,
    )
    took = torch.where(done.reached, done.epochs, -1).cpu().numpy()
    # Solved networks have all right; to ask them again would only round otherwise.
    right = np.full(len(flat), len(x))
    missed = (~done.reached).nonzero()[:, 0]
    if len(missed):
        right[missed.cpu().numpy()] = _num_right(done.stack.take(missed), x, targets[missed.cpu().numpy()])
    return Learned(took.reshape(seeds.shape).astype(np.int16), right.reshape(seeds.shape).astype(np.int16))


def _num_right(
    stack: stacked.Stack, x: Float[np.ndarray, "s n"], targets: Float[np.ndarray, "k s 1"], most: int = 1000
) -> Int[np.ndarray, " k"]:
    parts = []
    for start in range(0, len(stack), most):
        outputs = stack.take(slice(start, start + most))(x).cpu().numpy()
        parts.append(((outputs > 0) == (targets[start : start + most] > 0.5)).sum(axis=(1, 2)))
    return np.concatenate(parts)
