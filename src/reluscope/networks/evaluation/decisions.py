"""How a network's class is read from its outputs, and the network whose largest output is the class.

Most classifiers mean their largest output. Some mean the smallest, such as controllers whose outputs are costs; a
network with one output has class 1 above a threshold. All of that is one affine step behind the outputs: on scores the
largest one wins, the lowest at a tie, and with one score f the classes are 0 (f <= 0) and 1 (f > 0).
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
import torch
from jaxtyping import Float

from reluscope.arguments import describe
from reluscope.errors import InputError
from reluscope.networks.graph.left_off import LeftOff, range_of
from reluscope.networks.graph.operators.elementwise import ScaleShift
from reluscope.networks.passes.network_graph import Decision, NetworkGraph

N = TypeVar("N", bound=NetworkGraph)


def read_decision(decision: Any, num_outputs: int, left_off: LeftOff | None = None) -> Decision:
    """Return how classes are read from a network's outputs, checked against their number.

    A number is a threshold of the file's output, and is carried through what was left off. Raises InputError for other
    decisions, and for a threshold that all outputs are above, or none.
    """
    is_number = isinstance(decision, int | float | np.integer | np.floating) and not isinstance(decision, bool)
    if is_number and np.isfinite(decision):
        if num_outputs != 1:
            raise InputError(
                f"a threshold reads the class of one output, and this network has {num_outputs}: give "
                'decision="largest" or decision="smallest"'
            )
        return float(decision) if left_off is None else _threshold(float(decision), left_off)
    if decision not in ("largest", "smallest"):
        raise InputError(f'decision must be "largest", "smallest" or a finite threshold, got {describe(decision)}')
    if decision == "smallest" and num_outputs == 1:
        raise InputError(
            "the smallest of one output tells no classes apart: give the threshold above which the class is 1"
        )
    return "largest" if decision == "largest" else "smallest"


def _threshold(level: float, left_off: LeftOff) -> float:
    """Return the number nearest to that above which a network's one output is where the file's is above a level."""
    if left_off.is_softmax and not left_off.of_two:
        raise InputError(
            f"a threshold reads the class of one output that varies, and this file ends with a {left_off.name} of one, "
            f"which is {'0' if left_off.name == 'log_softmax' else '1'} everywhere: leave it out"
        )
    function = left_off.function
    lower, upper = function.lower, function.upper
    exact = Fraction(level)
    if (lower is not None and exact <= lower) or (upper is not None and exact >= upper):
        raise InputError(
            f"expected a threshold that some outputs are above and some are not, got {level:g} for the "
            f"{'sigmoid' if left_off.of_two else left_off.name} that the file ends with: give one "
            f"{range_of(left_off)}"
        )
    return float(sum(function.inverse(exact)) / 2)


def scores(outputs: Float[np.ndarray, "s m"], decision: Decision) -> Float[np.ndarray, "s m"]:
    """Return the scores of outputs: themselves, their negatives, or their excess over the threshold."""
    if decision == "largest" or decision == 0:
        return outputs
    return -outputs if decision == "smallest" else outputs - decision


def scores_network(network: N) -> N:
    """Return the network whose outputs are the scores: itself if the largest output is the class."""
    decision, output = network.decision, network.output
    if decision == "largest" or decision == 0:
        return network
    shape = network.output_shape
    node = ScaleShift(name="scores", inputs=(output,), shape=shape, input_shapes=(shape,))
    constant = {"dtype": torch.float64, "device": network.device}
    if decision == "smallest":
        node = replace(node, scale=torch.tensor(-1.0, **constant))
    else:
        node = replace(node, shift=torch.tensor(-float(decision), **constant))
    nodes, position = (*network.nodes, node), len(network.nodes)
    return replace(network, nodes=nodes, output=position, decision="largest", left_off=None, trace=None)
