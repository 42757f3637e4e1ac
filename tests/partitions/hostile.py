"""Networks made to break exact claims, by seed: rotated, nearly parallel, far away, badly scaled, cancelling."""

from collections.abc import Callable

import numpy as np

import reluscope as rs
from oracles import fractions_plane
from partitions.layered import GATES
from reluscope.findings import Claim
from reluscope.partitions import Partition

Layers = list
Regime = Callable[[np.random.Generator, Layers, rs.Box], tuple[Layers, rs.Box]]


def degenerate_layers(generator: np.random.Generator, kinds: tuple[str, ...]) -> Layers:
    """Draw up to three layers on two inputs with quarters as weights and planted coincidences."""
    layers, fan_in = [], 2
    for _ in range(generator.integers(1, 4)):
        width = int(generator.integers(1, 7))
        table = generator.integers(-8, 9, (width, fan_in + 1)) / 4
        for row in range(width):
            other, fault = table[generator.integers(width)], generator.random()
            if fault < 0.3:
                table[row] = other * (1 if fault < 0.15 else -1 if fault < 0.25 else 2)
            elif fault < 0.33:
                table[row] = 0
            elif fault < 0.38:
                table[row, :-1] = other[:-1]
        if generator.random() < 0.4:
            table[:, -1] = 0
        layers.append(("affine", table[:, :-1].copy(), table[:, -1].copy()))
        kind = kinds[generator.integers(len(kinds))]
        if kind == "max":
            groups = [
                generator.integers(0, width, generator.integers(2, 6)).tolist() for _ in range(generator.integers(1, 4))
            ]
            layers.append(("max", groups))
            width = len(groups)
        else:
            layers.append(("pointwise", *GATES[kind]))
        fan_in = width
    return [*layers, ("affine", np.ones((1, fan_in)), np.zeros(1))]


def rotated(generator, layers, box):
    """In floats, coincident cuts of the rotated network are no longer quite coincident."""
    angle = generator.uniform(0, 6)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    (_, weight, bias), *others = layers
    return [("affine", weight @ turn, bias), *others], box


def through_corners(generator, layers, box):
    """Cuts through corners of the window, along its sides and along its diagonal."""
    (_, weight, bias), *others = layers
    for row in range(len(bias)):
        corner = box.corners()[generator.integers(4)]
        kind = generator.integers(4)
        if kind == 0:
            bias[row] = -weight[row] @ corner
        elif kind == 1:
            weight[row], bias[row] = [1.0, 0.0], -corner[0]
        elif kind == 2:
            across = (box.hi - box.lo)[::-1] * [1, -1]
            weight[row], bias[row] = across, -across @ box.lo
    return [("affine", weight, bias), *others], box


def far_away(generator, layers, box):
    """The same picture at a distance of 100 to 10^6."""
    shift = np.round(10.0 ** generator.uniform(2, 6) * generator.normal(size=2))
    (_, weight, bias), *others = layers
    return [("affine", weight, bias - weight @ shift), *others], rs.Box(box.lo + shift, box.hi + shift)


def tiny(generator, layers, box):
    """A window of 10^-3 to 10^-9."""
    size = 10.0 ** -generator.uniform(3, 9)
    (_, weight, bias), *others = layers
    return [("affine", weight, bias * size), *others], rs.Box(box.lo * size, box.hi * size)


def stretched(generator, layers, box):
    """Inputs on scales that differ by up to 10^5."""
    scale = np.array([1.0, 10.0 ** generator.uniform(1, 5)])
    (_, weight, bias), *others = layers
    return [("affine", weight / scale, bias), *others], rs.Box(box.lo * scale, box.hi * scale)


def nearly_parallel(generator, layers, box):
    """Pairs of units whose weights differ by 10^-3 to 10^-16."""
    changed = []
    for layer in layers[:-1]:
        if layer[0] == "affine":
            _, weight, bias = layer
            one, other = generator.integers(len(bias), size=2)
            size = 10.0 ** -generator.uniform(3, 16)
            weight[one] = weight[other] * (1 + size * generator.normal(size=weight.shape[1]))
            bias[one] = bias[other] * (1 + size * generator.normal())
        changed.append(layer)
    return [*changed, layers[-1]], box


def badly_scaled(generator, layers, box):
    """Units on scales from 10^-5 to 10^5."""
    changed = []
    for layer in layers[:-1]:
        if layer[0] == "affine":
            scale = 10.0 ** generator.uniform(-5, 5, len(layer[2]))
            layer = ("affine", layer[1] * scale[:, None], layer[2] * scale)
        changed.append(layer)
    return [*changed, layers[-1]], box


def cancelling(generator, layers, box):
    """A layer whose values carry an offset of 10 to 10^7 that the next one takes away."""
    size = 10.0 ** generator.uniform(1, 7)
    (_, weight, bias), gate, *others = layers
    if gate[0] == "pointwise" and others[0][0] == "affine":
        _, following, shift = others[0]
        others = [("affine", following, shift - size * following.sum(axis=1)), *others[1:]]
        bias = bias + size
    return [("affine", weight, bias), gate, *others], box


def example(regime: Regime | None, seed: int, kinds: tuple[str, ...]) -> tuple[Layers, rs.Box]:
    """Draw layers and a window, and apply a regime."""
    generator = np.random.default_rng(seed)
    layers = degenerate_layers(generator, kinds)
    low = np.round(4 * generator.uniform(-4, 0, 2)) / 4
    box = rs.Box(low, low + np.round(4 * generator.uniform(0.5, 6, 2)) / 4)
    return (layers, box) if regime is None else regime(generator, layers, box)


def complaints(part: Partition, pieces: list) -> list[str]:
    """Return what is dishonest in a claim, given the truth.

    Every code exists. EXACT: what is missing is about as thin as the resolution. Otherwise the interval must hold the
    number of regions.
    """
    truth = {piece.code: piece for piece in pieces}
    found = set(map(tuple, part.codes.to_array().tolist()))
    diameter = float(np.linalg.norm(np.ptp(part.vertices, axis=0)))
    finding = part.finding()
    low, high = finding.interval or (int(finding), int(finding))
    wrong = []
    if len(found) < len(part):
        wrong.append(f"{len(part) - len(found)} codes come twice")
    if found - truth.keys():
        wrong.append(f"{part.claim}, with codes that do not exist: {sorted(found - truth.keys())}")
    if part.claim is Claim.EXACT:
        widths = [fractions_plane.width(truth[code].vertices) / diameter for code in truth.keys() - found]
        if max(widths, default=0.0) > 100 * part.tolerance.resolution:
            wrong.append(f"EXACT, without a region of width {max(widths):.1e}")
    elif not low <= len(truth) <= high:
        wrong.append(f"{len(truth)} regions are not in [{low}, {high}]")
    is_whole = not part.work.get("cells_left_out", 0)
    if is_whole and part.dim == 2 and len(part.vertices) - len(part.facets_with_ends.right) + len(part) != 1:
        wrong.append("the incidences are not those of a disc")
    return wrong
