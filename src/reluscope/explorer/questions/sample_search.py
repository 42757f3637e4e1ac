"""Which samples a search puts first: misclassified, near a decision boundary, of codes that are far from each other."""

import time

import numpy as np
from jaxtyping import Float, Int

from reluscope.errors import InputError
from reluscope.explorer.exchange.listening import Listener
from reluscope.explorer.scene.session import Session
from reluscope.networks.evaluation.held_maps import held_maps, logits

SEARCHES = ("misclassified", "nearest_to_boundary", "farthest_codes")
# Searches look at so many samples, in so much time, and name so many that are far from each other.
MOST_SEARCHED, SECONDS, MOST_FAR = 2_000, 3.0, 60
BLOCK_NUMBERS = 2_000_000


def searched(
    session: Session, rows: Int[np.ndarray, " k"], search: str, listener: Listener
) -> tuple[Int[np.ndarray, " q"], Float[np.ndarray, " q"] | None, str]:
    """Return rows in the order of a search, the number that they were ordered by, and what that is.

    `search` is one of ``SEARCHES``; InputError if it means nothing for this session.
    """
    if search == "misclassified":
        return _misclassified(session, rows), None, "samples whose class is not their label"
    if search == "nearest_to_boundary":
        return _nearest(session, rows, listener)
    return _farthest(session, rows)


def _misclassified(session: Session, rows: Int[np.ndarray, " k"]) -> Int[np.ndarray, " q"]:
    if session.labels is None:
        raise InputError("misclassified samples need labels, and the data have none: open the explorer with labels")
    return rows[session.classes[rows] != session.labels[rows]]


def _nearest(
    session: Session, rows: Int[np.ndarray, " k"], listener: Listener
) -> tuple[Int[np.ndarray, " q"], Float[np.ndarray, " q"], str]:
    """Order samples by their distance to where another class ties, as the map of their own region has it."""
    if not session.is_classifier:
        raise InputError("the nearest samples to a decision boundary need a classifier")
    rows = _at_most(session, rows)
    network, began = session.network.scores, time.perf_counter()
    codes = session.codes_of(network) if len(rows) else None
    step = max(1, BLOCK_NUMBERS // (network.num_inputs * network.num_outputs))
    distances: list[np.ndarray] = []
    for start in range(0, len(rows), step):
        if distances and (listener.cancelled() or time.perf_counter() - began > SECONDS):
            break
        assert codes is not None
        block = rows[start : start + step]
        weight, bias = held_maps(network, codes[block])
        distances.append(_distances(weight, bias, session.points[block]))
        listener.progress(min(1.0, (start + step) / len(rows)), 0)
    found = np.concatenate([np.zeros(0), *distances])
    order = np.argsort(found, kind="stable")
    said = "distance to the tie with the next class where the map stays that of the sample's region (ESTIMATE)"
    if len(found) < len(session.points):
        said += f", of {len(found):,} samples"
    return rows[: len(found)][order], found[order], said


def _distances(weight: np.ndarray, bias: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return distances to the nearest tie of the winner with another output, of affine maps at their points."""
    if weight.shape[1] == 1:
        weight, bias = np.concatenate([0 * weight, weight], axis=1), np.concatenate([0 * bias, bias], axis=1)
    values = logits((weight @ points[:, :, None])[:, :, 0] + bias)
    every, winner = np.arange(len(points)), values.argmax(axis=1)
    gaps = values[every, winner][:, None] - values
    slopes = np.linalg.norm(weight - weight[every, winner][:, None], axis=2)
    away = np.divide(gaps, slopes, out=np.full_like(gaps, np.inf), where=slopes > 0)
    away[every, winner] = np.inf
    return away.min(axis=1)


def _farthest(
    session: Session, rows: Int[np.ndarray, " k"]
) -> tuple[Int[np.ndarray, " q"], Float[np.ndarray, " q"], str]:
    """Order samples so that each is as far in code space from those before it as any: first the farthest two."""
    rows = _at_most(session, rows)
    if not len(rows):
        return rows, np.zeros(0), "units that differ"
    codes = session.codes_of(session.network)[rows]
    table = codes.distance().astype(np.int64)
    first = int(table.max(axis=1).argmax())
    chosen, away = [first], [int(table[first].max())]
    nearest = table[first].copy()
    while len(chosen) < min(MOST_FAR, len(rows)):
        # Of those that are there already the distance is 0, and no row comes twice.
        nearest[chosen] = -1
        following = int(nearest.argmax())
        away.append(int(nearest[following]))
        chosen.append(following)
        nearest = np.minimum(nearest, table[following])
    said = "units in which the code differs from those before it, at least"
    return rows[chosen], np.array(away, dtype=np.float64), said


def _at_most(session: Session, rows: Int[np.ndarray, " k"]) -> Int[np.ndarray, " q"]:
    if len(rows) <= MOST_SEARCHED:
        return rows
    return np.sort(np.random.default_rng(session.seed).choice(rows, MOST_SEARCHED, replace=False))
