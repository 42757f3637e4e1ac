"""Areas that rounding may give to another class, beside all points of a grid whose winner such rounding may change."""

from types import SimpleNamespace

import numpy as np
import pytest

import reluscope as rs
from reluscope.analyses.planes import areas_in_doubt as module
from reluscope.analyses.planes.areas_in_doubt import areas_in_doubt
from reluscope.networks.evaluation.maps_of_codes import maps_of_codes

BOX = rs.Box(-1, 1, 2)
SIDE = np.linspace(-1, 1, 401)[:-1] + 1 / 400
GRID = np.stack(np.meshgrid(SIDE, SIDE), axis=-1).reshape(-1, 2)


def uncertain(part, monkeypatch, *, errors=0.0, blur=0.0, off=0.0):
    """Let outputs, corners and coefficients be known that badly, and return the areas in doubt."""

    def forward(network, points, *, tolerance):
        assert tolerance is part.tolerance
        return SimpleNamespace(errors=np.tile(np.broadcast_to(errors, network.num_outputs), (len(points), 1)))

    def maps(network, codes):
        known, _ = maps_of_codes(network, codes)
        return known, np.full((len(codes), network.num_outputs), off)

    monkeypatch.setattr(module, "rounded_forward", forward)
    monkeypatch.setattr(module, "maps_of_codes", maps)
    monkeypatch.setattr(module, "corner_errors", lambda given: np.full(len(given.vertices), blur))
    return areas_in_doubt(part)


def of_grid(network, noise):
    """Return for every class the area in which it may win and may lose, if scores are off by noise."""
    scores = network(GRID).numpy()
    if scores.shape[1] == 1:
        scores, noise = np.column_stack([np.zeros(len(scores)), scores]), np.array([0.0, noise])
    found = []
    for own in range(scores.shape[1]):
        others = np.delete(np.arange(scores.shape[1]), own)
        noises = np.broadcast_to(noise, scores.shape[1])
        least, most = scores - noises, scores + noises
        may_win = most[:, own] >= least[:, others].max(axis=1)
        may_lose = least[:, own] <= most[:, others].max(axis=1)
        found.append(4 * (may_win & may_lose).mean())
    return np.array(found)


@pytest.mark.parametrize("num_outputs", [1, 2, 4])
@pytest.mark.parametrize("errors", [0.3, 0.05, 0.003])
@pytest.mark.parametrize("seed", range(3))
def test_no_class_gains_more_where_outputs_are_off(num_outputs, errors, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    network = rs.load(
        [
            (rng.normal(size=(5, 2)), rng.normal(size=5)),
            (rng.normal(size=(num_outputs, 5)), rng.normal(size=num_outputs)),
        ]
    )
    part = rs.partition(network, BOX)
    found = uncertain(part, monkeypatch, errors=errors)
    expected = of_grid(network, errors)
    assert (found >= expected * (1 - 1e-2) - 1e-3 * errors).all()
    assert (found <= 80 * errors).all()


def test_a_strip_across_a_square_is_no_wider_than_its_share(monkeypatch):
    # Scores 0 and x: what is within 0.1 of the tie is a tenth of the square; the bound has twice that and a little.
    part = rs.partition(rs.load([(np.array([[1.0, 0.0]]), np.zeros(1))]), BOX)
    assert uncertain(part, monkeypatch, errors=0.1) == pytest.approx([4 * 4 * 0.1 / (2 - 0.2)] * 2)
    assert uncertain(part, monkeypatch, errors=0.9) == pytest.approx([4.0] * 2)
    two = rs.partition(rs.load([(np.array([[1.0, 0.0], [0.0, 0.0]]), np.zeros(2))]), BOX)
    assert uncertain(two, monkeypatch, errors=[0.07, 0.03]) == pytest.approx([4 * 4 * 0.1 / (2 - 0.2)] * 2)


@pytest.mark.parametrize("off", [0.0, 3.0])
def test_outputs_at_corners_are_as_far_off_as_slopes_say(off, monkeypatch):
    weight = np.array([[1.0, 1.0], [0.0, -0.5], [0.3, 0.0]])
    network = rs.load([(weight, np.array([0.0, 0.1, 0.0]))])
    part = rs.partition(network, BOX)
    noise = (np.linalg.norm(weight, axis=1) + 2**0.5 * off) * 0.01
    found = uncertain(part, monkeypatch, blur=0.01, off=off)
    assert (found >= of_grid(network, noise) * 0.99).all()
    assert np.allclose(found, uncertain(part, monkeypatch, errors=noise))


def test_ties_by_the_last_digits_are_in_doubt_as_they_count_as_equal(monkeypatch):
    network = rs.load([(np.zeros((3, 2)), np.array([1.0, 1.0 + 1e-14, 1.0 - 1e-12]))])
    assert uncertain(rs.partition(network, BOX), monkeypatch).tolist() == [4.0, 4.0, 0.0]


@pytest.mark.parametrize(("lead", "expected"), [(0.19, 4.0), (0.21, 0.0)])
def test_what_leads_by_more_everywhere_is_not_in_doubt(lead, expected, monkeypatch):
    for scores in ((lead, 0.0, -1.0), (0.0, lead, -1.0)):
        # Alone, or where all scores change together.
        for slope in (0.0, 1.0):
            part = rs.partition(rs.load([(np.full((3, 2), slope), np.array(scores))]), BOX)
            assert uncertain(part, monkeypatch, errors=0.1).tolist() == pytest.approx([expected, expected, 0.0])


def test_outputs_that_are_zero_are_equal_for_sure(monkeypatch):
    part = rs.partition(rs.load([(np.zeros((2, 2)), np.zeros(2))]), BOX)
    assert uncertain(part, monkeypatch).tolist() == [0.0, 0.0]
