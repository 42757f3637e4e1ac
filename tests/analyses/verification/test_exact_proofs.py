"""Proofs in whole numbers of what float64 cannot prove: equality, tiny and huge weights; truth from fractions."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import reluscope as rs
from reluscope.checking.dual_bounds import DualBounds, Seen
from reluscope.checking.proofs import ProofBox, SetNode
from reluscope.checking.whole_numbers import Whole
from reluscope.errors import CertificateError
from reluscope.testing import check_proof

Case, Property = rs.verification.Case, rs.verification.Property
ONE = np.ones(2)


def cut(polygon, form):
    """Return the two closed parts of a convex polygon, by the sign of an affine function."""
    heights = [form[0] * x + form[1] * y + form[2] for x, y in polygon]
    above, below = [], []
    for place, (corner, height) in enumerate(zip(polygon, heights, strict=True)):
        before, other = polygon[place - 1], heights[place - 1]
        if other * height < 0:
            share = other / (other - height)
            middle = tuple(a + share * (b - a) for a, b in zip(before, corner, strict=True))
            above.append(middle)
            below.append(middle)
        if height >= 0:
            above.append(corner)
        if height <= 0:
            below.append(corner)
    return above, below


def largest(layers, lower, upper):
    """Return the largest output of a ReLU network of two inputs on a box, in fractions."""
    (a, b), (c, d) = ([Fraction(entry) for entry in side.tolist()] for side in (lower, upper))
    zero, one = Fraction(0), Fraction(1)
    cells = [([(a, b), (c, b), (c, d), (a, d)], [(one, zero, zero), (zero, one, zero)])]
    for layer, (W, shift) in enumerate(layers):
        parts = []
        for polygon, forms in cells:
            split = [(polygon, [])]
            for row, start in zip(W.tolist(), shift.tolist(), strict=True):
                entries = [[Fraction(w) * f for f in form] for w, form in zip(row, forms, strict=True)]
                seen = [sum(column, zero) for column in zip(*entries, strict=True)]
                seen[2] += Fraction(start)
                if layer == len(layers) - 1:
                    split = [(part, [seen]) for part, _ in split]
                    continue
                halves = [(part, cut(part, seen), known) for part, known in split]
                split = [(above, [*known, seen]) for _, (above, _), known in halves if above]
                split += [(below, [*known, (zero,) * 3]) for _, (_, below), known in halves if below]
            parts += split
        cells = parts
    return max(form[0] * x + form[1] * y + form[2] for polygon, (form,) in cells for x, y in polygon)


def drawn(seed):
    """Return a small network with rational weights, and a box."""
    rng = np.random.default_rng(seed)
    parts = [2, 4, 8, 3, 10][seed % 5]
    widths = [2, *rng.integers(2, 6, rng.integers(1, 3)).tolist(), 1]
    shapes = zip(widths[1:], widths[:-1], strict=True)
    layers = [
        (rng.integers(-2 * parts, 2 * parts + 1, shape) / parts, rng.integers(-parts, parts + 1, shape[0]) / parts)
        for shape in shapes
    ]
    return layers, rng.integers(-2 * parts, 0, 2) / parts, rng.integers(1, 2 * parts + 1, 2) / parts


def at_least(lower, upper, level):
    return Property([Case(lower, upper, [rs.Polyhedron([[-1.0]], [-level])])])


def certified(layers, lower, upper, level, **options):
    """Compare a verdict with the truth, and check its proof."""
    truth, net = largest(layers, lower, upper), rs.load(layers)
    safe = at_least(lower, upper, level)
    found = rs.verify(net, safe, certify=True, budget=rs.Budget(regions=2_000), **options)
    assert str(found) == ("VIOLATED" if Fraction(level) <= truth else "HOLDS"), found.stopped
    if found.proof is not None:
        assert check_proof(found.proof, net, safe) > 0
    return net, safe, found


@pytest.mark.few(12)
@pytest.mark.parametrize("seed", range(200))
def test_equality_is_decided_with_a_proof(seed):
    layers, lower, upper = drawn(seed)
    level = float(largest(layers, lower, upper))
    steps = [0.0, -np.inf, np.inf]
    certified(layers, lower, upper, float(np.nextafter(level, steps[seed // 5 % 3])) if seed // 5 % 3 else level)


@pytest.mark.parametrize("split", ["inputs", "units"])
@pytest.mark.parametrize("seed", [0, 1])
def test_both_searches_prove_by_whole_numbers(seed, split):
    layers, lower, upper = drawn(seed)
    level = float(np.nextafter(float(largest(layers, lower, upper)), np.inf))
    _, _, found = certified(layers, lower, upper, level, split=split)
    trees = [tree for case in found.proof.trees for tree in (case.trees if split == "units" else nodes_of(case))]
    assert any(isinstance(one, tuple) for tree in trees for node in tree.values() for one in node.duals)


def nodes_of(case):
    return [tree for node in case.values() for tree in node.by_sets.values()]


W, B = np.array([[1.0, -0.5], [-1.5, 0.25], [0.75, 2.0]]), np.array([0.5, -0.25, 0.125])
LAST, END = np.array([[1.0, -2.0, 0.5]]), np.array([0.25])
TINY = 5e-324
EXTREME = {
    "no gates": ([(LAST[:, :2], END)], ONE),
    "no gates, thirds": ([(LAST[:, :2] / 3, END / 7)], ONE),
    "a constant": ([(0 * LAST[:, :2], END)], ONE),
    "1e-200 at first": ([(1e-200 * W, 1e-200 * B), (LAST, 0 * END)], ONE),
    "1e-200 and 1e-100": ([(1e-200 * W, 1e-200 * B), (1e-100 * LAST, 0 * END)], ONE),
    "1e-200 and 1e200": ([(1e-200 * W, 1e-200 * B), (1e200 * LAST, END)], ONE),
    "1e200": ([(1e200 * W, 1e200 * B), (LAST, END)], ONE),
    "1e200 and 1e-200": ([(1e200 * W, 1e200 * B), (1e-200 * LAST, END)], ONE),
    "1e300": ([(1e300 * W, B), (LAST, END)], ONE),
    "denormals": ([(8 * TINY * W, 0 * B), (LAST, END)], ONE),
    "denormals at last": ([(W, B), (8 * TINY * LAST, 0 * END)], ONE),
    "a mixture": ([(np.array([[1e-200, 1.0], [1e200, 1.0], [1.0, -1e200]]), B), (LAST, END)], ONE),
    "a box of denormals": ([(W, B), (LAST, END)], TINY * ONE),
    "a box of 1e99": ([(W, B), (LAST, END)], 1e99 * ONE),
}


@pytest.mark.few(14)
@pytest.mark.parametrize("name", EXTREME)
@pytest.mark.parametrize("split", ["inputs", "units"])
def test_extreme_numbers_are_decided_with_a_proof(name, split):
    layers, upper = EXTREME[name]
    truth = float(largest(layers, -upper, upper))
    certified(layers, -upper, upper, truth, split=split)
    certified(layers, -upper, upper, float(np.nextafter(truth, np.inf)), split=split)
    certified(layers, -upper, upper, 2 * truth, split=split)  # by much


@pytest.fixture(scope="module", params=["inputs", "units"])
def proved(request):
    layers, lower, upper = drawn(1)
    level = float(np.nextafter(float(largest(layers, lower, upper)), np.inf))
    net, safe, found = certified(layers, lower, upper, level, split=request.param)
    return net, safe, found.proof


def test_proofs_in_whole_numbers_are_stored(proved, tmp_path):
    net, safe, proof = proved
    proof.save(tmp_path / "net.proof")
    again = rs.verification.Proof.load(tmp_path / "net.proof")
    assert check_proof(again, net, safe) == check_proof(proof, net, safe)
    assert len(again) == len(proof) > 1


def changed(proof, change):
    """Return a proof with one of its leaves in whole numbers changed."""
    case = proof.trees[0]
    if isinstance(case, dict):
        path = next(path for path, node in case.items() if node.by_sets)
        return replace(proof, trees=({**case, path: case[path]._replace(by_sets={0: change(case[path].by_sets[0])})},))
    return replace(proof, trees=(case._replace(trees=(change(case.trees[0]),)),))


def leaf(tree):
    """Return a set that rules unsafe outputs out, not one that is empty."""
    return next(path for path, node in tree.items() if any(node.multipliers) and isinstance(node.duals[0], tuple))


def first_dual(node, number):
    return node._replace(duals=((number, *node.duals[0][1:]), *node.duals[1:]))


FORGED = {
    "a set is missing": lambda tree, path: {one: node for one, node in tree.items() if one != path},
    "another level": lambda tree, path: {**tree, path: tree[path]._replace(multipliers=(0,))},
    "a negative multiplier": lambda tree, path: {**tree, path: tree[path]._replace(multipliers=(-1,))},
    "a larger multiplier": lambda tree, path: {**tree, path: tree[path]._replace(multipliers=(10**400,))},
    "another dual": lambda tree, path: {**tree, path: first_dual(tree[path], tree[path].duals[0][0] + 10**400)},
    "no whole number": lambda tree, path: {**tree, path: first_dual(tree[path], 0.5)},
    "a truth": lambda tree, path: {**tree, path: first_dual(tree[path], True)},
    "text": lambda tree, path: {**tree, path: first_dual(tree[path], "1")},
    "fewer duals": lambda tree, path: {**tree, path: tree[path]._replace(duals=tree[path].duals[:-1])},
    "shorter duals": lambda tree, path: {**tree, path: tree[path]._replace(duals=(tree[path].duals[0][1:],))},
    "no set": lambda tree, path: {**tree, path: None},
    "said to be empty": lambda tree, path: {**tree, path: SetNode()},
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_whole_numbers_are_refused(proved, name):
    net, safe, proof = proved
    with pytest.raises(CertificateError, match="the proof proves nothing"):
        check_proof(changed(proof, lambda tree: FORGED[name](tree, leaf(tree))), net, safe)


@pytest.mark.parametrize("by_sets", [{1: {"": SetNode()}}, {0: {}}, {0: None}, None, 5, {"0": {"": SetNode()}}])
def test_boxes_with_other_things_than_sets_prove_nothing(proved, by_sets):
    net, safe, proof = proved
    with pytest.raises(CertificateError, match="the proof proves nothing"):
        check_proof(replace(proof, trees=({"": ProofBox({}, by_sets=by_sets)},)), net, safe)


def test_proofs_in_whole_numbers_are_of_their_threshold(proved):
    net, safe, proof = proved
    below = [replace(case, unsafe=[rs.Polyhedron(one.A, -np.nextafter(-one.b, -np.inf)) for one in case.unsafe])
             for case in safe.cases]  # fmt: skip
    with pytest.raises(CertificateError, match="may reach unsafe outputs"):
        check_proof(proof, net, Property(below))


@pytest.mark.parametrize(("dual", "is_bounded"), [(-1, False), (0, True), (1, True), (2, False)])
def test_units_that_may_see_anything_are_bounded_by_some_duals_alone(dual, is_bounded):
    net = rs.load([(np.eye(1), np.zeros(1)), (np.eye(1), np.zeros(1))])  # relu(x) >= dual * x
    bounds = DualBounds(net, -np.ones(1), np.ones(1))
    rows, duals = Whole.of(np.ones((1, 1))), [np.array([[dual]], dtype=object)]
    if is_bounded:
        assert bounds.least(rows, duals, bounds.unknown()).fractions() == [-dual]
    else:
        with pytest.raises(CertificateError, match="duals do not bound"):
            bounds.least(rows, duals, bounds.unknown())
    half = [Seen(np.zeros(1), np.full(1, np.inf))]
    if dual < 1:
        assert bounds.least(rows, duals, half).fractions() == [-abs(dual)]
