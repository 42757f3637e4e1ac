"""Facets by linear programs: against engines that keep vertices, and against rational arithmetic, near and on ties."""

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.findings import Claim
from reluscope.partitions.exact.exact_regions import exact_regions
from reluscope.partitions.exact.exact_rows import ExactRows
from reluscope.partitions.table.boundedness import boundedness
from reluscope.testing import default_network

GAPS = [1e-6, 1e-8, 5.7e-9, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-15]


def pairs_of(part):
    """Return the pairs of codes of regions that share a facet."""
    names = [words.tobytes() for words in part.codes.words]
    left, right = part.adjacency().nonzero()
    return {frozenset((names[a], names[b])) for a, b in zip(left.tolist(), right.tolist(), strict=True)}


def names_of(part):
    return {words.tobytes() for words in part.codes.words}


def near_ties(dim, seed):
    """Return layers with units that nearly coincide: shifted, tilted or doubled by as little as rounding."""
    draw = np.random.default_rng(seed)
    layers, reads = [], dim
    for _ in range(draw.integers(1, 3)):
        width = int(draw.integers(2, 5))
        table = draw.integers(-8, 9, size=(width, reads + 1)) / 4.0
        table[:, -1] *= draw.integers(0, 2)
        rows = [table]
        for _ in range(draw.integers(1, 3)):
            row = table[draw.integers(width)] * draw.choice([1.0, 2.0, -1.0, 0.75])
            row[draw.integers(reads + 1)] += draw.choice([0.0, *GAPS]) * draw.choice([-1.0, 1.0])
            rows.append(row[None])
        table = np.concatenate(rows)
        layers.append((table[:, :-1], table[:, -1]))
        reads = len(table)
    return [*layers, (np.ones((1, reads)), np.zeros(1))]


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("dim", [2, 4])
def test_three_slabs_in_a_row(gap, dim):
    net = rs.load([(np.eye(dim)[[0, 0]], np.array([0.0, -gap])), (np.ones((1, 2)), np.zeros(1))])
    for domain in (rs.Box(-1, 1, dim), rs.Space(dim)):
        part = rs.partition(net, domain, method="tree")
        # Each beside the next, also where the resolution hides the one in the middle.
        assert part.adjacency().nnz == 2 * (len(part) - 1)
        claim = part.adjacency_finding().claim
        assert claim is (Claim.EXACT if part.claim is Claim.EXACT else Claim.LOWER)


def check_like_the_others(dim, seed):
    net = rs.load(near_ties(dim, seed))
    compared = 0
    for domain in (rs.Box(-2, 2, dim), rs.Space(dim)):
        listed = rs.partition(net, domain, method="tree")
        with np.errstate(divide="ignore"):  # a sliver between two directions, of which no corner is a point
            others = [rs.partition(net, domain, method="cellwise")]
        if isinstance(domain, rs.Box):
            others.append(rs.partition(net, domain, method="incidence"))
        finding = listed.adjacency_finding()
        for other in others:
            if names_of(listed) != names_of(other) or Claim.LOWER in (listed.claim, other.claim):
                continue
            compared += 1
            assert pairs_of(listed) <= pairs_of(other)
            if finding.claim is Claim.EXACT and other.adjacency_finding().claim is Claim.EXACT:
                assert pairs_of(listed) == pairs_of(other)
            np.testing.assert_array_equal(
                listed.is_bounded()[np.lexsort(listed.codes.words.T)],
                other.is_bounded()[np.lexsort(other.codes.words.T)],
            )
            bounded = listed.boundedness_finding()
            low, high = bounded.interval or (int(bounded), int(bounded))
            assert low <= int(np.count_nonzero(other.is_bounded())) <= high
    return compared


def check_like_rationals(seed):
    net, box = rs.load(near_ties(2, seed)), rs.Box(-2, 2, 2)
    listed = rs.partition(net, box, method="tree")
    exact = exact_regions(net, box, listed.codes)
    if len(exact.certificate) != len(listed):
        return 0  # a sliver below the resolution
    packed = rs.Codes.from_pieces([np.array(table) for table in zip(*exact.certificate.codes, strict=True)], net.layout)
    names = [words.tobytes() for words in packed.words]
    truth = {frozenset((names[a], names[b])) for a, b in exact.neighbors}
    assert pairs_of(listed) <= truth
    if listed.adjacency_finding().claim is Claim.EXACT:
        assert pairs_of(listed) == truth
    return 1


@pytest.mark.slow
@pytest.mark.parametrize("dim", [2, 3])
def test_near_ties_like_the_other_engines(dim):
    assert sum(check_like_the_others(dim, seed) for seed in range(4)) >= 3


def test_near_ties_like_rationals():
    assert sum(check_like_rationals(seed) for seed in range(12)) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("dim", [2, 3, 4])
def test_many_near_ties_like_the_other_engines(dim):
    assert sum(check_like_the_others(dim, seed) for seed in range(100, 100 + 600 // dim**2)) > 20


@pytest.mark.slow
def test_many_near_ties_like_rationals():
    assert sum(check_like_rationals(seed) for seed in range(1000, 1400)) > 80


def test_incomplete_partitions_say_so():
    net = rs.load(default_network([3, 8, 6, 1], seed=1))
    for method in ("incidence", "cellwise", "tree"):
        part = rs.partition(net, rs.Box(-1, 1, 3), method=method, budget=rs.Budget(regions=3))
        finding = part.adjacency_finding()
        assert (finding.claim, finding.interval[1]) == (Claim.LOWER, np.inf)
        assert part.boundedness_finding().claim is Claim.LOWER


def test_boundedness_is_proved_or_an_interval():
    # Two sides that meet at 1e20, if at all: rounding cannot tell.
    nearly = np.array([[1.0, 0.0], [1.0, 1e-20], [0.0, 1.0]])
    net = rs.load([(nearly, np.zeros(3)), (np.ones((1, 3)), np.zeros(1))])
    everywhere = rs.Space(2)
    part = rs.partition(net, everywhere, method="tree")
    finding = part.boundedness_finding()
    low, high = finding.interval or (int(finding), int(finding))
    assert low <= 0 <= high
    sides = np.array([[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    triangle = rs.load([(sides, -np.ones(3)), (np.ones((1, 3)), np.zeros(1))])
    part = rs.partition(triangle, everywhere, method="tree")
    assert (len(part), str(part.boundedness_finding())) == (7, "1 (EXACT)")
    found = boundedness(triangle, rs.Box(-1, 1, 2), part.codes.words)
    assert found.is_bounded.all()
    assert found.is_proved.all()


def test_half_spaces_of_a_unit_are_at_the_breakpoint_beside_the_piece_beyond():
    module = nn.Sequential(nn.Linear(1, 1, dtype=torch.float64), nn.Softshrink(1.0), nn.Linear(1, 1))
    with torch.no_grad():
        module[0].weight[:], module[0].bias[:] = 1.0, 0.0
    exact = ExactRows(rs.load(module.double(), input_shape=(1,)), rs.Space(1))
    beyond = np.array([[0, 0, piece] for piece in range(3)])
    rows = {own: exact.rows([np.array([own])], beyond[[one for one in range(3) if one != own]]) for own in range(3)}
    # Not negative inside: -x - 1 and 1 - x for the lowest piece, and so on; the last entry is the constant.
    assert rows == {0: [(-1, -1), (-1, 1)], 1: [(1, 1), (-1, 1)], 2: [(1, 1), (1, -1)]}


@pytest.mark.parametrize("beyond", range(3))
def test_half_spaces_of_a_maximum_are_differences_of_its_candidates(beyond):
    """Rows x, y + 1 and 2 - x - y, less one another."""
    module = nn.Sequential(nn.Linear(2, 3), nn.Unflatten(1, (1, 3)), nn.MaxPool1d(3), nn.Flatten()).double()
    with torch.no_grad():
        module[0].weight[:] = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
        module[0].bias[:] = torch.arange(3.0)
    exact = ExactRows(rs.load(module, input_shape=(2,)), rs.Space(2))
    slopes = [(1, 0), (0, 1), (-1, -1)]
    for own in {0, 1, 2} - {beyond}:
        (row,) = exact.rows([np.array([own])], np.array([[0, 0, beyond]]))
        assert row == (*(a - b for a, b in zip(slopes[own], slopes[beyond], strict=True)), own - beyond)


def test_work_on_facets_is_refused_beyond_a_number_of_dimensions_or_what_is_left():
    for dim, left, is_done in ((5, 10**9, True), (6, 10**9, False), (5, 1000, False)):
        exact = ExactRows(rs.load([(np.eye(1, dim), np.zeros(1)), (np.eye(1), np.zeros(1))]), rs.Box(-1, 1, dim))
        exact._left = left
        assert (exact.bears_facet([np.array([0])], np.array([0, 0, 1])) is not None) == is_done
        assert (exact._region([np.array([0])]) is not None) == is_done
