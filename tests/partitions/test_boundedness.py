"""Which regions are bounded: against cones of fractions, edge by edge, where rounding decides and where it does not."""

from fractions import Fraction
from inspect import unwrap
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from reluscope.findings import Claim
from reluscope.geometry.programs.rational_recession import has_direction
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.networks.graph.choosing_gates import Max, TopK
from reluscope.networks.graph.nodes import Pointwise
from reluscope.partitions import Partition
from reluscope.partitions.exact.exact_regions import code_rows, code_tuples
from reluscope.partitions.exact.exact_rows import ExactRows
from reluscope.partitions.table import boundedness as recession_module
from reluscope.partitions.table import needles
from reluscope.partitions.table.boundedness import Boundedness, boundedness, decide, recession_cones

TILTS = [0.0, 1e-6, 1e-12, 1e-15, 3e-16, 1e-17, 1e-20, 1e-60]


def cross(rows, dim):
    """Return a vector across dim - 1 rows by their minors; zeros if they are dependent."""
    return [(-1) ** axis * det([row[:axis] + row[axis + 1 :] for row in rows]) for axis in range(dim)]


def det(rows):
    if not rows:
        return Fraction(1)
    first, *others = rows
    return sum(
        (-1) ** k * entry * det([row[:k] + row[k + 1 :] for row in others]) for k, entry in enumerate(first) if entry
    )


def is_cone_trivial(rows, dim):
    """Decide whether only 0 has all rows at least 0: a cone without lines has an edge, across dim - 1 of its rows."""
    rows = [row for row in rows if any(row)]
    if not any(det([list(row) for row in some]) for some in combinations(rows, dim)):
        return False
    for some in combinations(rows, dim - 1):
        edge = cross([list(row) for row in some], dim)
        for sign in (1, -1):
            if any(edge) and all(sign * sum(a * b for a, b in zip(row, edge, strict=True)) >= 0 for row in rows):
                return False
    return True


def truth_of(layers, pieces, walls=()):
    """Decide for a network of ReLUs and the pieces of one region, layer by layer, in fractions."""
    dim = len(layers[0][0][0])
    slopes = [[Fraction(int(i == j)) for j in range(dim)] for i in range(dim)]
    rows = [list(map(Fraction, wall)) for wall in walls]
    for (weight, _), active in zip(layers[:-1], pieces, strict=True):
        table = [[Fraction(float(entry)) for entry in row] for row in weight]
        slopes = [
            [sum((a * slope[axis] for a, slope in zip(row, slopes, strict=True)), Fraction(0)) for axis in range(dim)]
            for row in table
        ]
        rows += [[entry if on else -entry for entry in slope] for slope, on in zip(slopes, active, strict=True)]
        slopes = [slope if on else [Fraction(0)] * dim for slope, on in zip(slopes, active, strict=True)]
    return is_cone_trivial([tuple(row) for row in rows], dim)


def pieces_of(part):
    return code_tuples(part.codes)


def check(part, layers, walls=()):
    """Hold a partition against fractions; return how many of its regions are proved."""
    truth = np.array([truth_of(layers, pieces, walls) for pieces in pieces_of(part)], dtype=bool)
    found = part.boundedness()["is_bounded"]
    np.testing.assert_array_equal(found.value, part.is_bounded())
    assert (found.lower <= truth).all()
    assert (truth <= found.upper).all()
    number = part.boundedness_finding()
    low, high = number.interval or (int(number), int(number))
    assert low <= truth.sum() <= high
    return int((found.lower == found.upper).sum())


def random_layers(dim, widths, seed):
    """Draw layers of few different slopes, or of all: sides are parallel more often than not, or never."""
    draw = np.random.default_rng(seed)
    layers, reads = [], dim
    for width in (*widths, 1):
        weight = draw.normal(size=(width, reads)) if seed % 2 else draw.integers(-2, 3, size=(width, reads)) / 2.0
        layers.append((weight, draw.normal(size=width)))
        reads = width
    return layers


@pytest.mark.few(2)
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_cones_of_whole_numbers(dim):
    draw = np.random.default_rng(dim)
    answers = []
    for _ in range(400):
        rows = draw.integers(-2, 3, size=(int(draw.integers(0, 9)), dim))
        truth = is_cone_trivial([tuple(map(Fraction, row)) for row in rows.tolist()], dim)
        assert has_direction(rows.tolist(), dim) == (not truth)
        found = decide(rows[None].astype(float), np.zeros((1, *rows.shape)))
        if found.is_proved[0]:
            assert found.is_bounded[0] == truth
        answers.append((truth, bool(found.is_proved[0])))
    # Boxes and others that only nearly fail to be bounded are proved, too; rays and lines are for fractions.
    assert all(proved for truth, proved in answers if truth)
    assert {(True, True), (False, True)} | ({(False, False)} if dim > 1 else set()) == set(answers)


def test_generic_cones_are_proved():
    draw = np.random.default_rng(5)
    for dim in (2, 3, 4):
        rows = draw.normal(size=(200, dim + 3, dim))
        found = decide(rows, 1e-15 * np.abs(rows))
        assert found.is_proved.mean() > 0.98
        for row in np.flatnonzero(found.is_proved)[: 60 if dim < 4 else 15].tolist():
            exact = [tuple(map(Fraction, one)) for one in rows[row].tolist()]
            assert found.is_bounded[row] == is_cone_trivial(exact, dim)


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-3, 0.5])
def test_noise_decides_what_is_proved(noise, scale):
    wedge = np.array([[-1.0, -1e-2], [1.0, -1e-2], [0.0, 1.0]])
    open_wedge = np.array([[-1.0, 1e-2], [1.0, 1e-2], [0.0, 1.0]])
    sure = noise < 1e-2 / 4
    # The bound on an error is that of an entry which decides: the wedge is open if it is 1e-2 less.
    for rows, answer in ((wedge, True), (open_wedge, False)):
        errors = np.full((1, 3, 2), noise) * np.array([0.0, 1.0]) * scale
        found = decide(scale * rows[None], errors)
        assert found.is_proved[0] == sure
        assert not sure or found.is_bounded[0] == answer


@pytest.mark.parametrize("place", range(3))
def test_one_uncertain_row_is_enough(place):
    wedge = np.array([[-1.0, 1e-2], [1.0, 1e-2], [0.0, 1.0]])
    errors = np.zeros((1, 3, 2))
    assert decide(wedge[None], errors).is_proved.all()
    errors[0, place] = 2.0
    assert not decide(wedge[None], errors).is_proved.any()
    # Rows of zeros say nothing, rows that may be zero may say anything.
    rows = np.concatenate([wedge, np.zeros((1, 2))])[None]
    assert decide(rows, np.zeros((1, 4, 2))).is_proved.all()
    doubt = np.zeros((1, 4, 2))
    doubt[0, 3] = 1e-30
    assert not decide(rows, doubt).is_proved.any()


def test_degenerate_cones():
    nothing = decide(np.zeros((2, 0, 3)), np.zeros((2, 0, 3)))
    assert (nothing.is_bounded.tolist(), nothing.is_proved.tolist()) == ([False] * 2, [True] * 2)
    endless = np.full((1, 2, 2), np.inf)
    assert not decide(endless, np.zeros((1, 2, 2))).is_proved.any()
    assert not decide(np.ones((1, 2, 2)), np.full((1, 2, 2), np.nan)).is_proved.any()


@pytest.mark.few(2)
@pytest.mark.parametrize("method", ["cellwise", "tree"])
@pytest.mark.parametrize(("dim", "widths"), [(1, (4, 3)), (2, (4, 3)), (2, (3, 3, 3)), (3, (4, 2)), (3, (3, 3))])
def test_regions_of_all_space(dim, widths, method):
    for seed in range(4):
        layers = random_layers(dim, widths, seed)
        part = rs.partition(rs.load(layers), rs.Space(dim), method=method)
        assert check(part, layers) == len(part)
        if method == "cellwise":
            bare = rs.partition(rs.load(layers), rs.Space(dim), method=method, keep="codes")
            np.testing.assert_array_equal(bare.is_bounded(), part.is_bounded())


@pytest.mark.parametrize("method", ["cellwise", "tree"])
def test_regions_of_unbounded_polyhedra(method):
    quadrant = rs.Polyhedron([[-1.0, 0.0], [0.1, -3.0]], [0.25, 1.0])
    for seed in range(4):
        layers = random_layers(2, (4, 3), seed)
        part = rs.partition(rs.load(layers), quadrant, method=method)
        assert check(part, layers, (-quadrant.A).tolist()) == len(part)


@pytest.mark.parametrize("method", ["cellwise", "tree"])
@pytest.mark.parametrize("tilt", TILTS)
def test_needles(tilt, method):
    layers = [(np.array([[1.0, 0.0], [1.0, tilt], [0.0, 1.0]]), np.array([0.0, -1.0, 0.0])), (np.ones((1, 3)), [0.0])]
    part = rs.partition(rs.load(layers), rs.Space(2), method=method)
    # The triangle above y = 0 between the slanted sides ends at 1 / tilt.
    assert check(part, layers) == len(part)


@pytest.mark.parametrize("tilt", TILTS)
def test_needles_behind_a_layer(tilt):
    first = np.array([[0.3, 0.7, 0.1], [-0.2, 0.9, 0.4], [0.5, -0.6, 0.8]])
    second = np.array([[1.0, 0.3, 0.0], [-1.0, -0.3, tilt], [0.5, -0.2, 0.1]])
    layers = [(first, np.zeros(3)), (second, np.array([0.5, 1.0, -1.0])), (np.ones((1, 3)), [0.0])]
    part = rs.partition(rs.load(layers), rs.Space(3), method="cellwise")
    assert check(part, layers) == len(part)


@pytest.mark.slow
def test_gates_of_other_kinds():
    torch.manual_seed(3)
    pool = [nn.Unflatten(1, (1, 6)), nn.MaxPool1d(2), nn.Flatten()]
    module = nn.Sequential(nn.Linear(2, 4), nn.Hardtanh(), nn.Linear(4, 6), *pool, nn.Linear(3, 1)).double()
    net = rs.load(module, input_shape=(2,))
    part, boxed = (rs.partition(net, domain, method="tree") for domain in (rs.Space(2), rs.Box(-1e6, 1e6, 2)))
    assert part.boundedness_finding().claim is Claim.EXACT
    names = {words.tobytes() for words in part.codes.words[part.is_bounded()]}
    largest = 1e6 * (1 - 1e-9)
    far = {boxed.codes.words[row.index].tobytes() for row in boxed if np.abs(row.polyhedron.vertices()).max() > largest}
    everything = {words.tobytes() for words in part.codes.words}
    assert names == everything - far


def test_where_fractions_cost_too_much_nothing_is_proved(monkeypatch):
    layers = [(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([0.0, -1.0])), (np.ones((1, 2)), [0.0])]
    net = rs.load(layers)
    monkeypatch.setattr(ExactRows, "is_bounded", lambda self, pieces: None)
    part = rs.partition(net, rs.Space(2))
    found = part.boundedness_finding()
    assert (len(part), int(found), found.interval, str(found.claim)) == (3, 0, (0, 1), "LOWER")
    assert found.num_undecided == 1
    assert sorted(map(str, part.boundedness()["is_bounded"].claims)) == ["EXACT", "EXACT", "LOWER"]


def test_files_say_what_is_proved(tmp_path, monkeypatch):
    layers = random_layers(2, (3, 3), 0)
    net = rs.load(layers)
    for keep in ("vertices", "codes"):
        part = rs.partition(net, rs.Space(2), keep=keep)
        part.save(tmp_path / "part.arrow")
        again = Partition.load(tmp_path / "part.arrow")
        assert again.boundedness_finding() == part.boundedness_finding()
        np.testing.assert_array_equal(again.is_bounded(), part.is_bounded())
        assert again.geometry.is_proved.all()
        # Files of before do not say it: found anew with the network, without it nothing is sure.
        from reluscope.partitions import partition_in_memory as table

        monkeypatch.setattr(table.Partition, "_boundedness", Boundedness(part.is_bounded(), None))
        with monkeypatch.context() as context:
            context.setattr(Boundedness, "_asdict", lambda self: {})
            part.save(tmp_path / "old.arrow")
        monkeypatch.undo()
        old = Partition.load(tmp_path / "old.arrow")
        assert old.geometry.is_proved is None
        assert old.boundedness_finding().interval == (0, len(part))
        assert Partition.load(tmp_path / "old.arrow", network=net).boundedness_finding() == part.boundedness_finding()


def test_regions_without_codes_of_their_own_are_asked_for_themselves():
    layers = random_layers(3, (4, 2), 1)
    net = rs.load(layers)
    part = rs.partition(net, rs.Space(3))
    assert part.geometry.without_corners().is_proved is None
    found = boundedness(net, rs.Space(3), part.codes.words[::-1])
    np.testing.assert_array_equal(found.is_bounded[::-1], part.is_bounded())


@pytest.mark.parametrize("tilt", [tilt for tilt in TILTS if tilt])
def test_volumes_of_needles(tilt):
    layers = [(np.array([[1.0, 0.0], [-1.0, -tilt], [0.0, 1.0]]), np.array([0.0, 1.0, 0.0])), (np.ones((1, 3)), [0.0])]
    part = rs.partition(rs.load(layers), rs.Space(2))
    # The triangle 0 < x < 1 - tilt y, y > 0.
    row = list(pieces_of(part)).index(((1, 1, 1),))
    assert part.is_bounded()[row]
    assert part.volumes()[row] == pytest.approx(0.5 / tilt, rel=1e-9)
    assert (np.isinf(part.volumes()) == ~part.is_bounded()).all()


def test_far_cells_have_their_volumes(monkeypatch):
    # Squares of 1e14 around others of 1: homogeneous corners have two digits there.
    levels = [-1.0, 0.0, 1.0, 1e14, 2e14]
    rows = [row for row in np.eye(2) for _ in levels]
    net = rs.load([(np.array(rows), -np.array(levels * 2)), (np.ones((1, 10)), np.zeros(1))])
    part = rs.partition(net, rs.Space(2), method="cellwise")
    ends = np.array(levels)
    sides = np.diff(ends)
    expected = sorted(np.multiply.outer(sides, sides).ravel())
    found = np.sort(part.volumes()[part.is_bounded()])
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    monkeypatch.setattr(ExactRows, "volume", lambda self, pieces: None)
    again = rs.partition(net, rs.Space(2), method="cellwise")
    assert np.isnan(again.volumes()).sum() == 12
    assert np.isfinite(again.volumes()).sum() == 4


def cancelling(seed, kind):
    """Return a network of one input whose second layer is all but constant: rounding decides its slopes, and signs."""
    draw = np.random.default_rng(seed)
    first = draw.uniform(0.5, 1.5, size=2)
    factors = draw.uniform(0.5, 1.5, size=2)
    second = np.stack([factors, -factors * first / first[::-1]], axis=1)
    gate = {"relu": [nn.ReLU()], "hardtanh": [nn.Hardtanh()]}.get(
        kind, [nn.Unflatten(1, (1, 2)), nn.MaxPool1d(2), nn.Flatten()]
    )
    if kind == "max":
        # Two entries that rise alike; one is a sum of what cancels, and the other a multiple.
        second = np.stack([factors, [factors @ first / first[0], 0.0]])
    module = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 2), *gate, nn.Linear(1 if kind == "max" else 2, 1))
    module = module.double()
    with torch.no_grad():
        module[0].weight[:], module[0].bias[:] = torch.from_numpy(first)[:, None], 0.0
        module[2].weight[:], module[2].bias[:] = torch.from_numpy(second), torch.tensor([0.5, -0.25])
    return rs.load(module, input_shape=(1,))


@pytest.mark.few(1)
@pytest.mark.parametrize(("kind", "pieces"), [("relu", 2), ("hardtanh", 3), ("max", 2)])
def test_slopes_that_are_rounding_prove_nothing(kind, pieces, monkeypatch):
    monkeypatch.setattr(ExactRows, "is_bounded", lambda self, pieces: None)
    num_units = 1 if kind == "max" else 2
    for seed in range(60):
        net = cancelling(seed, kind)
        table = np.array(np.meshgrid(*[range(pieces)] * num_units)).reshape(num_units, -1).T
        codes = rs.Codes.from_pieces([np.ones((len(table), 2), dtype=int), table], net.layout)
        found = boundedness(net, rs.Space(1), codes.words)
        exact = RationalNetwork(net)
        for row, code in enumerate(code_tuples(codes)):
            # Where rows are proved to leave one direction or none, they do.
            if found.is_proved[row]:
                rows = code_rows(exact, code)
                assert rows is None or is_cone_trivial([row[:-1] for row in rows], 1) == found.is_bounded[row]


def small_gate(kind):
    """Return a gate of three or four inputs, and rows (which, other or None, sign) for each of its codes."""
    if kind == "max":
        gate = Max(name="", shape=(2,), kind="max", index=torch.tensor([[0, 1, 2], [3, -1, 0]]))
        rows = {(0, 0): [(0, 1), (0, 2), (3, 0)], (2, 2): [(2, 0), (2, 1), (0, 3)]}
        return gate, {code: [(*pair, 1) for pair in pairs] for code, pairs in rows.items()}
    if kind == "top_k":
        level, two = torch.zeros(0, 1).double(), torch.tensor([[0.0], [1.0]]).double()
        groups = torch.tensor([[0, 1], [2, 3]])
        gate = TopK(
            name="", shape=(4,), kind=kind, breakpoints=level, slopes=two, intercepts=0 * two, groups=groups, k=1
        )
        return gate, {(1, 0, 0, 1): [(0, 1, 1), (3, 2, 1)], (0, 1, 1, 0): [(1, 0, 1), (2, 3, 1)]}
    levels = torch.tensor([[-1.0], [1.0]] if kind == "steps" else [[0.0]]).double()
    slopes = torch.tensor([[0.0], [1.0], [0.5]][: len(levels) + 1]).double()
    starts = torch.tensor([[0.0], [1.0], [1.5]][: len(levels) + 1]).double()
    gate = Pointwise(name="", shape=(4,), kind=kind, breakpoints=levels, slopes=slopes, intercepts=starts)
    if kind == "relu":
        return gate, {(0, 1, 1, 0): [(0, None, -1), (1, None, 1), (2, None, 1), (3, None, -1)]}
    between = [(0, None, -1), (1, None, 1), (1, None, -1), (2, None, 1), (3, None, -1)]
    return gate, {(0, 1, 2, 0): between, (2, 2, 0, 0): [(0, None, 1), (1, None, 1), (2, None, -1), (3, None, -1)]}


@pytest.mark.parametrize("kind", ["max", "top_k", "relu", "steps"])
def test_rows_of_cones_compare_what_their_gates_compare(kind, monkeypatch):
    """Each row is a slope or a difference of two, and its error that of one or of both together; others are zero."""
    draw = np.random.default_rng(0)
    gate, known = small_gate(kind)
    slopes, errors = draw.integers(1, 99, (1, 4, 3)) / 8.0, draw.integers(1, 99, (1, 4, 3)) / 1024.0
    monkeypatch.setattr(recession_module, "affine_input", lambda network, number: None)
    monkeypatch.setattr(recession_module, "advance_affinely", lambda stage, values, gamma: (slopes, errors, values))
    for code, rows in known.items():
        net = SimpleNamespace(stages=[SimpleNamespace(gate=gate)])
        cones = unwrap(recession_cones)(net, [np.array([code])], np.zeros((0, 2)), number=1, gamma=0.0)
        found = {(*row, *error) for row, error in zip(*(one[0].tolist() for one in cones), strict=True) if any(row)}
        expected = set()
        for one, other, sign in rows:
            row = sign * (slopes[0, one] - (0 if other is None else slopes[0, other]))
            error = errors[0, one] + (0 if other is None else errors[0, other])
            expected.add((*row[:2], *error[:2]))
        assert found == expected
        assert all(not any(error) for row, error in zip(*(one[0] for one in cones), strict=True) if not any(row))


def test_ends_of_how_many_are_bounded():
    bounded, proved = np.array([[1, 1, 0, 0, 0, 1], [1, 0, 1, 0, 0, 1]], dtype=bool)
    assert Boundedness(bounded, proved).ends == (2, 5)  # two are proved to be, and one is proved not to be


@pytest.mark.parametrize("most", [1, 45, 100])
def test_no_more_numbers_are_looked_at_together_than_there_is_room_for(most, monkeypatch):
    layers = random_layers(2, (3, 1), 0)
    net, sizes = rs.load(layers), []
    words = rs.partition(net, rs.Space(2)).codes.words
    whole = boundedness(net, rs.Space(2), words)
    monkeypatch.setattr(recession_module, "CHUNK_NUMBERS", most)
    monkeypatch.setattr(
        recession_module, "decide", lambda rows, errors: sizes.append(rows.shape) or decide(rows, errors)
    )
    found = boundedness(net, rs.Space(2), words)
    each = max(1, most // (3 * 5))  # columns, and rows: one for each of four units, and one more
    assert [number for number, _, _ in sizes[:-1]] == [each] * (len(sizes) - 1)
    assert sum(number for number, _, _ in sizes) == len(words) > each
    for one, other in zip(whole, found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dim", [2, 3])
def test_bodies_no_larger_than_the_rounding_of_their_corners_are_thin(dim):
    """Boxes as high as wide but for one side: beside others, alone, and far from the origin; and a single point."""
    sides, heights = np.array([1.0, 1e-15, 3e-16, 2.0**-8, 0.0, 0.0]), np.array([0.5, 0.5, 0.5, 0.5, 0.5, 0.0])
    for chosen in ([0, 1, 2, 3, 4, 5], [0, 3], [1], [5], []):
        for middle in (0.0, 100.0):
            ends = [
                [[0.0, side], *[[0.0, height]] * (dim - 1)]
                for side, height in zip(sides[chosen], heights[chosen], strict=True)
            ]
            corners = [np.array(np.meshgrid(*one)).reshape(dim, -1).T + middle for one in ends]
            vertices = np.concatenate([np.zeros((0, dim)), *corners])
            offsets = 2**dim * np.arange(len(chosen) + 1)
            part = SimpleNamespace(dim=dim, vertices=vertices, region_vertices=(offsets, np.arange(len(vertices))))
            largest = float(np.abs(vertices).max(initial=0.0))
            volumes = sides[chosen] * 0.5 ** (dim - 1)
            found = unwrap(needles._thin)(part, SimpleNamespace(largest_coordinate=largest), volumes)
            rounding = 16 * 2.0**-52 * largest
            extents = [np.ptp(one, axis=0).max() for one in corners]
            expected = [k for k, size in enumerate(volumes) if size <= rounding * extents[k] ** (dim - 1)]
            assert found.tolist() == expected


def test_chosen_candidates_rise_faster_than_all_others():
    """By loops: rows for each other candidate, that of the first unit included, and none for padding."""
    rng = np.random.default_rng(0)
    index = np.array([[0, 1, 2], [2, 0, -1], [3, 1, 0]])
    gate = Max(name="", shape=(3,), index=torch.from_numpy(index))
    slopes, errors = rng.normal(size=(5, 4, 2)), rng.random((5, 4, 1))
    pieces = np.array([[0, 0, 0], [1, 1, 1], [2, 1, 2], [0, 1, 2], [2, 0, 1]], dtype=np.uint8)
    rows, doubts = unwrap(recession_module._of_maximum)(gate, slopes, errors, pieces)
    for region in range(5):
        expected = []
        for place in range(3):
            for unit in range(3):
                best, other = index[unit, pieces[region, unit]], index[unit, place]
                is_row = other >= 0 and other != best
                expected.append((slopes[region, best] - slopes[region, other]) * is_row)
                expected[-1] = (*expected[-1], (errors[region, best, 0] + errors[region, other, 0]) * is_row)
        assert np.column_stack([rows[region], doubts[region]]) == pytest.approx(np.array(expected))
