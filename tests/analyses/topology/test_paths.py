"""Ways through the fewest regions: against a search written out, and on grids where they are known."""

from dataclasses import replace

import numpy as np
import pytest

import reluscope as rs
from analyses.topology.test_persistence import wild


@pytest.mark.parametrize("seed", range(4))
def test_ways_are_ways_and_no_shorter_one_is_there(seed):
    dim = 2 + seed % 3
    part = rs.partition(rs.load(wild(dim, 6, 6, 1, seed=seed)), rs.Box(-2, 2, dim))
    start, end = np.random.default_rng(seed).uniform(-2, 2, (2, dim))
    found = rs.topology.shortest_path(part, start, end)
    way, beside = found.keys["region"], part.adjacency().toarray()
    assert (way[0], way[-1]) == tuple(part.locate(np.stack([start, end])))
    assert beside[way[:-1], way[1:]].all()
    # Regions reached after so many steps.
    reached = np.zeros(len(part), dtype=bool)
    reached[way[0]] = True
    steps = 0
    while not reached[way[-1]]:
        reached = reached | beside[reached].any(axis=0)
        steps += 1
    assert found["facets_crossed"].value.tolist() == list(range(steps + 1))
    assert set(found["facets_crossed"].claims) == {rs.Claim.EXACT}
    assert np.array_equal(part.locate(found.details["witnesses"]), way)


def test_a_grid_and_the_same_region():
    # Lines x = 0, 1, 2 and y = 0, 1, 2.
    grid = rs.load([(np.repeat(np.eye(2), 3, axis=0), -np.tile([0.0, 1.0, 2.0], 2)), (np.ones((1, 6)), np.zeros(1))])
    part = rs.partition(grid, rs.Box(-1, 3, 2))
    found = rs.topology.shortest_path(part, [-0.5, -0.5], [2.5, 1.5])
    assert found["facets_crossed"].value[-1] == 5
    assert len(rs.topology.shortest_path(part, [0.2, 0.2], [0.4, 0.3])) == 1
    with pytest.raises(rs.errors.InputError, match="end lies in no region"):
        rs.topology.shortest_path(part, [0.2, 0.2], [9.0, 9.0])


def test_regions_that_are_missing():
    part = rs.partition(rs.load(wild(2, 6, 6, 1, seed=2)), rs.Box(-2, 2, 2))
    doubtful = rs.topology.shortest_path(replace(part, num_undecided=1), [-1.9, -1.9], [1.9, 1.9])
    column = doubtful["facets_crossed"]
    assert column.claims[0] is rs.Claim.EXACT
    assert set(column.claims[2:]) == {rs.Claim.UPPER}
