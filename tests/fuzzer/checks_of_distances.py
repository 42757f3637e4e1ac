"""The checks of distances: to another class, to the boundary of a region, and of adversarial examples."""

from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

from fuzzer import true_answers as answers
from fuzzer import true_cones as cones
from fuzzer.comparing import compare, exact
from fuzzer.heights import smallest_height_squared
from fuzzer.questions import Point
from fuzzer.tested_case import SAFETY, TestedCase, root
from fuzzer.truth import TrueDomain, Truth

# Documented: what is thinner than this share of the point and the distance is left out.
RESOLUTION = Fraction(1, 10**9)


def check_distances(subject: TestedCase) -> None:
    """Compare all distances of a point with the truth."""
    question = subject.case.question
    assert isinstance(question, Point)
    point = exact(question.point)
    truth = subject.truth
    if not all(cones.dot(row, (*point, Fraction(1))) > 0 for row in truth.domain.rows):
        return
    everywhere = Truth(truth.layers, TrueDomain(subject.dimension, ()), truth.most_cells, 10.0)
    inside = truth if question.within else everywhere
    label, ties = answers.class_at(truth, point)
    if ties:
        return
    norm = f"norm={question.norm!r}"
    least, most = _change(inside, point, label, question.norm)
    _compare_distance(subject, "decision_distance", f"net, x, {norm}, domain=within", least, most)
    free = _change(everywhere, point, label, question.norm)
    _compare_distance(subject, "certified_radius", f"net, x, {norm}", *free, quantity="decision_distance")
    cells = [inside.regions[row] for row in inside.containing(point)]
    if len(cells) == 1:
        own = _nearest(answers.tied_parts(cells[0], label), point, question.norm)
        _compare_distance(subject, "decision_distance_within", f"net, x, {norm}, domain=within", *own)
        power = answers.facet_distance(cells[0], point, question.norm)
        wall = inf if power is None else _length(power, question.norm)
        _compare_distance(subject, "boundary_distance", f"net, x, {norm}, domain=within", wall, wall)
    if question.norm != "l1":
        _check_pgd(subject, label, free)


def _change(truth: Truth, point: tuple[Fraction, ...], label: int, norm: str) -> tuple[Any, Any]:
    """Return the distance of the nearest change of class, and of the nearest one that is not too thin to be seen."""
    return _nearest(answers.changed_parts(truth.regions, label), point, norm)


def _nearest(parts: list[cones.RationalCone], point: tuple[Fraction, ...], norm: str) -> tuple[Any, Any]:
    size = max(abs(entry) for entry in point)
    every: list[Fraction] = []
    thick: list[Fraction] = []
    for part in parts:
        distance = _length(answers.distance_power(part, point, norm), norm)
        every.append(distance)
        height = smallest_height_squared(part)
        if height is None or height > (SAFETY * RESOLUTION * (size + distance)) ** 2:
            thick.append(distance)
    return min(every, default=inf), min(thick, default=inf)


def _length(power: Fraction, norm: str) -> Fraction:
    return Fraction(root(power)) if norm == "l2" else power


def _compare_distance(
    subject: TestedCase, name: str, arguments: str, least: Any, most: Any, quantity: str | None = None
) -> None:
    call = f"rs.robustness.{name}({arguments})"
    found = subject.ask(name, call)
    if found is None:
        return
    quantity = quantity or name
    if str(found.status[0]) != "done":
        return
    question = subject.case.question
    assert isinstance(question, Point)
    far = Fraction(0) if most == inf else Fraction(most)
    scale = max(max(abs(entry) for entry in exact(question.point)), far)
    compare(subject, name, found.finding(quantity, 0), least, most, scale, f"{call}.finding({quantity!r}, 0)")


def _check_pgd(subject: TestedCase, label: int, change: tuple[Any, Any]) -> None:
    """Check that an adversarial example is within its ball, and no nearer than a class can change."""
    question = subject.case.question
    assert isinstance(question, Point)
    nearest = change[0]
    width = float(np.max(np.asarray(subject.domain.hi) - np.asarray(subject.domain.lo)))
    radius = width / 4 if nearest == inf else min(width, 1.5 * float(nearest))
    if not radius > 0:
        return
    call = f"rs.local.pgd(net, x, np.array([{label}]), radius={radius!r}, norm={question.norm!r}, box=domain)"
    found = subject.ask("pgd", call)
    if found is None:
        return
    moved = [b - a for a, b in zip(exact(question.point), exact(found[0]), strict=True)]
    far = _length(Fraction(cones.dot(moved, moved)), "l2") if question.norm == "l2" else max(map(abs, moved))
    rounding = Fraction(1, 2**50) * (max(abs(entry) for entry in exact(question.point)) + Fraction(radius))
    if far > Fraction(radius) * (1 + Fraction(1, 10**9)) + rounding:
        subject.fail("pgd: radius", f"{float(far)!r} away, allowed {radius!r}", call)
    if not all(cones.dot(row, (*exact(found[0]), Fraction(1))) >= 0 for row in subject.truth.domain.rows):
        subject.fail("pgd: box", f"{found[0].tolist()} is outside", call)
        return
    other, _ = answers.class_at(subject.truth, exact(found[0]))
    if other != label and nearest != inf and far + rounding < nearest:
        subject.fail("oracle: pgd", f"a change {float(far)!r} away, where the oracle has {float(nearest)!r}", call)
