"""Distances of boxes cut by half-spaces, against linear programs, and in l2 against a dense list of multipliers."""

import numpy as np
import pytest
from scipy.optimize import linprog

from reluscope.geometry.cut_boxes import distances_of_cut_boxes


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
        found = float(distances_of_cut_boxes(lower[None], upper[None], form[None], np.array([level]), norm)[0])
        truth = dual(lower, upper, form, level) if norm == "l2" else program(lower, upper, form, level, norm)
        assert found == pytest.approx(truth, rel=1e-6 if norm == "l2" else 1e-9, abs=1e-9)
        assert found <= truth * (1 + 1e-9) or norm == "l2"
