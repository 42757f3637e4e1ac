"""Proofs and certificates with any part damaged or forged: refused with one sentence, or right all the same."""

import copy
import random
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction

import numpy as np
import pytest
import torch

import reluscope as rs
from conformance.bad_input.values import Stranger, is_one_sentence
from reluscope.errors import CertificateError, ReluscopeError
from reluscope.networks.building.builder import GraphBuilder
from reluscope.testing import check_certificate, check_proof

LARGE = 10**400
JUNK = [None, True, -1, 0, 5, 2**63, LARGE, -LARGE, 0.5, float("nan"), float("inf"), 1e308, 5e-324, Fraction(1, 3), 1j,
        Fraction(LARGE), "", "ab", b"x", (), (1,), (None, None), [], {}, {"": None}, {0}, range(3), np.int64(1),
        np.float64(2), np.array([1.0]), np.array("a"), np.zeros((0, 3)),
        np.array([None]), Stranger(), object]  # fmt: skip
LAYERS = [
    (np.array([[1.0, -0.5], [0.5, 1.0], [-1.0, 0.25]]), np.array([0.25, 0, 0.5])),
    (np.array([[1.0, 0.5, -1.0], [0.5, -1.0, 1.0]]), np.array([0.125, 0.5])),
    (np.array([[1.0, -2.0]]), np.zeros(1)),
]
NET, BOX = rs.load(LAYERS), rs.Box(-1, 1, 2)
Case, Property = rs.verification.Case, rs.verification.Property


def is_tuple(value):
    """Tell a plain tuple or list from a named one."""
    return isinstance(value, tuple | list) and not hasattr(value, "_fields")


def places(value):
    if isinstance(value, Mapping):
        return list(value)
    if isinstance(value, tuple | list):
        return range(len(value))
    if isinstance(value, np.ndarray):
        return [*np.ndindex(value.shape)]
    return [one.name for one in fields(value)] if is_dataclass(value) else []


def changed(value, place, part):
    """Return a copy with one part another."""
    if isinstance(value, Mapping):
        return {**value, place: part}
    if isinstance(value, np.ndarray):
        other = value.astype(object) if not isinstance(part, float) else value.copy()
        other[place] = part
        return other
    if is_dataclass(value):
        other = copy.copy(value)
        object.__setattr__(other, place, part)
        return other
    made = [*value[:place], part, *value[place + 1 :]]
    return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)


def damaged(value, rng, *, is_whole=True):
    """Return a copy with a random part forged, replaced by something else, left out, or cut off with all behind it."""
    keys = places(value)
    if keys and (is_whole or rng.random() < 0.8):
        place, how = rng.choice(keys), rng.random()
        if is_tuple(value) and how < 0.15:
            return type(value)([*value[:place], *(value[place + 1 :] if how < 0.07 else ())])
        if isinstance(value, Mapping) and how < 0.1:
            return {key: part for key, part in value.items() if key != place}
        part = getattr(value, place) if is_dataclass(value) else value[place]
        return changed(value, place, damaged(part, rng, is_whole=False))
    if isinstance(value, int | float | Fraction) and rng.random() < 0.4:
        return value + rng.choice([1, -1, 0.5, 2**60])
    return rng.choice(JUNK)


def refused(call):
    """Return what a call gives, None if it refuses with one sentence."""
    try:
        return call()
    except ReluscopeError as error:
        said = str(error)
    assert is_one_sentence(said), said
    return None


def property_at(level):
    case = Case([-1.0, -1.0], [1.0, 1.0], [rs.Polyhedron([[-1.0]], [-level])])
    part = Case([-0.5, -1.0], [1.0, 0.0], [rs.Polyhedron([[-1.0], [-1.0]], [-level, -3.0])])
    return Property([case, part])


@pytest.fixture(scope="module", params=["inputs", "units", "fractions"])
def proof(request):
    """A proof that outputs, at most 1.625, are below 1.75; in fractions that they are below 1.625 + 2^-50."""
    split, level = ("inputs", 1.625 + 2.0**-50) if request.param == "fractions" else (request.param, 1.75)
    safe = property_at(level)
    return safe, rs.verify(NET, safe, split=split, certify=True).proof


def test_damaged_proofs_are_refused_with_a_sentence(proof):
    safe, found = proof
    assert check_proof(found, NET, safe) > 0
    violated = property_at(1.6)  # no proof of it is right
    for seed in range(150):
        one = damaged(found, random.Random(seed))
        refused(lambda one=one: check_proof(one, NET, safe))
        assert refused(lambda one=one: check_proof(one, NET, violated)) is None, seed


def test_damaged_certificates_are_refused_with_a_sentence():
    found = rs.certify(rs.partition(NET, BOX)).certificate
    number = check_certificate(found, NET, BOX)
    taken = [refused(lambda seed=seed: check_certificate(damaged(found, random.Random(seed)), NET, BOX))
             for seed in range(300)]  # fmt: skip
    assert {*taken} <= {None, number}
    assert taken.count(None) > 250


def jumping():
    graph = GraphBuilder()
    step = graph.pointwise(graph.input((2,)), "step", [0.0], [0.0, 0.0], [0.0, 1.0], may_jump=True)
    return graph.build(step)


def pooling():
    parts = torch.nn.Linear(2, 4), torch.nn.Unflatten(1, (1, 4)), torch.nn.MaxPool1d(4), torch.nn.Flatten()
    return rs.load(torch.nn.Sequential(*parts), input_shape=(2,))


OTHERS = [
    lambda: rs.load([*LAYERS[:2], (np.array([[1.0, -2.0]]), np.full(1, 5e-324))]),
    lambda: rs.load(LAYERS[:2]),
    lambda: rs.load(LAYERS[2:]),
    lambda: rs.load([(np.ones((1, 3)), np.zeros(1))]),
    jumping,
    pooling,
]


@pytest.mark.parametrize("other", OTHERS)
def test_other_networks_are_refused_with_a_sentence(other):
    safe, net = property_at(1.75), other()
    found, certificate = rs.verify(NET, safe, certify=True).proof, rs.certify(rs.partition(NET, BOX)).certificate
    for call in (lambda: check_proof(found, net, safe), lambda: check_certificate(certificate, net, BOX)):
        with pytest.raises(ReluscopeError) as caught:
            call()
        assert is_one_sentence(str(caught.value))


def test_ends_that_are_no_numbers_prove_nothing():
    safe = property_at(1.75)
    found = rs.verify(NET, safe, split="units", certify=True).proof
    object.__setattr__(safe.cases[0], "lower", np.array([np.nan, -1.0]))
    with pytest.raises(CertificateError, match="not finite"):
        check_proof(found, NET, safe)
