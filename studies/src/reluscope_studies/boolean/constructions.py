"""Networks with proven weights for Boolean functions, through one direction of the cube (Sattelberg, Section 3.3.2).

Along a direction w a function is a row of classes on a line, and a network of one input that tells them apart becomes
one for the function by reading ``w . x``. Every construction is verified on all inputs in rational arithmetic before it
is handed out. The printed theorems are off by one in places; what is built here:

- one hidden layer of s units for s changes (Theorem 3.3.2, which says s - 1 nodes for s intervals);
- l layers of w units for w^l changes, so parity of n <= w^l inputs (Theorems 3.3.3, 3.3.4);
- s - 1 layers of 2 ReLUs for s changes, by folding the line (s >= 2);
- s - 1 units in one layer for s changes where a linear program finds the weights (Section 3.4.2 saw that it happens).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise, product
from math import gcd

import numpy as np
import torch
from torch import nn

from reluscope import Network
from reluscope.arguments import Count, read_arguments
from reluscope.errors import InputError, SolverError
from reluscope.extending.analyses import GraphBuilder, LinearProgram, RationalNetwork, refuse_left_off
from reluscope_studies.boolean.directions import Direction, levels
from reluscope_studies.boolean.function import BooleanFunction, all_inputs, check_num_inputs

Run = tuple[Fraction, Fraction]
# Weights and constants, as fractions until they are rounded.
Layer = tuple[np.ndarray, np.ndarray]
_MAX_PROGRAMS = 2_000


@dataclass(frozen=True, eq=False)
class Construction:
    """A network whose output is positive where a function is 1, and negative where it is 0.

    Parameters
    ----------
    module : nn.Sequential
        In float64; reads inputs of zeros and ones.
    widths : tuple of int
        Units of each hidden layer.
    leak : float
        Slope of the units below zero.
    method : str
        Which theorem or search gave it.
    """

    module: nn.Sequential
    widths: tuple[int, ...]
    leak: float
    method: str

    @property
    def num_units(self) -> int:
        """Number of hidden units."""
        return sum(self.widths)


@read_arguments
def by_width(function: BooleanFunction, direction: Direction, *, leak: float = 0.0) -> Construction:
    """Return a network of one hidden layer with as many units as the function changes along a direction.

    Parameters
    ----------
    function : BooleanFunction
    direction : (n,) array of whole numbers
        For instance that of `swaps`; inputs with the same ``x . direction`` must have the same value.
    leak : float
        Slope of the units below zero, from 0 to less than 1.

    Returns
    -------
    Construction
        Verified on all inputs in rational arithmetic.

    Raises
    ------
    InputError
        If the direction gives two inputs of different values the same place, or the leak is out of range.

    Notes
    -----
    The first unit bends at the lowest place and the others in the middle of each run of equal values but the last;
    slopes are such that the output is zero halfway between runs. Lemma A.2.1 with its matrix A.14 transposed.

    Examples
    --------
    >>> xor = BooleanFunction.of_formula("x1 ^ x2")
    >>> by_width(xor, [1, 1]).widths
    (2,)
    """
    runs = _runs(function, direction)
    method = f"Theorem 3.3.2: one hidden layer, a unit per change along {_shown(direction)}"
    return _finished(function, _along(direction, _line_by_width(runs, exact_leak(leak))), leak, method)


@read_arguments
def by_depth(function: BooleanFunction, direction: Direction) -> Construction:
    """Return a network of layers of two ReLUs: one layer less than the function changes along a direction.

    Parameters
    ----------
    function : BooleanFunction
    direction : (n,) array of whole numbers
        As for `by_width`.

    Returns
    -------
    Construction
        Verified on all inputs in rational arithmetic. Up to 2 changes it is that of `by_width`.

    Notes
    -----
    Each layer lays the last run of values onto the last but two, which has the same value: ``x`` up to the middle of
    the last gap, then steeply down, then constant. Two bends, so two units.

    Examples
    --------
    >>> parity = BooleanFunction.of_formula("x1 ^ x2 ^ x3 ^ x4")
    >>> by_depth(parity, [1, 1, 1, 1]).widths
    (2, 2, 2)
    """
    runs, layers = _runs(function, direction), []
    read_weight, read_bias = np.ones((1, 1), dtype=object), np.zeros(1, dtype=object)
    while len(runs) > 3:
        target, bend, end = runs[-3][1], (3 * runs[-2][1] + runs[-1][0]) / 4, runs[-1][0]
        steepness = (bend - target) / (end - bend)
        layers.append(_read(np.array([[-1], [-1]], dtype=object), [end, bend], read_weight, read_bias))
        read_weight = np.array([[steepness, -1 - steepness]], dtype=object)
        read_bias = np.array([target], dtype=object)
        runs = runs[:-1]
    first, *rest = _line_by_width(runs, Fraction(0))
    layers += [_read(first[0], first[1], read_weight, read_bias), *rest]
    method = f"two units per layer, folding the line along {_shown(direction)}"
    return _finished(function, _along(direction, layers), 0.0, method)


@read_arguments
def parity_network(
    num_inputs: Count, *, width: Count, depth: Count, leak: float = 0.0, negated: bool = False
) -> Construction:
    """Return a network for parity of n inputs with l layers of w units, n <= w^l.

    Parameters
    ----------
    num_inputs, width, depth : int
    leak : float
        Slope of the units below zero, from 0 to less than 1.
    negated : bool
        For the negation of parity.

    Returns
    -------
    Construction
        Verified on all inputs in rational arithmetic.

    Raises
    ------
    InputError
        If w^l is less than n.

    Examples
    --------
    >>> parity_network(9, width=3, depth=2).widths
    (3, 3)
    """
    if not 1 <= num_inputs <= width**depth:
        raise InputError(
            f"expected at most width ** depth = {width**depth} inputs and at least one, got {num_inputs}: use more "
            "units or layers"
        )
    check_num_inputs(num_inputs)
    table = all_inputs(num_inputs).sum(axis=1) % 2
    function = BooleanFunction.of_values(table ^ negated)
    return alternating(function, np.ones(num_inputs, dtype=np.int64), width=width, depth=depth, leak=leak)


@read_arguments
def alternating(
    function: BooleanFunction, direction: Direction, *, width: Count, depth: Count, leak: float = 0.0
) -> Construction:
    """Return a network of l layers of w units for a function that alternates at evenly spaced places of a direction.

    Parameters
    ----------
    function : BooleanFunction
    direction : (n,) array of whole numbers
    width, depth : int
        With ``width ** depth`` at least the number of changes.
    leak : float
        Slope of the units below zero, from 0 to less than 1.

    Returns
    -------
    Construction
        A triangle wave of w^l slopes (Theorem 3.3.3), verified on all inputs in rational arithmetic.

    Raises
    ------
    InputError
        If the function does not alternate at evenly spaced places, or changes too often.
    """
    spacing = alternation_spacing(function, direction)
    changes = len(_runs(function, direction)) - 1
    if spacing is None or changes > width**depth:
        raise InputError(
            f"expected a function that alternates at most width ** depth = {width**depth} times at evenly "
            f"spaced places, got {changes} changes{'' if spacing is not None else ' at uneven places'}: use by_width"
        )
    low, slope = _runs(function, direction)[0][0], exact_leak(leak)
    layers = []
    read_weight, read_bias = np.array([[Fraction(1, spacing)]], dtype=object), np.array([-low / spacing], dtype=object)
    # Whole numbers from 0 to w^k go to whole numbers from 0 to w^(k - 1), up and down in turns.
    for power in range(depth - 1, -1, -1):
        bends = [Fraction(index * width**power) for index in range(width)]
        slopes = [Fraction((-1) ** index) for index in range(width)]
        layers.append(_read(np.full((width, 1), 1, dtype=object), [-bend for bend in bends], read_weight, read_bias))
        read_weight, read_bias = _through(bends, slopes, Fraction(0), slope)
    sign = 1 - 2 * int(levels(function, direction)[1][0])  # pyright: ignore[reportOptionalSubscript]
    layers.append((sign * read_weight, sign * (read_bias - Fraction(1, 2))))
    method = f"Theorems 3.3.3 and 3.3.4: a triangle wave along {_shown(direction)}"
    return _finished(function, _along(direction, layers), leak, method)


def alternation_spacing(function: BooleanFunction, direction: Direction) -> int | None:
    """Return the distance of neighbouring places if these are evenly spaced and the value changes at each."""
    found = levels(function, direction)
    if found is None or len(found[0]) < 2:
        return None
    steps = np.diff(found[0])
    return int(steps[0]) if (steps == steps[0]).all() and np.diff(found[1]).all() else None


@read_arguments
def by_search(function: BooleanFunction, direction: Direction, *, leak: float = 0.0) -> Construction | None:
    """Look for a network of one hidden layer with one unit less than the function changes along a direction.

    Parameters
    ----------
    function : BooleanFunction
    direction : (n,) array of whole numbers
        As for `by_width`.
    leak : float
        Slope of the units below zero, from 0 to less than 1.

    Returns
    -------
    Construction or None
        Verified on all inputs in rational arithmetic. None if none was found, which proves nothing.

    Notes
    -----
    w units make w + 1 pieces, enough for w + 1 changes, but one slope is tied to the others. Places of the bends and
    sides of the units are tried, up to 2,000 of them; for each a linear program gives the weights. Plain ReLUs need at
    least 4 changes, leaky ones 3.

    Examples
    --------
    >>> parity = BooleanFunction.of_formula("x1 ^ x2 ^ x3")
    >>> by_search(parity, [1, 1, 1]), by_search(parity, [1, 1, 1], leak=0.1).widths
    (None, (2,))
    """
    runs, slope = _runs(function, direction), exact_leak(leak)
    if len(runs) < 4:
        return None
    found = levels(function, direction)
    assert found is not None
    places = np.array([float(end) for run in runs for end in run])
    signs = np.repeat((-1.0) ** np.arange(len(runs)), 2) * (2 * int(found[1][0]) - 1)
    inner = [sorted({low, (low + high) / 2, high}) for low, high in runs[1:-1]]
    sides = list(product((1, -1), repeat=len(inner)))
    for tried, (bends, side) in enumerate((bends, side) for bends in product(*inner) for side in sides):
        if tried == _MAX_PROGRAMS:
            break
        seen = np.array(side) * (places[:, None] - np.array([float(bend) for bend in bends]))
        outputs = np.column_stack([np.where(seen > 0, seen, leak * seen), np.ones(len(places))])
        outputs *= signs[:, None] / np.abs(outputs).max()
        number = outputs.shape[1]
        program = LinearProgram(number + 1)
        program.add_rows(np.column_stack([-outputs, np.ones(len(places))]), np.zeros(len(places)))
        program.set_all_bounds(np.append(-np.ones(number), 0.0), np.ones(number + 1))
        solution = program.maximize(np.append(np.zeros(number), 1.0))
        if solution.value > 1e-6:
            layers = [
                (np.array(side, dtype=object)[:, None], np.array([-s * b for s, b in zip(side, bends, strict=True)])),
                (solution.point[None, : number - 1], solution.point[number - 1 : number]),
            ]
            method = f"one unit less than changes along {_shown(direction)}, weights by linear programming"
            return _finished(function, _along(direction, layers), float(slope), method)
    return None


def affine(function: BooleanFunction, weights: tuple[int, ...], constant: int) -> Construction:
    """Return the network without hidden units of a threshold function."""
    layer = (np.array([weights], dtype=object).reshape(1, -1), np.array([constant], dtype=object))
    return _finished(function, [layer], 0.0, "a threshold function")


@read_arguments
def network_of(construction: Construction) -> Network:
    """Return a construction as a network, without tracing the module."""
    builder = GraphBuilder()
    linear = [layer for layer in construction.module if isinstance(layer, nn.Linear)]
    value = builder.input((linear[0].in_features,))
    for number, layer in enumerate(linear):
        value = builder.named(f"layer {number}").linear(value, layer.weight.detach(), layer.bias.detach())
        if number + 1 < len(linear):
            value = builder.named(f"units {number}").leaky_relu(value, construction.leak)
    return builder.build(value)


@read_arguments
def wrong_inputs(function: BooleanFunction, network: Network) -> list[tuple[int, ...]]:
    """Return the inputs at which the output's sign is not the function's, zero included, in rational arithmetic.

    Parameters
    ----------
    function : BooleanFunction
    network : Network
        With n inputs and one output.

    Returns
    -------
    list of (n,) tuples of int
        Empty if the network computes the function: a proof.

    Examples
    --------
    >>> xor = BooleanFunction.of_formula("x1 ^ x2")
    >>> wrong_inputs(xor, network_of(by_width(xor, [1, 1])))
    []
    """
    if (network.num_inputs, network.num_outputs) != (function.num_inputs, 1):
        raise InputError(
            f"expected a network of {function.num_inputs} inputs and one output, got {network.num_inputs} inputs and "
            f"{network.num_outputs} outputs"
        )
    if network.left_off is not None and network.left_off.name != "tanh":
        refuse_left_off("the sign of an output", network.left_off)
    exact = RationalNetwork(network)
    wrong = []
    for point, value in zip(all_inputs(function.num_inputs).tolist(), function.values.tolist(), strict=True):
        output = exact.output([Fraction(entry) for entry in point])[0]
        if output == 0 or (output > 0) != bool(value):
            wrong.append(tuple(point))
    return wrong


def _runs(function: BooleanFunction, direction: Direction) -> list[Run]:
    """Return the lowest and the highest place of every run of equal values along a direction."""
    found = levels(function, np.asarray(direction))
    if found is None:
        raise InputError(
            f"expected a direction along which inputs at the same place have the same value, got {_shown(direction)}: "
            "use the one that swaps returns"
        )
    places, values = found
    starts = np.concatenate([[0], np.flatnonzero(np.diff(values)) + 1])
    ends = np.append(starts[1:], len(values)) - 1
    return [(Fraction(int(places[a])), Fraction(int(places[b]))) for a, b in zip(starts, ends, strict=True)]


def _line_by_width(runs: list[Run], leak: Fraction) -> list[Layer]:
    """Return two layers of one input; the first run gets the positive sign."""
    if len(runs) == 1:
        return [(np.zeros((1, 1), dtype=object), np.ones(1, dtype=object))]
    # Where the output's slope is continued to the left of the first bend, there are no inputs.
    bends = [runs[0][0], *((low + high) / 2 for low, high in runs[1:-1])]
    slopes, height = [], Fraction(1)
    for index, bend in enumerate(bends):
        crossing = (runs[index][1] + runs[index + 1][0]) / 2
        slopes.append(-height / (crossing - bend))
        if index + 1 < len(bends):
            height = slopes[-1] * (bends[index + 1] - crossing)
    weight, bias = _through(bends, slopes, Fraction(1), leak)
    return [(np.ones((len(bends), 1), dtype=object), np.array([-bend for bend in bends], dtype=object)), (weight, bias)]


def _through(bends: list[Fraction], slopes: list[Fraction], start: Fraction, leak: Fraction) -> Layer:
    """Return output weights of units that bend upwards at given places, and the constant.

    The slopes are those to the right of each bend; the value at the first bend is the start.
    """
    steps = [slopes[0] - leak * slopes[-1], *(b - a for a, b in pairwise(slopes))]
    weights = [step / (1 - leak) for step in steps]
    value = sum((weight * leak * (bends[0] - bend) for weight, bend in zip(weights, bends, strict=True)), Fraction(0))
    return np.array([weights], dtype=object), np.array([start - value], dtype=object)


def _read(weight: np.ndarray, bias: object, read_weight: np.ndarray, read_bias: np.ndarray) -> Layer:
    """Return a layer of one input that reads the output of an affine map."""
    return weight @ read_weight, weight @ read_bias + np.array(bias, dtype=object)


def _along(direction: Direction, layers: list[Layer]) -> list[Layer]:
    (weight, bias), *rest = layers
    return [(weight @ np.asarray(direction, dtype=object)[None, :], bias), *rest]


def _finished(function: BooleanFunction, layers: list[Layer], leak: float, method: str) -> Construction:
    modules: list[nn.Module] = []
    for number, (weight, bias) in enumerate(layers):
        linear = nn.Linear(weight.shape[1], weight.shape[0], dtype=torch.float64)
        with torch.no_grad():
            linear.weight.copy_(torch.from_numpy(weight.astype(float)))
            linear.bias.copy_(torch.from_numpy(bias.astype(float)))
        modules.append(linear)
        if number + 1 < len(layers):
            modules.append(nn.LeakyReLU(leak) if leak else nn.ReLU())
    # Runs are built with the first of them positive; the other sign is one of the last layer.
    made = Construction(nn.Sequential(*modules), tuple(len(bias) for _, bias in layers[:-1]), float(leak), method)
    wrong = wrong_inputs(function, network_of(made))
    if len(wrong) == function.size:
        last = modules[-1]
        assert isinstance(last, nn.Linear)
        with torch.no_grad():
            last.weight.neg_()
            last.bias.neg_()
        wrong = wrong_inputs(function, network_of(made))
    if wrong:
        raise SolverError(
            f"expected the network to be right on all {function.size} inputs, and rounding of its weights made it "
            f"wrong on {len(wrong)}: use a direction of smaller whole numbers"
        )
    return made


def exact_leak(leak: float) -> Fraction:
    """Return a slope below zero as a fraction, refused unless it is from 0 to less than 1."""
    if not 0 <= leak < 1:
        raise InputError(f"expected a slope below zero from 0 to less than 1, got {leak}")
    return Fraction(leak)


def _shown(direction: object) -> str:
    whole = [int(entry) for entry in np.asarray(direction)]
    divisor = reduce(gcd, whole, 0) or 1
    return f"({', '.join(str(entry // divisor) for entry in whole)})"
