"""Inputs with outputs as asked, against one partition of all of the domain, and back from a file."""

import numpy as np
import pytest

import reluscope as rs
from reluscope.errors import InputError, ShapeError
from reluscope.testing import default_network

NET = rs.load(default_network([2, 8, 6, 3], seed=2))
BOX = rs.Box([-2.0, -1.0], [1.0, 2.0])
OUTPUTS = NET(np.random.default_rng(1).uniform(BOX.lo, BOX.hi, (500, 2))).numpy()


def asked(*rows):
    """Return rows that two in five outputs fulfil."""
    return rs.Polyhedron(np.array(rows), np.quantile(OUTPUTS @ np.transpose(rows), 0.4, axis=0))


FIRST, SECOND = asked([1.0, -1.0, 0.0]), asked([0.0, 1.0, -1.0], [0.5, 0.0, 1.0])


@pytest.fixture(scope="module")
def both():
    return rs.preimages.of(NET, [FIRST, SECOND], domain=BOX, method="boxes")


def inside(target, points):
    return (NET(points).numpy() @ target.A.T <= target.b).all(axis=1)


@pytest.mark.few(1)
def test_volumes_are_those_of_one_partition(both):
    part = rs.partition(NET, BOX)
    for target in (FIRST, SECOND):
        found = rs.preimages.of(NET, target, domain=BOX, method="boxes")
        whole = rs.preimages.of(NET, target, domain=part)
        assert found.claim == "EXACT"
        assert 0.01 < found.share().value < 0.99
        assert found.volume().value == pytest.approx(whole.volume().value, rel=1e-7)
    points = np.random.default_rng(0).uniform(BOX.lo, BOX.hi, (4_000, 2))
    wanted = inside(FIRST, points) | inside(SECOND, points)
    np.testing.assert_array_equal(both.contains(points), wanted)
    assert both.share().value == pytest.approx(wanted.mean(), abs=0.03)
    assert np.sum([piece.contains(points) for piece in both.pieces], axis=0).max() == 1
    assert set(both.unsafe.tolist()) == {0, 1}


def test_a_slice_is_asked_in_its_coordinates():
    plane = rs.Plane([0.0, 0.0], [1.0, 0.0], [0.0, 1.0])
    found = rs.preimages.of(NET, FIRST, domain=plane, method="boxes")
    whole = rs.preimages.of(NET, FIRST, domain=plane)
    assert found.volume().value == pytest.approx(whole.volume().value, rel=1e-7)


def test_it_is_kept_told_and_drawn_as_what_it_is(both, tmp_path):
    assert repr(both).startswith("InputPieces(")
    assert both.volume().name == "volume of inputs"
    both.save(tmp_path / "found.arrow")
    again = rs.preimages.InputPieces.load(tmp_path / "found.arrow")
    assert isinstance(again, rs.preimages.InputPieces)
    assert again.to_table().equals(both.to_table())
    with pytest.raises(InputError, match="violations"):
        rs.verification.Violations.load(tmp_path / "found.arrow")
    texts = rs.plots.violations(both).legends or rs.plots.violations(both).axes[0].get_legend()
    assert texts
    none = rs.preimages.of(NET, rs.Polyhedron([[1.0, 0.0, 0.0]], [-100.0]), domain=BOX, method="boxes")
    assert (len(none), str(none.volume())) == (0, "0 (EXACT)")
    assert rs.plots.violations(none).axes[0].texts[0].get_text() == "no input is as asked"


def test_what_does_not_fit_is_told():
    with pytest.raises(InputError, match="half-spaces alone"):
        rs.preimages.of(NET, rs.Polyhedron(np.zeros((0, 3)), [], [[1.0, 0, 0]], [0.0]), domain=BOX, method="boxes")
    with pytest.raises(ShapeError, match="3 dimensions"):
        rs.preimages.of(NET, rs.Polyhedron([[1.0]], [0.0]), domain=BOX, method="boxes")
    with pytest.raises(InputError, match="got none"):
        rs.preimages.of(NET, [], domain=BOX, method="boxes")
    cut = rs.Slice([0.0, 0.0], np.eye(2), rs.Polyhedron([[1, 1], [-1, 0], [0, -1]], [1, 0, 0]))
    with pytest.raises(InputError, match="slice by one"):
        rs.preimages.of(NET, FIRST, domain=cut, method="boxes")


def test_a_class_by_all_methods():
    """Volumes of a class by boxes are those by the partition, and lie between the ends of the approximation."""
    for label, margin in ((0, 0.0), (1, 0.1), (2, -0.05)):
        exact = rs.preimages.of(NET, label, domain=BOX, margin=margin).volume()
        boxes = rs.preimages.of(NET, label, domain=BOX, margin=margin, method="boxes").volume()
        assert float(boxes) == pytest.approx(float(exact), rel=1e-9, abs=1e-12)
        found = rs.preimages.of(NET, label, domain=BOX, margin=margin, method="approximate")
        low, high = found.volume().interval or 2 * (found.volume().value,)
        assert low - 1e-9 <= float(exact) <= high + 1e-9


def test_features_lie_in_their_approximation():
    y = NET([0.25, -0.5])
    found = rs.preimages.of(NET, y, domain=BOX, method="approximate")
    assert found.claim is rs.Claim.LOWER or float(found.volume()) == 0
    assert rs.preimages.of(NET, y, domain=BOX).contains([[0.25, -0.5]]).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"what": FIRST, "margin": 0.1}, "no class takes no margin"),
        ({"what": 0, "gate": 0}, "not of a gate"),
        ({"what": 0, "points": [[0.0, 0.0]]}, 'method="partition" takes no points'),
        ({"what": 0, "method": "boxes", "tolerance": rs.Tolerance()}, 'method="boxes" takes no tolerance'),
        ({"what": [FIRST, SECOND]}, "takes one polyhedron, got 2"),
        ({"what": FIRST, "method": "approximate", "domain": rs.Space(2)}, "domain must be a box"),
        ({"what": [FIRST, 1.0]}, "nothing but polyhedra"),
        ({"what": [0.0, 0.0, 0.0], "method": "boxes"}, "half-spaces alone"),
    ],
)
def test_options_go_with_what_is_asked(options, words):
    with pytest.raises(InputError, match=words):
        rs.preimages.of(NET, **{"domain": BOX, **options})
