"""Pieces of inputs made by hand: ends of their volume beside sums in fractions, claims, and what a file says."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import reluscope as rs
from reluscope.analyses.preimages import input_pieces as module
from reluscope.analyses.preimages.input_pieces import InputPieces
from reluscope.stopping import INTERRUPTED

# Of all inputs, what an exact set may differ by.
MOVED = 1e-7


def made(volumes, *, errors=None, total=None, undecided=0.0, open_boxes=(), **fields):
    """Return intervals of given lengths side by side as pieces of a line."""
    volumes = np.asarray(volumes, dtype=float)
    number = len(volumes)
    ends = np.cumsum(np.concatenate([[0.0], volumes]))
    total = float(ends[-1]) if total is None else total
    return InputPieces(
        tuple(rs.Polyhedron([[1.0], [-1.0]], [high, -low]) for low, high in pairwise(ends)),
        volumes,
        np.zeros(number) if errors is None else np.asarray(errors, dtype=float),
        ((ends[1:] + ends[:-1]) / 2)[:, None],
        np.stack([ends[:-1], ends[1:]], axis=1)[..., None],
        np.arange(number) % 3,
        np.arange(number) % 2,
        np.arange(number) % 2 == 0,
        np.array(open_boxes, dtype=float).reshape(-1, 2, 1),
        np.array([[[0.0], [total]]]),
        total,
        undecided,
        "of a network",
        **fields,
    )


def ends_of(found, monkeypatch):
    """Return the ends that are claimed for the volume and for the share."""
    kept = []
    whole = module.bounded_finding
    monkeypatch.setattr(
        module, "bounded_finding", lambda ends, *args, **named: kept.append(ends) or whole(ends, *args, **named)
    )
    found.volume()
    found.share()
    monkeypatch.setattr(module, "bounded_finding", whole)
    return kept


def test_ends_hold_for_sums_in_fractions(monkeypatch):
    rng = np.random.default_rng(0)
    for _ in range(60):
        number = int(rng.integers(1, 60))
        volumes = rng.random(number) * 10.0 ** rng.integers(-12, 3, number)
        errors = volumes * 10.0 ** rng.integers(-20, -1, number) * (rng.random() < 0.5)
        total = float(volumes.sum() * rng.choice([1.0, 1.3, 1e6]))
        undecided = total * rng.choice([0.0, 1e-9, 0.1])
        exact, off = (sum(map(Fraction, part.tolist()), Fraction(0)) for part in (volumes, errors))
        volume, share = ends_of(made(volumes, errors=errors, total=total, undecided=undecided), monkeypatch)
        whole = Fraction(total)
        least = min(max(exact - off, Fraction(0)), whole)
        most = min(exact + off + Fraction(undecided), whole)
        assert Fraction(volume.lower) <= least
        assert Fraction(volume.upper) >= most
        assert Fraction(share.lower) * whole <= least * (1 + Fraction(2) ** -50)
        assert share.upper >= min(float(most / whole), 1.0)
        assert share.upper <= 1
        assert volume.upper <= max(total, volume.value)
        assert volume.lower <= volume.value <= volume.upper
        assert share.lower <= share.value <= share.upper
        room = 1e-12 * total
        assert volume.lower >= float(least) - room
        assert volume.upper <= float(most) + room
        assert share.value == pytest.approx(min(float(exact / whole), 1.0))


def test_what_floats_cannot_tell_from_nothing_is_not_ruled_out(monkeypatch):
    volume, share = ends_of(made([], total=8.0), monkeypatch)
    assert (volume.value, volume.lower, share.value, share.lower) == (0, 0, 0, 0)
    assert volume.upper == 8 * np.finfo(float).eps
    assert share.upper == np.finfo(float).eps


def test_ends_stay_within_all_inputs(monkeypatch):
    volume, share = ends_of(made([1.0, 1.0], errors=[0.75, 1.5], undecided=5.0, total=3.0), monkeypatch)
    assert (volume.value, volume.lower, volume.upper) == (2, 0, 3)
    assert (share.lower, share.upper) == (0, 1)
    volume, _ = ends_of(made([1.0, 1.0], errors=[0.25, 0.25], undecided=0.25, total=3.0), monkeypatch)
    assert (volume.lower, volume.upper) == pytest.approx((1.5, 2.75))
    volume, share = ends_of(made([2.0, 2.0], total=3.0), monkeypatch)  # by rounding
    assert (volume.value, volume.lower, volume.upper, share.value) == (3, 3, 3, 1)


@pytest.mark.parametrize(
    ("errors", "undecided", "boxes", "said"),
    [
        (1.1 * MOVED, 0.0, [], "ESTIMATE"),
        (0.9 * MOVED, 0.0, [], "EXACT"),
        (1.1 * MOVED, 0.0, [[0.0, 1.0]], "ESTIMATE"),
        (0.0, 1.1 * MOVED, [], "LOWER"),
        (0.0, 0.9 * MOVED, [], "EXACT"),
        (0.0, 0.0, [[0.0, 1e-30]], "LOWER"),
    ],
)
def test_claims_of_a_volume_that_is_exact_itself(errors, undecided, boxes, said, monkeypatch):
    found = made([1.0], total=4.0, errors=[4 * errors], undecided=4 * undecided, open_boxes=boxes)
    exact = made([1.0]).volume()
    monkeypatch.setattr(InputPieces, "volume", lambda self: exact)
    assert found.claim == said


def test_boxes_are_wider_by_what_may_be_off():
    found = made([1.0, 2.0])
    for reach in (0.0, 0.1):
        boxes = found._boxes(reach)
        assert (boxes[:, 0] < found.ends[:, 0] - 2 * reach).all()
        assert (boxes[:, 1] > found.ends[:, 1] + 2 * reach).all()
        assert np.abs(boxes - found.ends).max() < 2 * reach + 1e-11
    assert found.inputs.tolist() == [[0.0], [3.0]]
    two = replace(found, boxes=np.array([[[0.0], [1.0]], [[-2.0], [0.5]]]))
    assert two.inputs.tolist() == [[-2.0], [1.0]]


def test_files_hold_everything_and_refuse_volumes_below_zero(tmp_path):
    found = made([1.0, 2.0], errors=[1e-3, 0.0], total=8.0, undecided=0.5, open_boxes=[[4.0, 4.5]], stop=INTERRUPTED)
    found.save(path := tmp_path / "pieces.arrow")
    again = InputPieces.load(path)
    assert again.to_table().equals(found.to_table())
    for name in ("errors", "open_boxes", "boxes"):
        assert np.array_equal(getattr(again, name), getattr(found, name))
    assert (again.total, again.undecided, again.fingerprint, again.stop) == (8.0, 0.5, "of a network", INTERRUPTED)
    made([1.0]).save(path)
    assert InputPieces.load(path).claim == "EXACT"
    for bad in (
        replace(found, volumes=-found.volumes),
        replace(found, errors=-found.errors),
        replace(found, total=-1.0),
        replace(found, undecided=-0.5),
    ):
        bad.save(path)
        with pytest.raises(rs.errors.InputError, match="damaged"):
            InputPieces.load(path)
