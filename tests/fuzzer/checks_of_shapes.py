"""The checks of merged regions and pruned networks, of level sets and their homology, and of boundaries of classes."""

from fractions import Fraction
from typing import Any

import numpy as np

from fuzzer import true_answers as answers
from fuzzer import true_cones as cones
from fuzzer import true_topology
from fuzzer.checks_of_sets import partition_text
from fuzzer.comparing import compare, exact, points_inside
from fuzzer.questions import Level, WholePartition
from fuzzer.tested_case import DEFAULT_RESOLUTION, SAFETY, TestedCase
from fuzzer.true_layers import difference

# Relative to the sums of the sizes of terms: rounding of outputs. Relative to outputs: that of pruned networks.
ROUNDED, PRUNED = 1e-13, 1e-12
# Documented: a class with a smaller share of a plane may be left out.
LEAST_SHARE = Fraction(1, 10**9)
# What a count claims, by what it may be.
_NO_END = {"EXACT": (1, 1), "LOWER": (1, 0), "UPPER": (0, 1), "ESTIMATE": (0, 0)}


def check_merges(subject: TestedCase) -> None:
    """Compare merged regions and pruned networks with the network."""
    import reluscope as rs

    question = subject.case.question
    assert isinstance(question, WholePartition)
    call = f"rs.compression.merge_regions({partition_text(question.regions)}, error)"
    found = subject.ask("merge", call, (rs.errors.IncompletePartitionError,))
    points = points_inside(subject, 40)
    if found is not None:
        _check_merged(subject, found, points, call)
    call = "rs.compression.prune_exact(net, domain=domain)"
    pruned = subject.ask("prune", call, (rs.errors.UnsupportedOperatorError,))
    if pruned is not None:
        _check_function(subject, "prune", pruned.network, points, f"{call}.network")


def _check_merged(subject: TestedCase, found: Any, points: np.ndarray, call: str) -> None:
    question = subject.case.question
    assert isinstance(question, WholePartition)
    if question.error == 0:
        _compare_count(
            subject, "merge pieces", found.num_pieces, subject.truth.num_open_connected, f"{call}.num_pieces"
        )
    error = _error_of(subject, found, points)
    slack = _rounding(subject)
    high = {"EXACT": found.max_error.value, "UPPER": found.max_error.value}.get(
        str(found.max_error.claim), (found.max_error.interval or (0, np.inf))[1]
    )
    stated = (found.max_error.tolerance or 0.0) if str(found.max_error.claim) == "EXACT" else 0.0
    if error is not None and error > high + stated + slack:
        subject.fail("merge: error", f"{found.max_error}, but {error!r} at some point", f"{call}.max_error")


def _error_of(subject: TestedCase, found: Any, points: np.ndarray) -> float | None:
    values = subject.attempt("merge call", lambda: found(points))
    if values is None:
        return None
    largest = 0.0
    for point, value in zip(points, values, strict=True):
        if np.isfinite(value).all():
            right = answers.value_at(subject.truth, exact(point))
            gaps = [abs(float(Fraction(float(a)) - b)) for a, b in zip(value, right, strict=True)]
            largest = max(largest, *gaps)
    return largest


def _rounding(subject: TestedCase) -> float:
    """Return a bound on the rounding of outputs on the domain."""
    corner = np.maximum(np.abs(np.asarray(subject.domain.lo)), np.abs(np.asarray(subject.domain.hi)))
    return float(ROUNDED * (subject.magnitudes @ np.append(corner, 1.0)).max())


def _check_function(subject: TestedCase, check: str, network: Any, points: np.ndarray, call: str) -> None:
    values = subject.attempt(f"{check} call", lambda: network(points).numpy())
    if values is None:
        return
    slack = _rounding(subject)
    for point, value in zip(points, values, strict=True):
        right = np.array([float(entry) for entry in answers.value_at(subject.truth, exact(point))])
        if not (np.abs(value - right) <= slack + PRUNED * np.abs(right)).all():
            told = f"{value.tolist()} at {point.tolist()}, truth {right.tolist()}"
            subject.fail(f"{check}: outputs", told, f"{call}({[point.tolist()]})")
            return


def _compare_count(subject: TestedCase, check: str, finding: Any, right: int, call: str) -> None:
    """Compare a count, where no region is so thin that it may be hidden."""
    if len(subject.required(DEFAULT_RESOLUTION)) < len(subject.codes):
        return
    low, high = finding.interval if finding.interval is not None else (-np.inf, np.inf)
    is_least, is_most = _NO_END[str(finding.claim)]
    low = max(low, finding.value) if is_least else low
    high = min(high, finding.value) if is_most else high
    if not low <= right <= high:
        subject.fail(f"{check}: count", f"{finding}, truth {right}", call)


# -- levels ----------------------------------------------------------------------------------------------------------


def check_levels(subject: TestedCase) -> None:
    """Compare Betti numbers, and sizes of level sets, with the truth."""
    import reluscope as rs

    question = subject.case.question
    assert isinstance(question, Level)
    level = Fraction(question.level)
    forms = [_shifted(cell.outputs[question.output], level) for cell in subject.truth.regions]
    sides = {"sublevel": -1, "superlevel": 1, "level": 0}
    part = partition_text(question.regions)
    chosen = str(subject.generator.choice([*sides, "decision"]))
    call = f"rs.topology.betti({part}, of={chosen!r}, level=level, output={question.output})"
    if chosen == "decision":
        call = f"rs.topology.betti({part}, of='decision')"
        sets = _ties(subject)
    else:
        cut = [_side(cell.cone, form, sides[chosen]) for cell, form in zip(subject.truth.regions, forms, strict=True)]
        sets = [one for one in cut if not one.is_empty]
    right = true_topology.betti_numbers(sets, subject.dimension)
    found = subject.ask(f"betti {chosen}", call, (rs.errors.IncompletePartitionError,))
    if found is not None and not _has_slivers(subject, chosen, forms):
        for dimension, number in enumerate(right):
            finding = found.finding("betti_number", dimension)
            _compare_count(subject, f"betti {chosen}", finding, number, f"{call}.finding('betti_number', {dimension})")
    if subject.dimension > 1:
        _check_level_set(subject, question, forms, is_clear=not _has_slivers(subject, "level", forms))


def _has_slivers(subject: TestedCase, chosen: str, forms: list[tuple[Fraction, ...]]) -> bool:
    """Tell whether a level is nearer to a vertex than the documented resolution, and not on it."""
    thin = (SAFETY * Fraction(DEFAULT_RESOLUTION)) ** 2 * (subject.truth.diameter_squared or 0)
    for cell, form in zip(subject.truth.regions, forms, strict=True):
        compared = answers.compared(cell)
        ties = [difference(a, b) for i, a in enumerate(compared) for b in compared[:i]]
        for tie in ties if chosen == "decision" else [form]:
            steep = cones.dot(tie[:-1], tie[:-1])
            values = [cones.dot(tie[:-1], vertex) + tie[-1] for vertex in cell.cone.vertices]
            if steep and any(value and value * value <= thin * steep for value in values):
                return True
    return False


def _shifted(form: tuple[Fraction, ...], level: Fraction) -> tuple[Fraction, ...]:
    return (*form[:-1], form[-1] - level)


def _side(cone: cones.RationalCone, form: tuple[Fraction, ...], sign: int) -> cones.RationalCone:
    if not any(form):
        return cone
    row = cones.integers(form)
    return (cones.below, cones.on, cones.above)[sign + 1](cone, row)


def _ties(subject: TestedCase) -> list[cones.RationalCone]:
    """Return where two classes tie that no other one exceeds: closed sets."""
    found = []
    for cell in subject.truth.regions:
        forms = answers.compared(cell)
        for j in range(len(forms)):
            for i in range(j):
                part = _side(cell.cone, difference(forms[i], forms[j]), 0)
                part = answers.part_above(part, [difference(forms[i], form) for form in forms])
                if not part.is_empty:
                    found.append(part)
    return found


def _check_level_set(
    subject: TestedCase, question: Level, forms: list[tuple[Fraction, ...]], *, is_clear: bool
) -> None:
    """Compare the volumes below and above a level, in the plane also the length of the level set."""
    import reluscope as rs

    call = f"rs.level_set(net, domain, level=level, output={question.output})"
    found = subject.ask("level_set", call, ())
    if found is None:
        return
    whole = cones.volume(subject.truth.domain)
    side = str(subject.generator.choice(["below", "above"]))
    sign = -1 if side == "below" else 1
    volume = Fraction(0)
    for cell, form in zip(subject.truth.regions, forms, strict=True):
        if not any(form):  # regions on the level count as below it
            volume += cones.volume(cell.cone) if side == "below" else 0
            continue
        part = _side(cell.cone, form, sign)
        volume += answers.total_volume([part], subject.dimension) if not part.is_empty else 0
    finding = subject.attempt(
        "level_set volume", lambda: found.volume_finding(side), (rs.errors.IncompletePartitionError,)
    )
    if finding is not None:
        compare(subject, "level_set volume", finding, volume, volume, whole, f"{call}.volume_finding({side!r})")
    if subject.dimension == 2 and is_clear and any(any(form) for form in forms):
        length = Fraction(true_topology.union_length(_crossings(subject, forms)))
        finding = subject.attempt("level_set area", found.area_finding)
        if finding is not None:
            scale = Fraction(subject.diameter)
            slack = length / 2**40
            compare(subject, "level_set area", finding, length - slack, length + slack, scale, f"{call}.area_finding()")


def _crossings(subject: TestedCase, forms: list[tuple[Fraction, ...]]) -> list[cones.RationalCone]:
    """Return where a function exceeds 0 on one side and not on the other: in cells, and on facets between them."""
    found = []
    for cell, form in zip(subject.truth.regions, forms, strict=True):
        if any(form[:-1]) and cones.signs(cell.cone, cones.integers(form)) == (True, True):
            found.append(cones.on(cell.cone, cones.integers(form)))
    for (first, second), (_, shared) in subject.truth.adjacency.items():
        on_level = all(
            not any(forms[row]) or all(cones.dot(cones.integers(forms[row]), ray) == 0 for ray in shared.rays)
            for row in (first, second)
        )
        if on_level:
            exceeds = [
                any(forms[row]) and cones.signs(subject.truth.regions[row].cone, cones.integers(forms[row]))[1]
                for row in (first, second)
            ]
            if exceeds[0] != exceeds[1]:
                found.append(shared)
    return found


# -- boundaries ------------------------------------------------------------------------------------------------------


def check_boundaries(subject: TestedCase) -> None:
    """Compare the classes of a plane or a line with the truth: where they meet, and how much each takes."""
    question = subject.case.question
    assert isinstance(question, WholePartition)
    _check_shares(subject, question.regions)
    _check_boundary(subject, question.regions)


def _check_boundary(subject: TestedCase, regions: int | None) -> None:
    """Compare the length of the decision boundary in the plane, the number of its points on a line."""
    ties = _ties(subject)
    if any(tie.rank > subject.dimension for tie in ties):  # classes that tie on whole regions have no boundary there
        return
    call = f"rs.decision_boundary({partition_text(regions)}).finding()"
    finding = subject.ask("boundary", call)
    if finding is None:
        return
    if _has_slivers(subject, "decision", [form for cell in subject.truth.regions for form in cell.outputs[:1]]):
        return
    right = Fraction(true_topology.union_length([tie for tie in ties if tie.rank == subject.dimension]))
    if subject.dimension == 1:
        _compare_count(subject, "boundary", finding, int(right), call)
        return
    slack = right / 2**40
    compare(subject, "boundary", finding, right - slack, right + slack, Fraction(subject.diameter), call)


def _check_shares(subject: TestedCase, regions: int | None) -> None:
    """Compare the shares of the classes of a plane, and those that are left out of a whole partition."""
    import reluscope as rs

    if subject.dimension != 2:
        return
    whole = cones.volume(subject.truth.domain)
    call = f"rs.planes.area_shares(part := {partition_text(regions)}, rs.planes.class_areas(part))"
    part = subject.ask("partition", partition_text(regions))
    found = subject.attempt("class shares", lambda: rs.planes.area_shares(part, rs.planes.class_areas(part)))
    if found is None:
        return
    listed = found.keys["class"].tolist()
    for label in range(len(answers.compared(subject.truth.regions[0]))):
        share = _volume_of(subject, label) / whole
        if label in listed:
            row = listed.index(label)
            finding = found.finding("share_of_window", row)
            told = f"{call}.finding('share_of_window', {row})"
            compare(subject, "class shares", finding, share, share, Fraction(1), told)
        elif share > LEAST_SHARE and str(part.claim) == "EXACT":
            subject.fail("class shares: left out", f"class {label}, truth {float(share)!r}", call)


def _volume_of(subject: TestedCase, label: int) -> Fraction:
    """Return the volume of the points of a class."""
    parts = [answers.class_part(cell, label) for cell in subject.truth.regions]
    return answers.total_volume([part for part in parts if part is not None], subject.dimension)
