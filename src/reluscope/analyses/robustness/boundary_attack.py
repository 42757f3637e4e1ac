"""A change of class near a point, found quickly: an upper bound on the distance of the nearest one.

From the point itself each class is approached by turns: take the affine map where we are, step to the nearest point
that it gives to the class, and go on from there; from a point of another class, go on from where the segment to it
first changes its class. What is found is then made the nearest one of its region, by an exact program, and once more
in the region beyond, as long as it comes nearer.

Reference: Croce and Hein, "Minimally distorted adversarial examples with a fast adaptive boundary attack" (ICML 2020).
"""

import time
from collections.abc import Sequence
from math import inf

import numpy as np
from jaxtyping import Float

from reluscope.analyses.classification.class_predictions import num_classes, predicted_classes
from reluscope.analyses.robustness.cells_of_classes import StepRegion
from reluscope.analyses.robustness.class_changes import Change, confirm
from reluscope.analyses.robustness.viewpoints import Viewpoint
from reluscope.geometry.numbers.norms import L2
from reluscope.networks.evaluation.maps_of_codes import pieces_of
from reluscope.regions.region_of_code import table_bytes

MAX_ROUNDS = 12
# Classes that are tried, at most.
MOST_RIVALS = 128
# So many places of a segment are evaluated together, and once more between two of them.
NUM_PLACES = 32
# How far steps overshoot the class they are meant for.
OVERSHOOT = 1.05
NUM_DIRECTIONS = 128
# Rounds go on as long as some change comes nearer by this share.
MIN_GAIN = 1e-3
# Of the changes found, so many are made exact.
NUM_POLISHED = 3
# Steps drawn around a change that is known, at once, and how far around it, as shares of its distance.
NUM_DRAWN = 4096
SPREADS = (1.0, 0.5, 0.25, 0.12, 0.06, 0.03)
MAX_REGIONS = 30
# Bytes of the half-spaces of a region.
MOST_BYTES = 2e9


def nearby_change(view: Viewpoint, until: float = inf) -> Change | None:
    """Return a change of class near a point, None if none was found in time.

    ``until`` is a time of ``time.perf_counter``. At most a dozen linearisations and some hundred forward passes per
    class, and some dozen nearest-point programs.
    """
    steps = _by_local_maps(view, until)
    if not len(steps):
        steps = _by_directions(view)
    best = None
    for step in steps[np.argsort(view.norm.size(steps), kind="stable")[:NUM_POLISHED]]:
        found = polished(view, step, until)
        if found is not None and (best is None or found.distance < best.distance):
            best = found
    return best


def nearest_of(view: Viewpoint, steps: Float[np.ndarray, "k n"]) -> Float[np.ndarray, " n"] | None:
    """Return the shortest of some steps that lead to another class, cut off right behind where the class changes."""
    steps = steps[_is_other_class(view, steps)]
    if not len(steps):
        return None
    return _first_changes(view, steps[[view.norm.size(steps).argmin()]])[0]


def nearer_by(view: Viewpoint, places: Float[np.ndarray, "k n"], change: Change | None) -> Change | None:
    """Return a change of class nearer than one that is known, on the way to some places, else the one that is known."""
    step = nearest_of(view, _into_domain(view, places - view.x))
    if step is None or (change is not None and view.norm.size(step) >= change.distance * (1 - MIN_GAIN)):
        return change
    found = polished(view, step)
    return found if found is not None and (change is None or found.distance < change.distance) else change


def nearer_by_chance(view: Viewpoint, change: Change, spreads: Sequence[float] = SPREADS) -> Change:
    """Return a change of class nearer than one that is known, or that one.

    Steps are drawn around the known change, always the same ones, at spreads that are shares of its distance. For each
    spread some thousand forward passes, at once.
    """
    rng = np.random.default_rng(0)
    for spread in spreads:
        length, known = change.distance, change.step
        steps = known + spread * length * rng.normal(size=(NUM_DRAWN, len(known)))
        lengths = np.maximum(view.norm.size(steps), np.finfo(float).tiny)
        steps *= np.minimum(1.0, (1 - 2 * MIN_GAIN) * length / lengths)[:, None]
        change = nearer_by(view, view.x + steps, change) or change
    return change


def _by_local_maps(view: Viewpoint, until: float) -> Float[np.ndarray, "k n"]:
    """Return steps to points of other classes, each right behind a change of class; at most one for each class.

    Of very many classes those are tried whose scores are the highest.
    """
    network, dim = view.network, len(view.x)
    rivals = np.delete(np.arange(num_classes(network)), view.label)
    if len(rivals) > MOST_RIVALS:
        scores = network.at(view.x).outputs[0]
        rivals = rivals[np.argsort(-scores[rivals], kind="stable")[:MOST_RIVALS]]
    steps, every = np.zeros((len(rivals), dim)), np.arange(len(rivals))
    best, lengths = np.full((len(rivals), dim), np.nan), np.full(len(rivals), np.inf)
    for _ in range(MAX_ROUNDS):
        if time.perf_counter() > until:
            break
        maps = network.linearize(view.x + steps)
        weight, bias = maps.weight.cpu().numpy(), maps.bias.cpu().numpy()
        if network.num_outputs == 1:
            weight = np.concatenate([0 * weight, weight], axis=1)
            bias = np.concatenate([0 * bias, bias], axis=1)
        rows = weight[:, view.label] - weight[every, rivals]
        slack = bias[every, rivals] - bias[:, view.label] - rows @ view.x
        steps = _into_domain(view, OVERSHOOT * _nearest_in_box(view, rows, slack))
        other = _is_other_class(view, steps)
        steps[other] = _first_changes(view, steps[other])
        length = np.where(other, view.norm.size(steps), np.inf)
        nearer = length < (1 - MIN_GAIN) * lengths
        best[nearer], lengths[nearer] = steps[nearer], length[nearer]
        if np.isfinite(lengths).any() and not nearer.any():
            break
    return best[np.isfinite(lengths)]


def _by_directions(view: Viewpoint) -> Float[np.ndarray, "k n"]:
    """Return steps to points of other classes among those in random directions, at growing lengths."""
    dim = len(view.x)
    ways = np.random.default_rng(0).normal(size=(NUM_DIRECTIONS, dim))
    ways /= view.norm.size(ways)[:, None]
    # In doublings: beside a tiny scale the ratio is beyond the largest float64.
    doublings = np.log2(max(view.domain.half_spaces.width, view.scale)) - np.log2(view.scale)
    for length in np.ldexp(view.scale, np.arange(-6, max(12, int(doublings) + 1))):
        steps = _into_domain(view, length * ways)
        other = _is_other_class(view, steps)
        if other.any():
            return _first_changes(view, steps[other])
    return np.zeros((0, dim))


def _nearest_in_box(view: Viewpoint, rows: np.ndarray, slack: np.ndarray) -> np.ndarray:
    """Return short steps within bounds with ``row u <= slack``, one for each row, as far as bounds let them."""
    steps = np.zeros_like(rows)
    for _ in range(4):
        missing = np.maximum((rows * steps).sum(axis=1) - slack, 0.0)
        free = np.where(rows > 0, steps > view.lower, steps < view.upper)
        forms = np.where(free, -rows, 0.0)
        lengths = view.norm.dual.size(forms)
        share = np.divide(missing, lengths, out=np.zeros_like(missing), where=lengths > 0)
        steps = np.clip(steps + share[:, None] * view.norm.steepest(forms), view.lower, view.upper)
    return steps


def _into_domain(view: Viewpoint, steps: np.ndarray) -> np.ndarray:
    """Return steps that end in the domain: clipped by a box, shortened by other rows."""
    steps = np.clip(steps, view.lower, view.upper)
    limits = view.domain.half_spaces
    if not len(limits.rows):
        return steps
    slack = np.maximum(limits.offsets - limits.rows @ view.x, 0.0)
    along = steps @ limits.rows.T
    share = np.divide(slack, along, out=np.ones_like(along), where=along > slack).min(axis=1, initial=1.0)
    return share[:, None] * steps


def _first_changes(view: Viewpoint, steps: np.ndarray) -> np.ndarray:
    """Return the shares of steps that lead right behind a change of class, as far as the places evaluated show."""
    low, high, every = np.zeros(len(steps)), np.ones(len(steps)), np.arange(len(steps))
    for _ in range(2):
        shares = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, NUM_PLACES + 1)[1:]
        places = (shares[..., None] * steps[:, None]).reshape(-1, steps.shape[1])
        other = _is_other_class(view, places).reshape(len(steps), NUM_PLACES)
        other[:, -1] = True  # of this class already
        first = other.argmax(axis=1)
        low, high = np.where(first > 0, shares[every, first - 1], low), shares[every, first]
    return high[:, None] * steps


def _is_other_class(view: Viewpoint, steps: np.ndarray) -> np.ndarray:
    return predicted_classes(view.network, view.x + steps) != view.label if len(steps) else np.zeros(0, dtype=bool)


def polished(view: Viewpoint, step: np.ndarray, until: float = inf) -> Change | None:
    """Return the nearest change in the region that a step leads to, and on into the regions beyond.

    Nothing is looked for where the half-spaces of a region take too much memory.
    """
    best = None
    for _ in range(MAX_REGIONS if table_bytes(view.network) <= MOST_BYTES else 0):
        if time.perf_counter() > until:
            break
        code = view.network.codes(view.x + step)
        cell = StepRegion.of(view, tuple(piece[0] for piece in pieces_of(code)))
        bound = np.inf if best is None else best.distance * (1 - 1e-7)
        nearest = None
        for rival in sorted(cell.rivals, key=lambda rival: rival.distance):
            if rival.distance >= bound or time.perf_counter() > until:
                break
            found = cell.nearest_change(rival, min(bound, 10 * float(L2.size(step)) + view.scale))
            if found.distance < bound and isinstance(change := confirm(cell, rival, found), Change):
                best, bound, nearest = change, change.distance, found
        if nearest is None:
            break
        pull = nearest.multipliers[: cell.num_own] @ cell.half_spaces.rows[: cell.num_own]
        length = float(np.linalg.norm(pull))
        if not length > 0:
            break
        step = _into_domain(view, (nearest.point + 1e-6 * view.scale / length * pull)[None])[0]
    return best
