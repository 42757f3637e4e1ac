"""Common refinements of partitions: against points, against the partitions themselves, and against fractions."""

import itertools
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import reluscope as rs
from oracles.fractions_line import Piece, pieces_of
from reluscope.analyses.similarity.overlays import Overlay
from reluscope.errors import InputError, ShapeError
from reluscope.findings import Column
from reluscope.networks.graph.left_off import LeftOff
from reluscope.partitions.region_numbers import VOLUME
from reluscope.testing import boxes, default_network, networks


def overlay(layers, domain, **options):
    """The overlay of networks given as layers, and their own partitions."""
    parts = [rs.partition(rs.load(own), domain) for own in layers]
    return rs.similarity.overlay(parts, **options), parts


def check_pieces(found, parts):
    """Every piece lies in the regions that it names, and no two pieces in the same ones; regions are their pieces."""
    assert found.partition.claim is rs.Claim.EXACT
    for own, part in zip(found.regions.T, parts, strict=True):
        assert (own >= 0).all()
        assert (
            part.network.codes(
                found.partition.domain.lift(found.partition.witnesses)
                if isinstance(part.domain, rs.Slice)
                else found.partition.witnesses
            )
            == part.codes[own]
        )
        sizes = np.bincount(own, weights=found.partition.volumes(), minlength=len(part))
        assert np.allclose(sizes, part.volumes(), rtol=1e-6, atol=1e-9 * part.volumes().max())
    if found.classes is None:
        assert len(np.unique(found.regions, axis=0)) == len(found)


@given(st.lists(networks(2, max_layers=2, num_outputs=2), min_size=2, max_size=3), boxes(2), st.booleans())
def test_pieces_lie_in_the_regions_they_name(layers, box, classes):
    found, parts = overlay(layers, box, classes=classes)
    check_pieces(found, parts)
    if classes:
        for own, part in zip(found.classes.T, parts, strict=True):
            outputs = part.network(found.partition.witnesses)
            assert (outputs.gather(1, torch.tensor(own)[:, None])[:, 0] >= outputs.max(1).values - 1e-9).all()


def test_pieces_in_space_and_on_slices():
    layers = [default_network([3, 6, 6, 1], seed) for seed in (0, 1)]
    for domain in (
        rs.Box(-2, 2, 3),
        rs.Plane([-1, -1, 0], [1, -1, 0.5], [-1, 1, 1]),
        rs.Segment([-2, 0, 1], [2, 1, 0]),
    ):
        found, parts = overlay(layers, domain, classes=True)
        check_pieces(found, parts)
        assert found.agreement().finding("share_of_equal_classes").claim is rs.Claim.EXACT


def split(pieces):
    """Pieces of a line cut where scores tie: ends with the class, lowest at a tie."""
    for piece in pieces:
        slopes, constants = piece.slopes, piece.constants
        if len(slopes) == 1:
            slopes, constants = (Fraction(0), *slopes), (Fraction(0), *constants)
        cuts = {piece.start, piece.end}
        for i in range(len(slopes)):
            for j in range(i):
                if slopes[i] != slopes[j]:
                    cuts.add((constants[j] - constants[i]) / (slopes[i] - slopes[j]))
        ends = sorted(cut for cut in cuts if piece.start <= cut <= piece.end)
        for start, end in itertools.pairwise(ends):
            middle = (start + end) / 2
            scores = [slope * middle + constant for slope, constant in zip(slopes, constants, strict=True)]
            yield start, end, scores.index(max(scores))


def agreement_in_fractions(one: list[Piece], other: list[Piece]):
    """Length on which classes agree."""
    return sum(
        max(Fraction(0), min(end, stop) - max(start, begin))
        for start, end, label in split(one)
        for begin, stop, own in split(other)
        if label == own
    )


@given(st.integers(1, 3).flatmap(lambda m: st.tuples(*[networks(1, num_outputs=m)] * 2)), boxes(1))
def test_agreement_in_fractions(layers, box):
    found, _ = overlay(layers, box, classes=True)
    share = found.agreement().finding("share_of_equal_classes")
    pieces = [pieces_of(own, box.lo[0], box.hi[0]) for own in layers]
    truth = float(agreement_in_fractions(*pieces) / Fraction(box.volume()))
    low, high = share.interval or (share.value - share.tolerance, share.value + share.tolerance)
    assert low <= truth + 1e-15
    assert truth <= high + 1e-15
    assert share.claim is rs.Claim.EXACT
    # Differences: the largest at ends of pieces of both.
    knots = sorted({end for own in pieces for piece in own for end in (piece.start, piece.end)})

    def value(own, x):
        piece = next(piece for piece in own if piece.start <= x <= piece.end)
        return [slope * x + constant for slope, constant in zip(piece.slopes, piece.constants, strict=True)]

    apart = max(abs(a - b) for x in knots for a, b in zip(value(pieces[0], x), value(pieces[1], x), strict=True))
    assert found.differences().max() == pytest.approx(float(apart), rel=1e-9, abs=1e-12)


def test_planes_count_as_the_areas_of_classes_do():
    layers = [default_network([2, 12, 12, 3], seed) for seed in (3, 5)]
    layers = [[*own[:-1], (own[-1][0], np.zeros(3))] for own in layers]
    found, _ = overlay(layers, rs.Box(-3, 3, 2), classes=True)
    x = torch.rand(400_000, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 6 - 3
    f, g = (rs.load(own) for own in layers)
    share = float((f(x).argmax(1) == g(x).argmax(1)).double().mean())
    exact = found.agreement().finding("share_of_equal_classes")
    assert 0 < exact.value < 1
    assert found.largest_difference().value.claim is rs.Claim.EXACT
    assert float(found.largest_difference()) == pytest.approx(found.differences().max(), rel=1e-6)
    assert abs(exact.value - share) < 5 * (exact.value * (1 - exact.value) / 400_000) ** 0.5


def test_decisions_and_what_is_left_off_change_classes_alone():
    layers = [default_network([2, 8, 1], seed) for seed in (0, 1)]
    f, g = (rs.load(own) for own in layers)
    box = rs.Box(-1, 1, 2)
    high = [rs.partition(net.with_decision(0.1), box) for net in (f, g)]
    found = rs.similarity.overlay(high, classes=True)
    x = found.partition.witnesses
    assert (found.classes[:, 0] == (f(x)[:, 0].numpy() > 0.1)).all()
    ended = [rs.partition(replace(net, left_off=LeftOff("sigmoid", (1,))), box) for net in (f, g)]
    other = rs.similarity.overlay(ended, classes=True)
    assert (other.classes[:, 0] == (f(other.partition.witnesses)[:, 0].numpy() > 0)).all()
    with pytest.raises(InputError, match="sigmoid"):
        other.largest_difference()


def test_work_that_stops_early_claims_less():
    layers = [default_network([2, 24, 24, 1], seed) for seed in (0, 1)]
    whole, parts = overlay(layers, rs.Box(-2, 2, 2), classes=True)
    truth = whole.agreement().finding("share_of_equal_classes").value
    part = rs.similarity.overlay(parts, classes=True, budget=rs.Budget(regions=200))
    share = part.agreement().finding("share_of_equal_classes")
    assert part.partition.claim is rs.Claim.LOWER
    assert share.claim is not rs.Claim.EXACT
    assert share.interval[0] <= truth <= share.interval[1]
    assert share.interval[1] - share.interval[0] > 1e-3


def test_table_and_partitions_that_lack_regions():
    layers = [default_network([2, 6, 1], seed) for seed in (0, 1)]
    f, g = (rs.load(own) for own in layers)
    box = rs.Box(-2, 2, 2)
    parts = [rs.partition(f, box), rs.partition(g, box)]
    table = rs.similarity.overlay(parts, classes=True).to_pandas()
    assert {"region_0", "region_1", "class_0", "class_1", "difference", "volume"} <= set(table.columns)
    assert table.difference.max() == pytest.approx(float(rs.similarity.overlay(parts).largest_difference()))
    cut = replace(parts[1], codes=parts[1].codes[:2], geometry=parts[1].geometry)
    assert (rs.similarity.overlay([parts[0], cut]).regions[:, 1] == -1).any()


def test_unbounded_domains_have_pieces_and_no_shares():
    layers = [default_network([2, 4, 1], seed) for seed in (0, 1)]
    found, parts = overlay(layers, rs.Space(2), classes=True)
    assert found.partition.claim is rs.Claim.EXACT
    assert (found.regions >= 0).all()
    assert [len(np.unique(own)) for own in found.regions.T] == [len(part) for part in parts]
    assert "difference" not in found.to_table().column_names
    with pytest.raises(InputError, match="bounded domain"):
        found.agreement()


def test_what_does_not_fit():
    f, g = (rs.load(default_network([2, 4, size], 0)) for size in (1, 2))
    box = rs.Box(-1, 1, 2)
    parts = [rs.partition(f, box), rs.partition(g, box)]
    with pytest.raises(InputError, match="partitions of one domain"):
        rs.similarity.overlay([parts[0], rs.partition(g, rs.Box(0, 1, 2))])
    with pytest.raises(InputError, match="two or more"):
        rs.similarity.overlay(parts[:1])
    with pytest.raises(InputError, match="loaded without"):
        rs.similarity.overlay([parts[0], replace(parts[1], network=None)])
    found = rs.similarity.overlay(parts)
    with pytest.raises(InputError, match="classes=True"):
        found.agreement()
    with pytest.raises((InputError, ShapeError), match="equally many outputs"):
        found.differences()


@pytest.mark.parametrize("share_listed", [0.5, 1.0])
def test_shares_of_many_pieces_are_between_the_ends_in_fractions(share_listed):
    """What is not listed may have equal classes, or not; sums of as many volumes are rounded."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        sizes = rng.random(40) * 10.0 ** rng.integers(-6, 1, 40)
        is_equal = rng.random(40) < rng.random()
        whole = float(sum(map(Fraction, sizes.tolist())) / Fraction(share_listed))
        window = SimpleNamespace(volume=lambda whole=whole: whole)
        found = SimpleNamespace(partition=SimpleNamespace(window=window))
        value, least, most = Overlay._share(found, Column.of(VOLUME, sizes), is_equal)
        equal, others = (sum(map(Fraction, sizes[rows].tolist())) / Fraction(whole) for rows in (is_equal, ~is_equal))
        assert 0 <= least <= equal
        assert min(1, 1 - others) <= most <= 1
        assert most - least <= 1 - share_listed + 1e-9
        assert least <= value <= most


def test_differences_are_a_column_of_two_networks_with_equally_many_outputs():
    domain = rs.Box(-1, 1, 1)
    for outputs, has_differences in (((1, 1), True), ((1, 2), False), ((1, 1, 1), False)):
        found, _ = overlay([default_network([1, 3, number], seed) for seed, number in enumerate(outputs)], domain)
        assert ("difference" in found.to_table().column_names) == has_differences
