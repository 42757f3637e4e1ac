"""Regions of doubtful partitions exist: codes are those that the network has inside the cells."""

from dataclasses import replace

import numpy as np
import pytest

import reluscope as rs
from empty_partitions import empty_partition
from oracles.rational_steps import affine, network_of
from partitions.in_doubt import in_doubt
from reluscope.codes.packed import Codes
from reluscope.findings import Claim
from reluscope.networks.fractions.rational import multiplications
from reluscope.partitions.complexes import incidence
from reluscope.partitions.doubts import shown_regions
from reluscope.partitions.doubts.shown_regions import ShownCells, shown
from reluscope.partitions.table.region_columns import RegionColumns
from reluscope.stopping import INTERRUPTED
from reluscope.testing import default_network

NET = rs.load(
    [([[1.0, 0.5], [0.25, 1.0], [1.0, 1.0]], [0.0, 0.25, -0.5]), (np.ones((2, 3)), [-1.0, -2.0]), ([[1.0, 2.0]], [0.0])]
)
SQUARE = rs.Box(-2, 2, 2)
PLANE = rs.Slice([0.125, 0.0], [[1.0, 0.25], [0.0, 1.0]], SQUARE)


def misread(part, words):
    """The partition under other codes, as if a sign had been undecided."""
    geometry = replace(part.geometry, words=words)
    return in_doubt(part, codes=Codes(words, part.codes.layout), geometry=geometry)


def codes_of(part):
    return sorted(map(tuple, part.codes.to_array().tolist()))


@pytest.mark.parametrize("domain", [SQUARE, PLANE], ids=["box", "slice"])
@pytest.mark.parametrize("method", ["incidence", "cellwise", "tree"])
def test_cells_get_the_codes_that_they_show(domain, method):
    part = rs.partition(NET, domain, method=method)
    wrong = part.codes.words.copy()
    wrong[2] ^= np.uint64(0b11111)
    assert codes_of(misread(part, wrong)) != codes_of(part)
    again = shown(misread(part, wrong))
    assert (codes_of(again), again.work["cells_left_out"]) == (codes_of(part), 0)
    assert (NET.restrict(domain) if domain is PLANE else NET).codes(
        again.witnesses
    ).to_array().tolist() == again.codes.to_array().tolist()
    assert int(again.adjacency_finding()) == int(part.adjacency_finding())


@pytest.mark.parametrize("method", ["incidence", "cellwise", "tree"])
def test_a_second_cell_of_one_region_is_left_out(method):
    part = rs.partition(NET, SQUARE, method=method)
    words, geometry = part.codes.words.copy(), part.geometry
    words[0] ^= np.uint64(0b11111)
    if method == "incidence":
        part = replace(part, geometry=_doubled(geometry))
        words = part.geometry.words
    else:
        moved = geometry.witnesses.copy()
        moved[0] = moved[1] + 2.0**-30  # of the two, the one that had the code before stays
        part = replace(part, geometry=replace(geometry, witnesses=moved))
    again = shown(misread(part, words))
    assert again.work["cells_left_out"] == 1
    assert len(set(codes_of(again))) == len(again) == len(words) - 1
    np.testing.assert_array_equal(again.witnesses, part.witnesses[:-1] if method == "incidence" else part.witnesses[1:])
    assert set(codes_of(again)) <= set(codes_of(rs.partition(NET, SQUARE)))
    assert (again.finding().value, again.finding().interval) == (len(again), (len(again), float("inf")))


def _doubled(regions):
    """Regions with the first one once more, under a code that nobody has."""
    corners, first = regions.corners, regions.corners.ids[: regions.corners.offsets[1]]
    offsets = np.append(corners.offsets, corners.offsets[-1] + len(first))
    return RegionColumns.flat(
        np.concatenate([regions.words, regions.words[:1] ^ np.uint64(0b11111)]),
        replace(corners, offsets=offsets, ids=np.concatenate([corners.ids, first])),
        regions.facets,
    )


@pytest.mark.parametrize("method", ["incidence", "cellwise", "tree"])
def test_what_is_left_out_leaves_the_rest_as_it_was(method):
    part = rs.partition(NET, SQUARE, method=method)
    kept = np.delete(np.arange(len(part)), [0, 3])
    geometry = part.geometry.recoded(kept, part.codes.words[kept])
    np.testing.assert_array_equal(geometry.words, part.codes.words[kept])
    np.testing.assert_allclose(geometry.witnesses, part.witnesses[kept])
    expected = part.adjacency().toarray()[np.ix_(kept, kept)]
    left, right, _ = replace(part, codes=part.codes[kept], geometry=geometry).facet_columns.inner
    found = np.zeros_like(expected)
    found[left, right] = found[right, left] = True
    np.testing.assert_array_equal(found, expected)
    if method != "tree":
        np.testing.assert_allclose(geometry.corners.volumes, part.volumes()[kept])


def test_listed_regions_are_confirmed_under_their_own_codes(monkeypatch):
    """A region that turns out to have the last code keeps its row, and so does what is known of it."""
    part = rs.partition(NET, SQUARE, method="tree")
    last = len(part) - 1
    is_sure = np.arange(len(part)) == 0
    found = ShownCells(part.codes[[last, *range(1, last), 0]], is_sure, False, 0)
    monkeypatch.setattr(shown_regions, "codes_inside", lambda *_, **__: found)
    again = shown(in_doubt(part))
    assert len(again) == last
    np.testing.assert_array_equal(again.codes.words[again.confirmed], part.codes.words[[last]])
    np.testing.assert_array_equal(again.witnesses, part.witnesses[:last])


def sharp():
    """A slab of 2^-50 behind an offset: floats do not know on which side of it a point near 0 lies."""
    return rs.load([([[1.0]], [1.0]), ([[1.0], [1.0]], [-1.0, -1.0 - 2.0**-50]), ([[1.0, 1.0]], [0.0])])


def test_what_rounding_hides_is_decided_exactly(monkeypatch):
    part = rs.partition(sharp(), rs.Box(-0.5, 1, 1), method="tree")
    witnesses = part.witnesses.copy()
    witnesses[:2, 0] = 2.0**-51, -(2.0**-51)
    geometry = replace(part.geometry, witnesses=witnesses)
    doubtful = in_doubt(part, geometry=geometry)
    assert codes_of(shown(doubtful)) == [(1, 0, 0), (1, 1, 0)]
    # Where that cannot be afforded, wide numbers decide some of them, and what nothing is known of is left out.
    monkeypatch.setattr(shown_regions, "MULTIPLICATIONS", 0)
    monkeypatch.setattr(shown_regions, "WIDE_MULTIPLICATIONS", 0)
    assert len(shown(doubtful)) == 1
    monkeypatch.setattr(shown_regions, "WIDE_OF", 1)
    assert codes_of(shown(doubtful)) == [(1, 0, 0), (1, 1, 0)]
    nothing = replace(doubtful, stop=INTERRUPTED)
    assert codes_of(shown(nothing)) == []


def test_what_is_too_large_for_exact_answers_stays_as_an_estimate(monkeypatch):
    """With rounding that nothing is sure of: no proof of any region, and of a small network none is needed."""
    part = rs.partition(NET, SQUARE)
    unsure = in_doubt(part, tolerance=rs.Tolerance(rounding=1e17))
    assert shown(unsure).claim is rs.Claim.LOWER
    monkeypatch.setattr(shown_regions, "MULTIPLICATIONS", 0)
    monkeypatch.setattr(shown_regions, "WIDE_MULTIPLICATIONS", 0)
    found = shown(unsure)
    assert (found.work["cells_confirmed"], found.work["cells_unconfirmed"]) == (1, len(part) - 1)
    number = found.finding()
    assert (number.claim, number.value, number.interval) == (rs.Claim.ESTIMATE, len(part), (1, float("inf")))
    assert {found.adjacency_finding().claim, found.boundedness_finding().claim} == {rs.Claim.ESTIMATE}
    swapped = replace(unsure, codes=part.codes[np.roll(np.arange(len(part)), 1)])
    assert len(shown(swapped)) == 1  # float64 finds other codes there, and wide numbers the one that is there


def test_a_doubtful_witness_on_the_border_shows_nothing():
    part = rs.partition(sharp(), rs.Box(0, 1, 1), method="tree")
    geometry = replace(part.geometry, witnesses=np.zeros_like(part.witnesses))
    assert len(shown(in_doubt(part, geometry=geometry))) == 0


def test_a_partition_without_doubts_stays_as_it_is():
    part = replace(rs.partition(NET, SQUARE, method="cellwise"), num_undecided=0, num_pending=3)
    assert not part.certified
    assert shown(part) is part


def test_the_code_of_a_witness_on_a_kink_is_that_beside_it():
    """Both units are off at 0 and nowhere else; only the first of two words of the code tells."""
    weights, biases = [[1.0], [-1.0], *[[1.0]] * 68], [0.0, 0.0, *[3.0] * 68]
    part = rs.partition(rs.load([(weights, biases), (np.ones((1, 70)), [0.0])]), rs.Box(-1, 1, 1), method="tree")
    assert part.codes.words.shape == (2, 2)
    witnesses = part.witnesses.copy()
    witnesses[0] = 0.0
    again = shown(in_doubt(part, geometry=replace(part.geometry, witnesses=witnesses)))
    assert len(again) >= 1
    assert set(codes_of(again)) <= set(codes_of(part))


def test_weights_of_many_scales_make_no_regions():
    """The blur of a corner, times weights of 1e8, hides a sign; a code that no point has was listed."""
    first = [
        [-40.98253172439234, 57986.0],
        [-13.66084390813078, 19328.593428302374],
        [-1133165.937140885, 155151121.08568123],
    ]
    second = [
        [-0.00013689238310376746, 0.00012206153509374404, 0.000365295683573516],
        [2.8956114792419678e-06, -2.993137329025748e-06, -1.2659861434722297e-05],
        [-0.001034336539814268, 0.0003307840003051813, 0.00030236837428472156],
    ]
    net = rs.load(
        [
            (first, [43458.598314887044, 14486.199438295682, 233859847.56566274]),
            (second, [1.5833887987094943e-06, -1.3707299407174507e-06, 0.0006412108700132949]),
            ([[-1.4303739936231672e-09, -2.285876066130797e-08, 1.6611393733372633e-10]], [-1.3619768344880833e-08]),
        ]
    )
    truth, part = (rs.partition(net, rs.Space(2), method=method) for method in ("tree", "cellwise"))
    assert (truth.claim, len(truth)) == (Claim.EXACT, 18)
    assert set(codes_of(part)) <= set(codes_of(truth))
    assert len(part) == int(part.finding())


def test_nothing_is_asked_where_there_is_nothing_to_ask():
    """Without a network, without a doubt, without regions, or where all was decided exactly, a partition stays."""
    part = in_doubt(rs.partition(NET, SQUARE, method="cellwise"))
    for fields in ({"certified": True}, {"num_undecided": 0}, {"network": None}):
        same = replace(part, **fields)
        assert shown(same) is same
    nothing = in_doubt(empty_partition(NET, SQUARE))
    assert shown(nothing) is nothing


def test_of_two_cells_of_one_region_that_which_is_there_stays(monkeypatch):
    """The first cell had the code before, but its witness shows nothing; the second one's does."""
    part = in_doubt(rs.partition(NET, SQUARE, method="tree"))
    words = part.codes.words.copy()
    words[1] = words[0]
    is_there = np.ones(len(part), dtype=bool)
    for first, second, kept in ((False, True, 1), (True, False, 0), (True, True, 0)):
        is_there[:2] = first, second
        there = is_there.copy()
        found = ShownCells(Codes(words, part.codes.layout), there, True, 0)
        monkeypatch.setattr(shown_regions, "codes_inside", lambda *_, found=found, **__: found)
        again = shown(part)
        assert again.work["cells_left_out"] == 1
        np.testing.assert_array_equal(again.witnesses[0], part.witnesses[kept])
    is_there[:2] = True
    words[0] = part.codes.words[1]
    words[1] = part.codes.words[1]  # the second one had it before
    again = shown(part)
    np.testing.assert_array_equal(again.witnesses[0], part.witnesses[1])


def test_a_cell_had_a_code_if_all_words_of_it_agree(monkeypatch):
    """The second of two words is that of all cells."""
    part = rs.partition(rs.load([(np.ones((70, 1)), [0.0, *[3.0] * 69]), (np.ones((1, 70)), [0.0])]), rs.Box(-1, 1, 1))
    words = part.codes.words.copy()
    assert words.shape == (2, 2)
    assert (words[0, 1], words[0, 0] != words[1, 0]) == (words[1, 1], True)
    words[0] = words[1]
    part = in_doubt(part)
    there = ShownCells(Codes(words, part.codes.layout), np.ones(2, dtype=bool), True, 0)
    monkeypatch.setattr(shown_regions, "codes_inside", lambda *_, **__: there)
    np.testing.assert_array_equal(shown(part).witnesses, part.witnesses[1:])


def test_what_is_in_doubt_hangs_on_the_tolerance_of_the_partition(monkeypatch):
    """Where sums may be off by half, codes are in doubt: for fractions, or where these are too slow, wide numbers."""
    part = in_doubt(rs.partition(NET, SQUARE, method="tree"))
    asked: list[np.ndarray] = []
    monkeypatch.setattr(shown_regions._ExactCodes, "beside", lambda _, witness: asked.append(witness))
    assert len(shown(part)) == len(part) > 1
    assert not asked
    coarse = replace(part, tolerance=rs.Tolerance(rounding=2.0**51))
    shown(coarse)
    number = len(asked)
    assert number >= len(part) - 1
    monkeypatch.setattr(shown_regions, "MULTIPLICATIONS", number * multiplications(NET) - 1)
    assert codes_of(shown(coarse)) == codes_of(part)
    assert len(asked) == number
    # What these do not know either goes to fractions, as many as there is time for.
    monkeypatch.setattr(shown_regions, "wide_codes", lambda network, x, **_: iter([unsure(network, x)]))
    monkeypatch.setattr(shown_regions, "MULTIPLICATIONS", 4 * multiplications(NET) - 1)
    assert len(shown(coarse)) <= 1
    assert len(asked) == number + 3


def unsure(network, x):
    """Codes of points, each of them in doubt."""
    return slice(0, len(x)), network.codes(x), np.ones(len(x), dtype=bool)


def test_wide_numbers_look_beside_kinks(monkeypatch):
    """At 0 all units are off, as in no region; at a random point beside it each of a pair is on or off."""
    weights = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    part = rs.partition(rs.load([(weights, np.zeros(4)), (np.ones((1, 4)), [0.0])]), SQUARE)
    for witnesses in (np.zeros_like(part.witnesses), part.witnesses * [1, 0], part.witnesses):
        one = replace(part, geometry=replace(part.geometry, witnesses=witnesses))
        found = [*shown_regions._beside_by_wide_numbers(one, np.arange(len(part)))]
        assert sum(int(is_sure.sum()) for _, _, is_sure in found) == len(part)
        for _, codes, _ in found:
            assert {*map(tuple, codes.to_array().tolist())} <= {*codes_of(part)}


@pytest.mark.parametrize(("pays", "most"), [(True, 0), (True, 9), (False, 0), (False, 9)])
def test_points_go_together_where_that_pays_and_fractions_are_too_slow(pays, most, monkeypatch):
    part, asked, together = in_doubt(rs.partition(NET, SQUARE)), [], shown_regions.codes_together
    monkeypatch.setattr(shown_regions.bends, "pay", lambda _: pays)
    monkeypatch.setattr(
        shown_regions, "codes_together", lambda net, x, **how: (asked.append(len(x)), together(net, x, **how))[1]
    )
    codes, doubtful, is_whole = shown_regions._codes_in_floats(part, most, None)
    assert (asked != []) == (pays and not most)
    assert (codes.words.tolist(), doubtful.any(), is_whole) == (part.codes.words.tolist(), False, True)


def test_what_one_bound_reads_as_a_tie_and_the_other_knows_is_no_tie():
    """Bounds that points share are as large as the largest of them needs; two candidates are a little apart."""
    plain, near = (
        network_of([affine([[1.0], [more], [1.0], [0.0]], [0, 0, -1, 0]), ("max", 2), affine(np.ones((1, 2)), [0])], 1)
        for more in (2.0, 1 + 2.0**-42)
    )
    part = rs.partition(plain, rs.Box([0.25], [2.0**12]))
    assert (codes_of(part), part.witnesses.max() > 2000) == ([(1, 0), (1, 1)], True)
    part = replace(part, network=near)
    words = part.codes.words.copy()
    words[part.witnesses.argmin()] -= np.uint64(1)
    wrong = misread(part, words)
    assert codes_of(wrong) == [(0, 1), (1, 0)]
    assert codes_of(shown(wrong)) == [(1, 0), (1, 1)]


@pytest.fixture
def asked(monkeypatch):
    """How many points floats are asked about at a time."""
    numbers, forward = [], shown_regions.coded_forward
    monkeypatch.setattr(
        shown_regions, "coded_forward", lambda net, x, **how: (numbers.append(len(x)), forward(net, x, **how))[1]
    )
    return numbers


def test_only_cells_that_a_sign_was_undecided_for_are_looked_at(asked):
    part = rs.partition(NET, SQUARE)
    in_doubt = np.arange(len(part)) % 3 == 0
    wrong = part.codes.words.copy()
    wrong[3] ^= np.uint64(0b11111)
    geometry = replace(part.geometry, words=wrong, in_doubt=in_doubt)
    doubtful = replace(part, codes=Codes(wrong, part.codes.layout), geometry=geometry, num_undecided=1)
    assert codes_of(shown(doubtful)) == codes_of(part)
    assert asked == [np.count_nonzero(in_doubt)]


@pytest.mark.parametrize("dim", [2, 3])
def test_cells_remember_where_a_sign_stayed_undecided(dim, monkeypatch):
    """A chunk is in doubt from the step on in which it could not decide, and what comes of it, not its neighbours."""
    cut, steps = incidence.cut, []

    def doubting(chunk, *how):
        steps.append(chunk.stage)
        found, doubts = cut(chunk, *how)
        return found, doubts + (len(steps) == 6)

    monkeypatch.setattr(incidence, "cut", doubting)
    monkeypatch.setattr(incidence, "MIN_CELLS", 4)
    monkeypatch.setattr(incidence, "_chunk_cells", lambda network, chunk: 4)
    net, box = rs.load(default_network([dim, 8, 8, 8, 1], seed=1)), rs.Box(-2, 2, dim)
    part = rs.partition(net, box, method="incidence")
    assert part.num_undecided == 1
    assert 0 < np.count_nonzero(part.geometry.in_doubt) < len(part) / 2
    assert codes_of(part) == codes_of(rs.partition(net, box, method="tree"))


def test_what_there_was_no_time_for_is_unconfirmed(asked):
    part = in_doubt(rs.partition(NET, SQUARE))
    left = shown(part, until=0.0)
    assert asked == []
    assert left.work["cells_unconfirmed"] == len(left) - left.work["cells_confirmed"] > 0
    assert left.finding().claim is Claim.ESTIMATE
    assert codes_of(left) == codes_of(part)
