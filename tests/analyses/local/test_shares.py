"""Intervals of estimated shares and distances: their ends, and the seed they hang on."""

from math import inf

import numpy as np
import pytest
from scipy.stats import beta
from scipy.stats import t as student

import reluscope as rs
from reluscope.analyses.local.shares import _mean, _mean_share, class_shares, mean_distances

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
    assert _mean_share(of_chains, 10_000) == pytest.approx(found)  # many draws: the spread is that of the chains


def test_intervals_of_shares_stay_between_0_and_1_and_of_distances_above_0():
    wide = np.array([[0.0, 1.0, 0.0, 1.0]])
    assert _mean_share(wide, 1).tolist() == [[0.5, 0.0, 1.0]]
    low, high = _mean(wide)[0, 1:]
    assert low == 0.0
    assert high > 1.0  # a distance may be larger
    near_one = _mean_share(np.array([[1.0, 1.0, 0.9]]), 10)[0]
    assert near_one[2] == 1.0


def test_what_no_chain_saw_or_every_chain_saw_may_still_be_otherwise():
    chains = 8
    rare = 1 - 0.025 ** (1 / chains)
    none, every, some = _mean_share(np.array([[0.0] * chains, [1.0] * chains, [0.5] * chains]), 4)
    assert none == pytest.approx([0.0, 0.0, rare])
    assert every == pytest.approx([1.0, 1 - rare, 1.0])
    assert some == pytest.approx([0.5, *beta.ppf([0.025, 0.975], [16, 17], [17, 16])])  # 16 of 32 draws
    assert _mean(np.zeros((1, chains)))[0].tolist() == [0.0, 0.0, 0.0]  # distances know no rare class


INDEPENDENT = [(inf, share) for share in (0.5, 0.1, 0.02, 0.01, 0.002)]


@pytest.mark.parametrize(("concentration", "share"), [*INDEPENDENT, (50.0, 0.5), (50.0, 0.1), (50.0, 0.02)])
@pytest.mark.parametrize(("draws", "chains"), [(10, 8), (50, 16), (200, 32)])
def test_intervals_of_shares_hold_the_truth(concentration: float, share: float, draws: int, chains: int) -> None:
    """Of 4,000 intervals; rare classes, and chains whose own shares spread like a beta distribution."""
    draw = np.random.default_rng(0)
    of_each = np.full((4000, chains), share)
    if concentration < inf:
        of_each = draw.beta(share * concentration, (1 - share) * concentration, (4000, chains))
    found = _mean_share(draw.binomial(draws, of_each) / draws, draws)
    held = np.mean((found[:, 1] <= share) & (share <= found[:, 2]))
    assert held >= 0.95 - 3 * (0.95 * 0.05 / 4000) ** 0.5


@pytest.mark.nightly
@pytest.mark.parametrize("share", [0.3, 0.01])
def test_intervals_of_drawn_shares_hold_the_truth(share: float) -> None:
    """Of 1,000 seeds: the class on a strip at the edge of a square."""
    net = rs.load([([[1.0, 0.0]], [share - 1])])
    held = 0
    for seed in range(1000):
        found = class_shares(net, [[0.5 * (1 - share), 0.5]], domain=rs.Box(0, 1, 2), seed=seed).where(label=1)
        low, high = found.finding("class_share").interval
        held += low <= share <= high
    assert held >= 950 - 3 * (1000 * 0.95 * 0.05) ** 0.5


@pytest.mark.nightly
@pytest.mark.parametrize("side", [1.0, 0.01])
def test_intervals_of_mean_distances_hold_the_truth(side: float) -> None:
    """Of 1,000 seeds: from a corner of a rectangle, of a thin one, too."""
    net, box = rs.load([([[1.0, 0.0]], [2.0])]), rs.Box([0.0, 0.0], [1.0, side])
    across, along = (np.linspace(0, end, 2001)[:-1] + end / 4000 for end in (1.0, side))
    truth, held = float(np.hypot(across[:, None], along).mean()), 0
    for seed in range(1000):
        low, high = mean_distances(net, [[0.0, 0.0]], domain=box, seed=seed).finding("mean_distance_in_region").interval
        held += low <= truth <= high
    assert held >= 950 - 3 * (1000 * 0.95 * 0.05) ** 0.5


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
