"""Proofs by sets of regions: checked exactly from dual numbers, and refused when anything in them is forged."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

import reluscope as rs
from networks.models import layers, seeded
from networks.test_backward_bounds import bent_gate
from reluscope.checking.demand import Watch
from reluscope.checking.dual_bounds import DualBounds, Seen, _rest
from reluscope.checking.proofs import SetNode
from reluscope.checking.set_proofs import _are_numbers, check_tree
from reluscope.checking.whole_numbers import MAX_TERMS, Matrix, Whole
from reluscope.errors import CertificateError
from reluscope.testing import check_proof


class Shortcut(nn.Module):
    """Units of two breakpoints, whose values go around a gate, too."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(3, 5), nn.Linear(5, 5), nn.Linear(5, 2)

    def forward(self, x):
        y = nn.functional.hardtanh(self.first(x))
        return self.last(nn.functional.leaky_relu(self.second(y), -0.25) + 0.5 * y)


@pytest.fixture(scope="module")
def proved():
    """A network, a property of two cases with unsafe outputs of several rows, and a proof with splits."""
    net = rs.load(layers([4, 8, 6, 2], seed=1))
    x = np.random.default_rng(0).uniform(-1, 1, (2000, 4))
    least = float(net(x).numpy()[:, 0].min())
    far = rs.Polyhedron([[1.0, 0.0]], [least - 2.0])
    apart = rs.Polyhedron([[1.0, 0.3], [-1.0, -0.3]], [0.2, -2.5])
    halves = [(-np.ones(4), np.array([0.0, 1, 1, 1])), (np.array([0.0, -1, -1, -1]), np.ones(4))]
    safe = rs.verification.Property([rs.verification.Case(*ends, [far, apart]) for ends in halves])
    found = rs.verify(net, safe, split="units", certify=True)
    assert (found.verdict, found.proof.kind) == ("HOLDS", "sets")
    assert max(len(tree) for case in found.proof.trees for tree in case.trees) > 4
    return net, safe, found.proof


@pytest.mark.slow
def test_proofs_are_checked_and_stored(proved, tmp_path):
    net, safe, proof = proved
    assert 0 < check_proof(proof, net, safe) <= len(proof)
    proof.save(tmp_path / "net.proof")
    again = rs.verification.Proof.load(tmp_path / "net.proof")
    assert check_proof(again, net, safe) == check_proof(proof, net, safe)
    paths = [[sorted(tree) for tree in case.trees] for case in proof.trees]
    assert paths == [[sorted(tree) for tree in case.trees] for case in again.trees]


def forged(proof, change):
    first = proof.trees[0]
    trees, ranges = [dict(tree) for tree in first.trees], list(first.ranges)
    change(trees[0], ranges)
    return replace(proof, trees=(first._replace(trees=tuple(trees), ranges=tuple(ranges)), *proof.trees[1:]))


def leaf_of(tree):
    return next(path for path, node in tree.items() if node.duals)


def without_a_set(tree, ranges):
    del tree[max(tree, key=len)]


def split_at_no_breakpoint(tree, ranges):
    tree[""] = tree[""]._replace(level=9)


def split_below(tree, ranges):
    tree[""] = tree[""]._replace(level=-1)


def split_at_no_unit(tree, ranges):
    tree[""] = tree[""]._replace(unit=99)


def split_at_a_unit_below_the_first(tree, ranges):
    tree[""] = tree[""]._replace(unit=tree[""].unit - 6)


def split_at_no_gate(tree, ranges):
    tree[""] = tree[""]._replace(gate=99)


def of_another_unit(tree, ranges):
    tree[""] = tree[""]._replace(unit=(tree[""].unit + 1) % 6)


def a_leaf_at_the_root(tree, ranges):
    tree[""] = tree[leaf_of(tree)]


def of_no_rows(tree, ranges):
    path = leaf_of(tree)
    tree[path] = tree[path]._replace(multipliers=(0.0,))


def other_duals(tree, ranges):
    path = leaf_of(tree)
    tree[path] = tree[path]._replace(duals=tuple(one + 3 for one in tree[path].duals))


def no_numbers(tree, ranges):
    path = leaf_of(tree)
    tree[path] = tree[path]._replace(duals=tuple(one * np.nan for one in tree[path].duals))


def of_a_number_too_large(tree, ranges):
    path = leaf_of(tree)
    tree[path] = tree[path]._replace(multipliers=tuple(np.inf for _ in tree[path].multipliers))


def duals_of_fewer_gates(tree, ranges):
    path = leaf_of(tree)
    tree[path] = tree[path]._replace(duals=tree[path].duals[:1])


def of_no_number(tree, ranges):
    tree[""] = tree[""]._replace(gate="0")


def of_nothing(tree, ranges):
    tree[""] = None


def ranges_of_words(tree, ranges):
    ranges[1] = ranges[1]._replace(low=np.array(["a"] * 6))


def narrow_ranges(tree, ranges):
    ranges[1] = ranges[1]._replace(low=ranges[1].low + np.float32(0.1))


def narrow_at_first(tree, ranges):
    ranges[0] = ranges[0]._replace(high=np.nextafter(ranges[0].high, -np.inf, dtype=np.float32))


def ranges_of_no_proof(tree, ranges):
    ranges[1] = ranges[1]._replace(above=(ranges[1].above[0] * 0,))


def endless_ranges(tree, ranges):
    ranges[0] = ranges[0]._replace(low=ranges[0].low - np.inf)


def ranges_of_one_gate(tree, ranges):
    del ranges[1]


@pytest.mark.parametrize(
    "change",
    [
        without_a_set,
        split_at_no_breakpoint,
        split_below,
        split_at_no_unit,
        split_at_a_unit_below_the_first,
        split_at_no_gate,
        of_another_unit,
        a_leaf_at_the_root,
        of_no_rows,
        other_duals,
        no_numbers,
        of_a_number_too_large,
        duals_of_fewer_gates,
        of_no_number,
        of_nothing,
        ranges_of_words,
        narrow_ranges,
        narrow_at_first,
        ranges_of_no_proof,
        endless_ranges,
        ranges_of_one_gate,
    ],
)
def test_forged_proofs_are_refused(proved, change):
    net, safe, proof = proved
    with pytest.raises(CertificateError, match="the proof proves nothing"):
        check_proof(forged(proof, change), net, safe)


def test_rows_are_not_added_up_the_other_way(proved):
    """That a row is missed everywhere is no proof that its opposite is."""
    net, safe, proof = proved
    cases = [replace(one, unsafe=tuple(rs.Polyhedron(-it.A, -it.b) for it in one.unsafe)) for one in safe.cases]
    trees = tuple(
        case._replace(
            trees=tuple(
                {path: node._replace(multipliers=tuple(-m for m in node.multipliers)) for path, node in tree.items()}
                for tree in case.trees
            )
        )
        for case in proof.trees
    )
    with pytest.raises(CertificateError, match="may reach unsafe outputs"):
        check_proof(replace(proof, trees=trees), net, rs.verification.Property(cases))


def test_nothing_proves_what_is_not_so(proved):
    net, safe, proof = proved
    reached = net(np.zeros((1, 4))).numpy()[0]
    unsafe = rs.Polyhedron([[1.0, 0.0]], [float(reached[0])])
    cases = [replace(case, unsafe=(unsafe, case.unsafe[1])) for case in safe.cases]
    with pytest.raises(CertificateError, match="may reach unsafe outputs"):
        check_proof(proof, net, rs.verification.Property(cases))
    wider = [replace(safe.cases[0], upper=safe.cases[0].upper + 1), safe.cases[1]]
    with pytest.raises(CertificateError, match="may see more"):
        check_proof(proof, net, rs.verification.Property(wider))


def dyadic(seed):
    """A network whose values at inputs of quarters are exact in float64."""
    net = seeded(Shortcut, seed).double()
    with torch.no_grad():
        for table in net.parameters():
            table.copy_(torch.round(8 * table) / 8)
    return rs.load(net, input_shape=(3,))


@pytest.mark.parametrize("seed", range(4))
def test_bounds_from_any_duals_are_below_all_values(seed):
    """At one input they are its value, whatever duals are; on a box no sampled input has less."""
    rng, net = np.random.default_rng(seed), dyadic(seed)
    lower, upper = -rng.integers(1, 12, 3) / 4, rng.integers(1, 12, 3) / 4
    bounds, x = DualBounds(net, lower, upper), rng.integers(4 * lower, 4 * upper + 1, (600, 3)) / 4
    row, before = rng.integers(-8, 9, (1, 2)) / 4, [one.numpy() for one in net.preactivations(x)]
    values = net(x).numpy() @ row[0]
    seen = [Seen(one.min(axis=0), one.max(axis=0)) for one in before]
    for _ in range(3):
        duals = [rng.normal(size=(1, 5)) for _ in before]
        at_input = DualBounds(net, x[0], x[0]).least(Whole.of(row), duals, [Seen(one[0], one[0]) for one in before])
        assert at_input.fractions() == [Fraction(values[0])]
        least = bounds.least(Whole.of(row), duals, seen).fractions()[0]
        assert least <= values.min()
        unit = int(rng.integers(5))
        is_held = before[0][:, unit] > 1.0  # the last piece of hardtanh
        if is_held.any():
            first, last = np.zeros(5, dtype=np.int64), np.full(5, 2)
            first[unit] = 2
            part = [bounds.held(0, seen[0], first, last), seen[1]]
            assert part[0].low[unit] >= 1.0
            assert least <= bounds.least(Whole.of(row), duals, part).fractions()[0] <= values[is_held].min()


def test_both_sides_of_a_breakpoint_count():
    """Pieces that meet in float64 and not in fractions: the one above begins below the other's end."""
    net = dyadic(0)
    bounds = DualBounds(net, -np.ones(3), np.ones(3))
    node = bounds.gates[0]
    starts = node.intercepts.clone()
    starts[1] -= 2.0**-60
    bounds.gates[0] = replace(node, intercepts=starts)
    seen = Seen(np.full(5, -1.0), np.full(5, 1.0))
    rest = _rest(bounds.gates[0], Whole.of(np.ones((1, 5))), Whole.of(np.zeros((1, 5))), seen)
    assert rest.fractions() == [Fraction(-1) - Fraction(2) ** -60] * 5


def test_products_are_those_of_fractions():
    rng = np.random.default_rng(0)
    left = rng.normal(size=(2, MAX_TERMS + 3)) * 10.0 ** rng.integers(-9, 3, MAX_TERMS + 3)
    right = np.concatenate([rng.normal(size=(MAX_TERMS, 2)), [[5e-324, 1e300], [0, -0.0], [1, 2**-60]]])
    found = Matrix(right).after(Whole.of(left)).fractions()
    pairs = [(one, other) for one in left.tolist() for other in right.T.tolist()]
    assert found == [sum(map(lambda a, b: Fraction(a) * Fraction(b), *pair)) for pair in pairs]


@pytest.mark.parametrize("split", ["units", "inputs"])
def test_what_touches_unsafe_outputs_is_not_ruled_out(split):
    net = rs.load(
        [(np.ones((2, 1)), np.array([2.0, -5.0])), (np.array([[1.0, 0.0]]), np.array([-2.0]))]
    )  # x on [-1, 1]

    def below(level):
        return rs.verification.Property([rs.verification.Case([-1.0], [1.0], [rs.Polyhedron([[-1.0]], [-level])])])

    proof = rs.verify(net, below(1.5), split=split, certify=True).proof
    assert check_proof(proof, net, below(1 + 2.0**-40)) == 1
    with pytest.raises(CertificateError, match="may reach unsafe outputs"):
        check_proof(proof, net, below(1.0))


def least_by_hand(gate, unit, weight, dual, ends):
    """The least of w f(x) - v x between two ends, in fractions, -inf where it falls without end."""
    levels, slopes, starts = (
        [Fraction(row[unit].item()) for row in table] for table in (gate.breakpoints, gate.slopes, gate.intercepts)
    )
    low, high = (None if np.isinf(end) else Fraction(end) for end in ends)
    for end, slope, sign in ((low, slopes[0], -1), (high, slopes[-1], 1)):
        if end is None and sign * (weight * slope - dual) < 0:
            return -np.inf
    # Beyond all breakpoints nothing falls any more.
    places = [*levels, *(end for end in (low, high) if end is not None), Fraction(0)]
    places = [x for x in places if (low is None or low <= x) and (high is None or x <= high)]
    places += [end for end in (low, high) if end is not None]
    return min(
        weight * (slopes[piece] * x + starts[piece]) - dual * x
        for x in places
        for piece in {sum(level < x for level in levels), sum(level <= x for level in levels)}
    )


@pytest.mark.parametrize("pieces", [2, 4])
def test_what_units_add_is_the_least_between_the_ends_of_what_they_see(pieces):
    """Ends on either side of all breakpoints, at them, between them, or without end; pieces that nearly meet, too."""
    rng, decided, refused = np.random.default_rng(pieces), 0, 0
    for _ in range(200):
        gate = bent_gate(rng, 3, pieces)
        off = rng.integers(-1, 2, gate.intercepts.shape) * 2.0**-40
        gate = replace(gate, intercepts=gate.intercepts + torch.from_numpy(off))
        ends = np.sort(rng.integers(-16, 17, (2, 3)) / 4.0, axis=0)
        ends = np.where(rng.random((2, 3)) < 0.3, [[-np.inf], [np.inf]], ends)
        weight, dual = rng.integers(-6, 7, (2, 2, 3)) / 2.0
        expected = [
            [
                least_by_hand(gate, unit, *(Fraction(one[row, unit]) for one in (weight, dual)), ends[:, unit])
                for unit in range(3)
            ]
            for row in range(2)
        ]
        if -np.inf in expected[0] + expected[1]:
            with pytest.raises(CertificateError, match="duals do not bound"):
                _rest(gate, Whole.of(weight), Whole.of(dual), Seen(*ends))
            refused += 1
        else:
            found = _rest(gate, Whole.of(weight), Whole.of(dual), Seen(*ends))
            assert [found[row].fractions() for row in range(2)] == expected
            decided += np.isinf(ends).any()
    assert min(refused, decided) > 10


@pytest.mark.parametrize("name", ["gate", "unit", "level", "multipliers"])
def test_sets_with_other_entries_than_numbers_are_told(proved, name):
    net, safe, proof = proved

    def change(tree, ranges):
        node = tree[""]
        tree[""] = node._replace(**{name: ("0",) if name == "multipliers" else 0.5})

    with pytest.raises(CertificateError, match="set at the root has other entries than numbers"):
        check_proof(forged(proof, change), net, safe)


@pytest.mark.parametrize("seed", range(5))
def test_leaves_of_a_tree_hold_every_pattern_of_pieces_once(seed):
    """Trees that are drawn at random, over units with one to four pieces."""
    generator, seen = np.random.default_rng(seed), []
    pieces = [generator.integers(1, 5), generator.integers(2, 5)]

    def held(gate, seen_there, first, last):
        seen.append((gate, first.tolist(), last.tolist()))
        return SimpleNamespace(is_empty=True)

    bounds = SimpleNamespace(
        gates=[None, None], num_units=lambda gate: 2, num_pieces=lambda gate: pieces[gate], held=held
    )
    tree, waiting = {}, [("", np.zeros(4, dtype=int), np.repeat(pieces, 2) - 1)]
    while waiting:
        path, first, last = waiting.pop()
        free = np.flatnonzero(first < last)
        if not len(free) or (path and generator.random() < 0.2):
            tree[path] = SetNode(-1, 0, 0, (), ())
            continue
        place = generator.choice(free)
        level = int(generator.integers(first[place], last[place]))
        tree[path] = SetNode(int(place // 2), int(place % 2), level, (), ())
        low, high = last.copy(), first.copy()
        low[place], high[place] = level, level + 1
        waiting += [(path + "0", first, low), (path + "1", high, last)]
    check_tree(tree, bounds, [None, None], rs.Polyhedron(np.eye(1), np.zeros(1)), "a tree", Watch(60.0, "sets"))
    counts = np.zeros(np.repeat(pieces, 2), dtype=int)
    for (gate, *front), (other, *back) in zip(seen[::2], seen[1::2], strict=True):
        assert (gate, other) == (0, 1)
        first, last = (one + two for one, two in zip(front, back, strict=True))
        counts[tuple(slice(low, high + 1) for low, high in zip(first, last, strict=True))] += 1
    assert (counts == 1).all()


@pytest.mark.parametrize(
    ("duals", "is_right"),
    [
        (np.zeros((1, 3)), True),
        (np.array([[1, 2, 3]], dtype=object), True),
        (np.zeros((1, 4)), False),
        (np.array([[1, 2, 3, 4]], dtype=object), False),
        (np.array([[1, 2, 0.5]], dtype=object), False),
        (np.array([[0.0, np.inf, 0.0]]), False),
        (np.zeros((1, 3), dtype=np.int64), False),
        ([[0.0, 0.0, 0.0]], False),
        (None, False),
    ],
)
def test_duals_of_a_proof_are_numbers_of_the_shape_of_what_is_before(duals, is_right):
    assert _are_numbers(duals, (1, 3)) == is_right
