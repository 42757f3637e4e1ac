"""Proofs that properties hold: checked in whole numbers, and refused when anything in them is forged."""

import math
from copy import copy
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from itertools import product

import numpy as np
import pytest
import torch

import reluscope as rs
from networks.models import layers
from oracles.rational_steps import network_of
from reluscope.analyses.verification import checkable_bounds
from reluscope.checking.proofs import ProofBox
from reluscope.checking.property_proofs import ONE, WholeForm, _BoxRun, _exactly, _gate, _is_missed
from reluscope.errors import BudgetExceededError, CertificateError, InputError
from reluscope.networks.graph.nodes import Pointwise
from reluscope.testing import check_proof


@pytest.fixture(scope="module")
def proved():
    """A network, a property of two cases whose unsafe outputs take several rows to rule out, and the proof."""
    net = rs.load(layers([2, 6, 5, 2], seed=3))
    x = np.random.default_rng(0).uniform(-1, 1, (2000, 2))
    high = float(net(x).numpy()[:, 0].max())
    far = rs.Polyhedron([[-1.0, 0.0]], [-high - 0.05])
    apart = rs.Polyhedron([[1.0, 0.3], [-1.0, -0.3]], [0.2, -0.25])
    halves = [np.array([[-1.0, -1.0], [0.0, 1.0]]), np.array([[0.0, -1.0], [1.0, 1.0]])]
    safe = rs.verification.Property([rs.verification.Case(low, high, [far, apart]) for low, high in halves])
    found = rs.verify(net, safe, certify=True)
    assert found.verdict == "HOLDS"
    return net, safe, found.proof


def test_a_proof_is_checked_and_stored(proved, tmp_path):
    net, safe, proof = proved
    assert len(proof) > 4
    assert 0 < check_proof(proof, net, safe) <= len(proof)
    proof.save(tmp_path / "proof.json")
    again = rs.verification.Proof.load(tmp_path / "proof.json")
    assert again.trees == proof.trees
    assert check_proof(again, net, safe) > 0
    (tmp_path / "proof.json").write_text(
        (tmp_path / "proof.json").read_text(encoding="utf-8").replace("0x1", "0x3", 1), encoding="utf-8"
    )
    with pytest.raises(InputError, match="proof"):
        rs.verification.Proof.load(tmp_path / "proof.json")


def forged(proof, change):
    trees = tuple(dict(tree) for tree in proof.trees)
    change(trees[0])
    return replace(proof, trees=trees)


def without_a_box(tree):
    del tree[max(tree, key=len)]


def moved(tree):
    path = next(path for path, node in tree.items() if node.axis >= 0)
    tree[path] = tree[path]._replace(place=tree[path].place + 10)


def unhalved(tree):
    tree[""] = tree[""]._replace(axis=-1)


def at_the_root(tree):
    leaf = max(tree, key=len)
    tree[""] = tree[""]._replace(ruled_out={0: (1.0,), 1: tree[leaf].ruled_out.get(1, (0.5, 0.5))})


def negative(tree):
    path = next(path for path, node in tree.items() if 1 in node.ruled_out)
    tree[path] = tree[path]._replace(ruled_out={**tree[path].ruled_out, 1: (-1.0, 1.0)})


def of_nothing(tree):
    path = next(path for path, node in tree.items() if 0 in node.ruled_out)
    tree[path] = tree[path]._replace(ruled_out={**tree[path].ruled_out, 0: (0.0,)})


@pytest.mark.parametrize("change", [without_a_box, moved, unhalved, at_the_root, negative, of_nothing])
def test_forged_proofs_are_refused(proved, change):
    net, safe, proof = proved
    with pytest.raises(CertificateError, match="the proof proves nothing"):
        check_proof(forged(proof, change), net, safe)


def test_networks_with_a_maximum_have_no_proofs_to_check(proved):
    """One gate of another kind is enough, also beside nodes of the kinds that proofs are of."""
    _, safe, proof = proved
    parts = torch.nn.Linear(2, 4), torch.nn.Unflatten(1, (1, 4)), torch.nn.MaxPool1d(2), torch.nn.Flatten()
    pooled = rs.load(torch.nn.Sequential(*parts, torch.nn.Linear(2, 2)), input_shape=(2,))
    with pytest.raises(InputError, match="expected a network of pointwise gates"):
        check_proof(proof, pooled, safe)


def test_the_check_keeps_to_its_time(proved):
    net, safe, proof = proved
    with pytest.raises(BudgetExceededError, match="sufficed to check 0 boxes") as stopped:
        check_proof(proof, net, safe, budget=rs.Budget(seconds=0))
    assert stopped.value.partial == 0


def test_what_the_checker_has_no_time_for_is_open_everywhere(proved, monkeypatch):
    net, safe, _ = proved

    def out_of_time(*_, **__):
        raise BudgetExceededError("the time sufficed to check 0 boxes of 1: give more", 0)

    monkeypatch.setattr(import_module("reluscope.analyses.verification.deciding"), "check_proof", out_of_time)
    found = rs.verify(net, safe, certify=True)
    assert (found.verdict, found.proof, found.undecided.value) == ("OPEN", None, 1.0)
    assert found.stopped.startswith("unproved: the time sufficed")


def test_a_proof_is_of_one_network_and_one_property(proved):
    net, safe, proof = proved
    with pytest.raises(CertificateError, match="another network"):
        check_proof(proof, rs.load(layers([2, 6, 5, 2], seed=4)), safe)
    point = np.array([-0.5, 0.5])
    reached = rs.Polyhedron([[1.0, 0.0], [-1.0, 0.0]], np.array([1.0, -1.0]) * net(point).numpy()[0, 0] + 1e-9)
    cases = [replace(case, unsafe=(reached, case.unsafe[1])) for case in safe.cases]
    with pytest.raises(CertificateError):
        check_proof(proof, net, rs.verification.Property(cases))
    with pytest.raises(CertificateError, match="1 cases"):
        check_proof(proof, net, rs.verification.Property(safe.cases[:1]))


def test_what_the_checker_encloses_holds_all_outputs():
    torch.manual_seed(0)
    parts = [
        torch.nn.Linear(2, 5),
        torch.nn.LeakyReLU(0.3),
        torch.nn.Linear(5, 4),
        torch.nn.Hardtanh(),
        torch.nn.Linear(4, 2),
    ]
    for half in (0.7, 1e-6):
        net, center = rs.load(torch.nn.Sequential(*parts).double(), input_shape=(2,)), np.array([0.3, -0.2])
        lower, upper = center - half, center + half
        value = _BoxRun(net).outputs(*([Fraction(e) for e in ends] for ends in (lower, upper)))
        reach = np.abs(value.columns).sum(axis=1) + value.error
        low, high = (np.array([float(e) / ONE for e in ends]) for ends in (value.center - reach, value.center + reach))
        outputs = net(np.random.default_rng(0).uniform(lower, upper, (300, 2))).numpy()
        assert (low <= outputs.min(axis=0) + 1e-12).all()
        assert (outputs.max(axis=0) <= high + 1e-12).all()
        assert half > 1e-3 or (high - low < 1e-4).all()


def whole_form(rng, number, width):
    """Return entries as small whole numbers, of which rounding takes much."""
    return WholeForm(
        *(np.array(rng.integers(low, high, shape).tolist(), dtype=object)
          for low, high, shape in ((-40, 40, number), (-9, 10, (number, width)), (0, 3, number)))
    )  # fmt: skip


def extremes(form):
    """Yield the noise of a form at its ends, and entries with it, with their errors on either side."""
    for signs in product((-1, 1), repeat=form.columns.shape[1]):
        values = form.center + form.columns @ np.array(signs, dtype=object)
        for error in (-1, 1):
            yield signs, values + error * form.error


def test_what_whole_numbers_cannot_hold_of_affine_maps_is_in_their_error():
    rng, decided = np.random.default_rng(0), 0
    for _ in range(40):
        weight, constant = rng.normal(size=(3, 4)), rng.normal(size=3) * 2.0**-126
        run = _BoxRun(rs.load([(weight, constant)]))
        form = whole_form(rng, 4, 3)
        found = run._affine(1, [form])
        for signs, _ in extremes(form):
            near = found.center + found.columns @ np.array(signs, dtype=object)
            for row, center, error in zip(weight.tolist(), range(3), found.error.tolist(), strict=True):
                # Errors of entries each on the side on which they do harm.
                middle = (
                    np.array(list(map(Fraction, row))) * (form.center + form.columns @ np.array(signs, object))
                ).sum()
                harm = sum(abs(Fraction(w)) * e for w, e in zip(row, form.error.tolist(), strict=True))
                exact = middle + Fraction(constant[center]) * ONE
                for side in (-harm, harm):
                    assert abs(exact + side - near[center]) <= error
                    decided += abs(exact + side - near[center]) > error - 4
        assert (found.error <= np.abs(weight) @ form.error.astype(float) + 8).all()
    assert decided


@pytest.mark.parametrize(
    "gate",
    [
        ("pointwise", [0.0], [0.3, 1.0], [0.0, 0.0]),
        ("pointwise", [0.0], [0.0, 1.0], [0.0, 0.0]),
        ("pointwise", [-3 / ONE, 5 / ONE], [0.0, 1.0, 0.0], [-3 / ONE, 0.0, 5 / ONE]),
        ("pointwise", [0.0], [0.3, 0.7], [0.9 / ONE, 0.9 / ONE]),
    ],
)
def test_what_whole_numbers_cannot_hold_of_gates_is_in_their_error(gate):
    net = network_of([gate], 3)
    node = next(node for node in net.nodes[1:] if isinstance(node, Pointwise))
    points, slopes, starts = (
        [[Fraction(entry) for entry in row] for row in table.expand(-1, 3).T.tolist()]
        for table in (node.breakpoints, node.slopes, node.intercepts)
    )
    rng = np.random.default_rng(1)
    for _ in range(30):
        width = int(rng.integers(0, 3))
        form = whole_form(rng, 3, width)
        found = _gate(node, form, width + int(rng.integers(0, 2)))
        fresh = np.abs(found.columns[:, width:]).sum(axis=1) + found.error
        for signs, values in extremes(form):
            near = found.center + found.columns[:, :width] @ np.array(signs, dtype=object)
            for unit, value in enumerate(values):
                at = Fraction(int(value), ONE)
                piece = sum(point < at for point in points[unit])
                exact = (slopes[unit][piece] * at + starts[unit][piece]) * ONE
                assert abs(exact - near[unit]) <= fresh[unit]
        # A unit that strays has a column of its own.
        assert ((found.columns[:, width:] != 0).sum(axis=0) <= 1).all()


@pytest.mark.parametrize("scale", [1.0, 2.0**-127, 1 / 3])
def test_boxes_of_inputs_lie_in_their_forms(scale):
    run = _BoxRun(rs.load([(np.eye(2), np.zeros(2))]))
    rng = np.random.default_rng(2)
    for _ in range(30):
        ends = np.sort(rng.normal(size=(2, 2)) * scale, axis=0)
        lower, upper = ([Fraction(entry) for entry in side.tolist()] for side in ends)
        found = run.outputs(lower, upper)
        reach = np.abs(found.columns).sum(axis=1) + found.error
        for axis in range(2):
            assert found.center[axis] - reach[axis] <= lower[axis] * ONE
            assert upper[axis] * ONE <= found.center[axis] + reach[axis]
            assert 2 * reach[axis] <= (upper[axis] - lower[axis]) * ONE + 20


def test_gates_beside_each_other_do_not_stray_together():
    class Apart(torch.nn.Module):
        def forward(self, z):
            x, y = z[:, :1], z[:, 1:]
            return torch.relu(x) - torch.relu(y) - x / 2 + y / 2  # (|x| - |y|) / 2

    net = rs.load(Apart().double(), input_shape=(2,))
    for level, is_proved in ((-0.4, False), (-0.6, True)):
        case = rs.verification.Case([-1.0, -1.0], [1.0, 1.0], [rs.Polyhedron([[1.0]], [level])])
        safe = rs.verification.Property([case])
        claimed = rs.verification.Proof(net.fingerprint, ({"": ProofBox({0: (1.0,)})},))
        if is_proved:
            assert check_proof(claimed, net, safe) == 1
        else:
            with pytest.raises(CertificateError, match="may reach unsafe outputs"):
                check_proof(claimed, net, safe)


def test_proofs_are_refused_where_the_checker_knows_no_way(proved, monkeypatch):
    net, safe, _ = proved
    monkeypatch.setattr(checkable_bounds, "MAX_DUALS", 59)  # 2 * 6 * 5 numbers
    with pytest.raises(InputError, match=r"at most 59 .*certify=True.* got 60"):
        rs.verify(net, safe, split="units", certify=True)
    parts = torch.nn.Linear(2, 4), torch.nn.Unflatten(1, (1, 4)), torch.nn.MaxPool1d(2), torch.nn.Flatten()
    pooled = rs.load(torch.nn.Sequential(*parts), input_shape=(2,))
    with pytest.raises(InputError, match="pointwise gates without jumps for certify=True"):
        rs.verify(pooled, safe, certify=True)


@pytest.mark.parametrize(
    "node",
    [
        ProofBox({0: ("1.0",)}),
        ProofBox({0: None}),
        ProofBox({0: (np.nan,)}),
        ProofBox({"0": (1.0,)}),
        ProofBox([], 0, 0.0),
        ProofBox({}, 0.5, 0.0),
        ProofBox({}, 0, np.nan),
        ProofBox({}, 0, np.inf),
        ProofBox({}, 0, None),
        ProofBox({}, 0, "0.0"),
        ProofBox({0: (1.0,)}, 0, "0.0"),
    ],
)
def test_boxes_of_anything_but_numbers_prove_nothing(proved, node):
    net, safe, proof = proved
    with pytest.raises(CertificateError, match="proves nothing"):
        check_proof(replace(proof, trees=({**proof.trees[0], "": node}, proof.trees[1])), net, safe)


@pytest.mark.parametrize("trees", [None, 5, ({"": None},), ({},), (5,), ((None, None),), "ab"])
def test_trees_of_anything_else_prove_nothing(proved, trees):
    net, safe, proof = proved
    other = copy(proof)
    object.__setattr__(other, "trees", trees)
    with pytest.raises(CertificateError, match="proves nothing"):
        check_proof(other, net, rs.verification.Property(safe.cases[:1]))


def test_float32_ends_are_the_largest_below():
    values = torch.tensor([0.5, 0.1, -0.1, 0.0, 2.0**-160], dtype=torch.float64)
    found = checkable_bounds._below(values)
    assert (found.double() <= values).all()
    assert (torch.nextafter(found, torch.tensor(torch.inf)).double() > values).all()


def test_short_duals_are_whole_numbers_of_twenty_bits_that_are_near():
    values = torch.tensor([[0.1, -0.7, 1e-9], [3.0, 1000.123, 0.0], [0.0, 0.0, 0.0], [2.0, 4.0, -1.0]]).double()
    (short,) = checkable_bounds.shortened([values])
    for row, found in zip(values.tolist(), short.tolist(), strict=True):
        most = max(map(abs, row))
        assert max(abs(a - b) for a, b in zip(row, found, strict=True)) <= most * 2.0**-checkable_bounds.BITS
        power = 2.0 ** (math.floor(math.log2(most or 1.0)) + 1 - checkable_bounds.BITS)
        assert all((entry / power).is_integer() for entry in found)


def test_multipliers_are_at_least_zero_and_finite():
    zero = np.array([0], dtype=object)
    outputs, unsafe = WholeForm(zero, zero[:, None], zero), rs.Polyhedron([[1.0], [-1.0]], [-1.0, 5.0])
    assert _is_missed(outputs, unsafe, (1.0, 0.0))
    assert not any(_is_missed(outputs, unsafe, (1.0, other)) for other in (-1.0, np.inf))
    assert not _is_missed(outputs, unsafe, (0.0, 0.0))


def test_matrices_are_whole_numbers_whatever_their_size():
    for number in (3.0 * 2.0**80, -0.375, 2.0**-70):
        numbers, power = _exactly(np.array([[number]]))
        assert Fraction(int(numbers[0, 0]), 2**power) == Fraction(number)


@pytest.mark.parametrize(
    "changes",
    [
        {"ruled_out": [(0, (1.0,))]},
        {"axis": 0.5},
        {"place": "0"},
        {"ruled_out": {"0": (1.0,)}},
        {"ruled_out": {0: [1.0]}},
        {"ruled_out": {0: ("1",)}},
        {"ruled_out": {0: (1.0,), "1": (1.0,)}},
        {"ruled_out": {0: (1.0, "1")}},
    ],
)
def test_boxes_with_other_entries_than_numbers_are_told(proved, changes):
    net, safe, proof = proved

    def change(tree):
        tree[""] = tree[""]._replace(**changes)

    with pytest.raises(CertificateError, match="box at the root has other entries than numbers"):
        check_proof(forged(proof, change), net, safe)
