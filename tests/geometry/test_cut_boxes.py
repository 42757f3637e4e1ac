"""Distances of boxes cut by half-spaces, against linear programs, and in l2 against a dense list of multipliers."""

import numpy as np
import pytest
from scipy.optimize import linprog

from reluscope.geometry.numbers.norms import Norm
from reluscope.geometry.polyhedra.cut_boxes import distances_of_cut_boxes, near_in_cut_boxes


def cases():
    rng = np.random.default_rng(1)
    for n in (1, 2, 4) * 8:
        ends = np.sort(rng.uniform(-1, 1, (2, n)), axis=0)
        ends[:, : int(rng.random() < 0.3)] = 0.25  # a flat side
        yield *ends, rng.normal(size=n) * (rng.random(n) < 0.8), 0.7 * rng.normal()


def program(lower, upper, form, level, norm):
    n = len(form)
    sizes = np.eye(n) if norm == "l1" else np.ones((n, 1))
    table = np.block([[np.eye(n), -sizes], [-np.eye(n), -sizes], [-form[None], np.zeros((1, sizes.shape[1]))]])
    goal = np.concatenate([np.zeros(n), np.ones(sizes.shape[1])])
    bounds = [*zip(lower, upper, strict=True), *[(0, None)] * sizes.shape[1]]
    found = linprog(goal, table, np.append(np.zeros(2 * n), -level), bounds=bounds)
    return found.fun if found.status == 0 else np.inf


def dual(lower, upper, form, level):
    if np.where(form > 0, form * upper, form * lower).sum() < level:
        return np.inf
    scales = np.concatenate([[0.0], np.geomspace(1e-4, 1e4, 20_001)])[:, None]
    points = np.clip(scales * form, lower, upper)
    return np.sqrt(((points**2).sum(axis=1) + 2 * scales[:, 0] * (level - points @ form)).max())


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_no_point_is_nearer_and_one_is_as_near(norm):
    for lower, upper, form, level in cases():
        found = float(distances_of_cut_boxes(lower[None], upper[None], form[None], np.array([level]), Norm(norm))[0])
        truth = dual(lower, upper, form, level) if norm == "l2" else program(lower, upper, form, level, norm)
        assert found == pytest.approx(truth, rel=1e-6 if norm == "l2" else 1e-9, abs=1e-9)
        assert found <= truth * (1 + 1e-9) or norm == "l2"


@pytest.mark.parametrize(("norm", "order"), [("l1", 1), ("l2", 2), ("linf", np.inf)])
def test_all_that_is_near_is_in_the_box_around_it_and_most_of_the_box_is_needed(norm, order):
    rng, shares = np.random.default_rng(2), []
    for case, (lower, upper, form, level) in enumerate(cases()):
        points = rng.uniform(lower, upper, (4000, len(form)))
        radius = np.inf if case % 5 == 0 else rng.uniform(0.2, 1.5)
        is_near = (points @ form >= level) & (np.linalg.norm(points, ord=order, axis=1) <= radius)
        low, high = near_in_cut_boxes(lower, upper, form, np.array(level), radius, Norm(norm))
        assert (is_near <= ((low <= points) & (points <= high)).all(axis=1)).all()
        if is_near.sum() > 500:
            sides = np.maximum(upper - lower, 1e-300)
            shares.append((((high - low) - np.ptp(points[is_near], axis=0)) / sides).max())
    assert len(shares) > 5
    assert np.median(shares) < 0.1


def test_what_is_no_number_or_endless_cuts_nothing_off():
    ends, form = (np.array([-1.0, 0.5]), np.array([1.0, 0.75])), np.array([1.0, 2.0])
    for norm in ("l1", "l2", "linf"):
        for level, own in ((np.nan, form), (-np.inf, form), (0.0, np.zeros(2)), (-1.0, np.full(2, np.nan))):
            low, high = near_in_cut_boxes(*ends, own, np.array(level), np.inf, Norm(norm))
            assert (low == ends[0]).all()
            assert (high == ends[1]).all()
            low, high = near_in_cut_boxes(*ends, own, np.array(level), 1e3, Norm(norm))
            assert (low <= ends[0]).all()
            assert (high >= ends[1]).all()


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_only_points_right_where_ends_meet_are_left(norm):
    # Nearest is (0.6, 0.8) / 2 in l2: where the ball only touches the half-space, that point is kept.
    form = np.array([0.6, 0.8])
    nearest = {"l1": [0.0, 0.625], "l2": [0.3, 0.4], "linf": [0.5 / 1.4, 0.5 / 1.4]}[norm]
    radius = {"l1": 0.625, "l2": 0.5, "linf": 0.5 / 1.4}[norm]
    low, high = near_in_cut_boxes(-np.ones(2), np.ones(2), form, np.array(0.5), radius, Norm(norm))
    assert (low <= nearest).all()
    assert (nearest <= high).all()
    beyond = near_in_cut_boxes(np.full(2, 0.9), np.ones(2), form, np.array(0.5), radius, Norm(norm))
    assert (beyond[0] > beyond[1]).any()
