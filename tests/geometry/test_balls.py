"""Bounds of linear forms over balls in boxes behind cuts, against linear programs and points drawn from them."""

import numpy as np
import pytest
from scipy.optimize import linprog

from reluscope.geometry.numbers.norms import L2, LINF, Norm
from reluscope.geometry.polyhedra.cut_balls import CutBall

NORMS = ("l1", "l2", "linf")


@pytest.mark.parametrize("norm", NORMS)
def test_free_balls_have_their_closed_form(norm):
    forms = np.random.default_rng(0).normal(size=(5, 7))
    free = np.full(7, np.inf)
    least, most = CutBall(3.0, Norm(norm), -free, free).extent(forms)
    assert np.allclose(most, 3 * Norm(norm).dual.size(forms))
    assert np.allclose(least, -most)
    assert np.isinf(CutBall(np.inf, Norm(norm), -free, free).extent(forms)).all()


@pytest.mark.parametrize("norm", NORMS)
def test_no_point_is_beyond(norm):
    rng = np.random.default_rng(1)
    forms, lower, upper = rng.normal(size=(6, 3)), -rng.uniform(0, 1, 3), rng.uniform(0, 1, 3)
    lower[0], upper[1] = 0.0, 0.0
    cut = rng.normal(size=3)
    cut = np.where(rng.uniform(size=3) < 0.5, lower, upper) * np.abs(cut)
    ball = CutBall(0.8, Norm(norm), lower, upper, cut / Norm(norm).dual.size(cut), 0.1)
    cloud = np.clip(rng.uniform(-1, 1, (20_000, 3)), lower, upper)
    cloud = cloud[(Norm(norm).size(cloud) <= 0.8) & (cloud @ ball.cut >= 0.1)]
    least, most = ball.extent(forms)
    assert len(cloud) > 100
    assert (cloud @ forms.T <= most + 1e-12).all()
    assert (cloud @ forms.T >= least - 1e-12).all()


def test_linf_is_exact_in_a_box_and_l2_behind_a_cut():
    rng = np.random.default_rng(2)
    forms, lower, upper = rng.normal(size=(4, 5)), -rng.uniform(0, 2, 5), rng.uniform(0, 2, 5)
    most = CutBall(1.0, LINF, lower, upper).extent(forms)[1]
    bounds = list(zip(np.maximum(lower, -1), np.minimum(upper, 1), strict=True))
    assert np.allclose(most, [-linprog(-form, bounds=bounds).fun for form in forms])
    # A cap of height 0.4 of a ball of radius 1 ends at sqrt(1 - 0.36) to the side.
    free = np.full(2, np.inf)
    cap = CutBall(1.0, L2, -free, free, np.array([1.0, 0.0]), 0.6)
    assert np.allclose(cap.extent(np.eye(2)), [[0.6, -0.8], [1.0, 0.8]])


def test_the_steepest_step_is_reached():
    form = np.random.default_rng(3).normal(size=(1, 6))
    free = np.full(6, np.inf)
    for norm in NORMS:
        most = CutBall(1.0, Norm(norm), -free, free).extent(form)[1]
        assert most[0] == pytest.approx((form @ Norm(norm).steepest(form)[0]).item())
