"""Intervals of estimated shares and distances: their ends, and the seed they hang on."""

import numpy as np
import pytest
from scipy.stats import t as student

import reluscope as rs
from reluscope.analyses.local.shares import _mean, class_shares, mean_distances

BOX = rs.Box(-1, 1, 2)
NET = rs.load(
    [
        (np.array([[1.0, 0.5], [-0.3, 1.0]]), np.array([2.0, 2.0])),
        (np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.1, 0.0])),
    ]
)


def test_means_and_their_intervals_are_those_of_student():
    of_chains = np.random.default_rng(0).uniform(0.3, 0.5, (3, 9))
    found = _mean(of_chains)
    for row, values in zip(found, of_chains, strict=True):
        low, high = student.interval(0.95, 8, loc=values.mean(), scale=values.std(ddof=1) / 3)
        assert row == pytest.approx([values.mean(), low, high])
    assert _mean(of_chains, are_shares=True) == pytest.approx(found)


def test_intervals_of_shares_stay_between_0_and_1_and_of_distances_above_0():
    wide = np.array([[0.0, 1.0, 0.0, 1.0]])
    assert _mean(wide, are_shares=True).tolist() == [[0.5, 0.0, 1.0]]
    low, high = _mean(wide)[0, 1:]
    assert low == 0.0
    assert high > 1.0  # a distance may be larger
    near_one = _mean(np.array([[1.0, 1.0, 0.9]]), are_shares=True)[0]
    assert near_one[2] == 1.0


def test_what_no_chain_saw_or_every_chain_saw_may_still_be_otherwise():
    chains = 8
    rare = 1 - 0.025 ** (1 / chains)
    none, every, some = _mean(np.array([[0.0] * chains, [1.0] * chains, [0.5] * chains]), are_shares=True)
    assert none == pytest.approx([0.0, 0.0, rare])
    assert every == pytest.approx([1.0, 1 - rare, 1.0])
    assert some == pytest.approx([0.5, 0.5, 0.5])
    assert _mean(np.zeros((1, chains)))[0].tolist() == [0.0, 0.0, 0.0]  # distances know no rare class


def test_shares_are_estimates_between_their_ends():
    found = class_shares(NET, [[0.1, 0.2], [-0.4, 0.3]], domain=BOX, draws=20, chains=6, seed=4)
    assert {name: keys.tolist() for name, keys in found.keys.items()} == {"sample": [0, 0, 1, 1], "label": [0, 1, 0, 1]}
    away = mean_distances(NET, [[0.1, 0.2], [-0.4, 0.3]], domain=BOX, draws=20, chains=6, seed=4)
    for table, name in ((found, "class_share"), (away, "mean_distance_in_region")):
        for row in range(len(table)):
            finding = table.finding(name, row)
            assert finding.claim == "ESTIMATE"
            assert finding.interval[0] < finding.value < finding.interval[1]
            assert "probability of 95%" in finding.definition
            assert "6 chains of 20 points" in finding.method
    assert (found["class_share"].upper <= 1).all()
    assert found.stopped == ""


def test_shares_are_of_classes_and_distances_from_the_point():
    found = class_shares(NET, [[0.9, -0.9]], domain=BOX, draws=400, chains=8)
    away = mean_distances(NET, [[0.9, -0.9]], domain=BOX, draws=400, chains=8)
    # Outputs on the box: 0.1 + 2 + x + y / 2 and 2 - 0.3 x + y; the first wins where 1.3 x - y / 2 > -0.1.
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 801)] * 2), axis=-1).reshape(-1, 2)
    truth = (1.3 * grid[:, 0] - 0.5 * grid[:, 1] + 0.1 > 0).mean()
    assert found["class_share"].value[0] == pytest.approx(truth, abs=0.03)
    lengths = np.linalg.norm(grid - [0.9, -0.9], axis=1)
    assert away["mean_distance_in_region"].value[0] == pytest.approx(lengths.mean(), abs=0.05)


def test_the_seed_decides_the_draw():
    one, same, other = (
        mean_distances(NET, [[0.0, 0.0]], domain=BOX, draws=10, chains=4, seed=seed)["mean_distance_in_region"].value
        for seed in (1, 1, 2)
    )
    assert one.tolist() == same.tolist()
    assert one.tolist() != other.tolist()


def test_regions_outside_the_domain_and_too_few_draws():
    found = class_shares(NET, [[50.0, 50.0], [0.0, 0.0]], domain=rs.Box(-1, 1, 2), draws=5, chains=3)
    assert len(found) == 4
    for draws, chains in ((0, 2), (1, 1)):
        with pytest.raises(rs.errors.InputError, match=r"two chains of one draw|draws must be"):
            class_shares(NET, [[0.0, 0.0]], domain=BOX, draws=draws, chains=chains)
    assert class_shares(NET, [[0.0, 0.0]], domain=BOX, draws=1, chains=2).is_done.all()


def test_a_region_that_only_touches_the_domain_has_no_shares():
    net = rs.load([(np.array([[1.0, 0.0]]), np.array([-1.0])), (np.ones((2, 1)), np.zeros(2))])
    found = class_shares(net, [[1.5, 0.0], [0.5, 0.0]], domain=BOX, draws=5, chains=3)
    assert found.is_done.tolist() == [False, False, True, True]
