"""Decision boundaries some regions at a time: the same pieces, and what is there when work stops early."""

import itertools
import signal
from inspect import unwrap
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import reluscope as rs
from reluscope.partitions.decisions import chords, decision_pieces
from reluscope.partitions.decisions import decision_boundary as decision
from reluscope.testing import default_network


@pytest.fixture(scope="module")
def network() -> rs.Network:
    return rs.load(default_network([2, 16, 16, 4], 3))


@pytest.fixture
def part(network) -> rs.Partition:
    """Each test has its own: a partition keeps its outputs."""
    return rs.partition(network, rs.Box(-4, 4, 2))


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of three regions, and of some vertices."""
    monkeypatch.setattr(decision_pieces, "REGIONS", 3)
    monkeypatch.setattr(decision_pieces, "MEMORY", 2**13)


def same(one, other, rows=slice(None)):
    order = np.argsort(one.regions, kind="stable")
    for name in ("regions", "classes", "ends"):
        np.testing.assert_array_equal(getattr(one, name)[order][rows], getattr(other, name))


def test_blocks_find_the_pieces_of_all_regions_at_once(network, part, small_blocks, monkeypatch):
    shares = []
    found = rs.decision_boundary(part, progress=shares.append)
    assert len(shares) > 20
    assert shares[-1] == pytest.approx(1)
    assert np.diff(shares).min() > 0
    monkeypatch.setattr(decision_pieces, "REGIONS", 10**6)
    monkeypatch.setattr(decision_pieces, "MEMORY", 2**30)
    whole = rs.decision_boundary(rs.partition(network, rs.Box(-4, 4, 2)))
    np.testing.assert_array_equal(found.regions, whole.regions)
    np.testing.assert_array_equal(found.classes, whole.classes)
    np.testing.assert_allclose(found.ends, whole.ends, rtol=0, atol=1e-13)  # outputs are sums of other blocks
    assert (found.covered, found.is_whole, found.note) == (1, True, "")
    assert found.finding().claim == "EXACT"


def test_facets_that_tie_are_found_in_the_block_on_their_left(small_blocks):
    """f = |x| - |x| + |y| - |y|: ties are along facets, whose other side is in another block."""
    signs = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [1, -1]])
    net = rs.load([(signs, np.zeros(6)), (np.array([[1.0, -1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]), np.zeros(2))])
    found = rs.decision_boundary(rs.partition(net, rs.Box(-1, 1, 2)))
    assert found.length == pytest.approx(2)
    np.testing.assert_allclose(found.ends[:, :, 0], 0, atol=1e-15)


def test_time_that_is_over_leaves_the_first_regions(part, small_blocks):
    whole = rs.decision_boundary(part)
    few = rs.decision_boundary(part, budget=rs.Budget(seconds=0))
    assert few.note == "budget of 0 s"
    assert 0 < few.covered < 0.5
    assert not few.is_whole
    same(whole, few, slice(int((whole.regions < 3).sum())))
    assert few.covered == pytest.approx(part.volumes()[:3].sum() / 64)
    told = few.finding()
    assert (told.claim, told.value) == ("LOWER", few.length)
    assert f"in {few.covered:.2%} of the domain" in told.definition
    assert rs.planes.plane_measures(part, few).finding("decision_boundary_length").claim == "LOWER"


def test_outputs_that_are_not_there_in_time_are_left_out(network, part, small_blocks):
    """Outputs at the vertices come first: those of the first regions at least."""
    few = rs.decision_boundary(part, budget=rs.Budget(seconds=0))
    assert 0 < few.covered < 1
    assert "outputs" not in part.__dict__
    assert rs.decision_boundary(part).is_whole
    np.testing.assert_allclose(part.outputs, network(part.vertices), atol=1e-14)


@pytest.mark.usefixtures("hears_ctrl_c")
def test_ctrl_c_keeps_what_is_there(part, small_blocks, monkeypatch):
    original, calls = chords.pieces_of, []

    def struck(*arguments):
        calls.append(arguments)
        if len(calls) == 4:
            signal.raise_signal(signal.SIGINT)
        return original(*arguments)

    monkeypatch.setattr(chords, "pieces_of", struck)
    found = rs.decision_boundary(part)
    assert len(calls) == 4
    assert (found.note, found.is_whole) == ("interrupted", False)
    assert found.covered == pytest.approx(part.volumes()[:12].sum() / 64)


def test_partitions_that_stopped_early_say_so(network):
    part = rs.partition(network, rs.Box(-4, 4, 2), budget=rs.Budget(regions=40))
    found = rs.decision_boundary(part)
    assert found.covered == pytest.approx(part.volumes().sum() / 64)
    assert found.finding().claim == "LOWER"
    line = rs.decision_boundary(rs.partition(network, rs.Segment([-4.0, 0], [4.0, 1])))
    assert (line.finding().value, line.finding().claim) == (len(line), "EXACT")


def test_a_thousand_classes_cost_what_the_few_cost_that_win():
    """Classes that are far behind all others are never compared with them one by one."""
    values = np.random.default_rng(0).random((40, 1000))
    values[:, 7:] -= 9
    offsets, ids = np.arange(0, 81, 4), np.random.default_rng(1).integers(0, 40, 80).astype(np.int32)
    assert set(decision_pieces.contenders(values, offsets, ids, 1e-12)) <= set(range(7))


@pytest.mark.parametrize("most", [1, 2, 3, 100])
def test_blocks_are_of_first_regions_all_of_whose_corners_are_known(most, monkeypatch):
    monkeypatch.setattr(decision_pieces, "REGIONS", most)
    offsets, ids = np.array([0, 3, 6, 9, 12]), np.array([0, 1, 2, 1, 2, 3, 0, 4, 5, 1, 2, 3])
    part = Four(region_vertices=(offsets, ids))
    for known in range(7):
        fits = [max(ids[low:high]) < known for low, high in itertools.pairwise(offsets)]
        number = next((row for row, is_known in enumerate(fits) if not is_known), 4)
        blocks = list(unwrap(decision_pieces.blocks_of)(part, 2, known))
        assert [row for start, stop in blocks for row in range(start, stop)] == list(range(number))
        assert all(stop - start <= most for start, stop in blocks)


class Four(SimpleNamespace):
    """What is asked of a partition of four regions."""

    def __len__(self):
        return 4


def test_scores_that_differ_by_rounding_count_as_equal():
    assert decision_pieces.tie_error(np.array([[1.0, -8.0], [3.0, 0.0]])) == 64 * 2.0**-52 * 8
    assert decision_pieces.tie_error(np.zeros((0, 2))) == 0.0


def test_facets_of_a_block_are_those_on_the_right_of_its_regions(part, small_blocks, monkeypatch):
    asked, kernels = [], decision_pieces._kernels

    def told(corners, witness, left, right, rows, error):
        asked.append((len(witness), left, right))
        return kernels.find_flat_facets(corners, witness, left, right, rows, error)

    monkeypatch.setattr(
        decision_pieces, "_kernels", SimpleNamespace(find_chords=kernels.find_chords, find_flat_facets=told)
    )
    monkeypatch.setattr(decision, "needs_fractions", lambda part: False)
    monkeypatch.setattr(decision, "is_small", lambda part: False)
    rs.decision_boundary(part)
    facets = part.facets
    assert sum(len(left) for _, left, _ in asked) == int((facets.right >= 0).sum())
    for number, left, right in asked:
        inside = number - len(left)
        assert 0 <= left.min() <= left.max() < inside <= 3
        assert right.tolist() == list(range(inside, number))


def test_scores_at_jumps_are_those_of_regions_and_come_at_once(small_blocks):
    """At 1/2 what is above jumps from 0 to 1/2, and the region above goes to 1/2 there."""
    net = rs.load(
        torch.nn.Sequential(torch.nn.Threshold(0.5, 0.0), torch.nn.Linear(1, 2, bias=False)).double(), input_shape=(1,)
    )
    part = rs.partition(net, rs.Box([0.0], [1.0]))
    assert part.jumps
    ((scores, number),) = decision_pieces.scores_by_block(part)
    assert number == len(part.vertices)
    np.testing.assert_array_equal(scores, part.scores)
    weight = net.nodes[-1].weight.numpy().ravel()
    for start, stop in itertools.pairwise(part.region_vertices[0]):
        for vertex in part.region_vertices[1][start:stop].tolist():
            at, is_above = part.vertices[vertex, 0], part.vertices[part.region_vertices[1][start:stop]].max() > 0.5
            np.testing.assert_allclose(scores[vertex], weight * at * is_above, atol=1e-15)
