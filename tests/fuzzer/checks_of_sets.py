"""The checks of properties, images, closed loops and preimages: sets of inputs and outputs."""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from fuzzer import true_answers as answers
from fuzzer import true_cones as cones
from fuzzer.comparing import compare, exact, points_inside
from fuzzer.layers import exact_layers
from fuzzer.questions import Direction, Loop, Target
from fuzzer.tested_case import TestedCase
from fuzzer.truth import Truth

PROPERTY = "rs.verification.Property([rs.verification.Case(domain.lo, domain.hi, [target])])"
# Documented: what is thinner than this share of the domain is no piece, nor what is thinner than some of the steps
# between coordinates in float64.
THIN, STEPS = 1e-9, 16
# Of the terms of a row, what rounding may make of its sum.
ROUNDED = Fraction(1, 10**14)
# Forged proofs are about targets that are larger by this many times the size of the outputs.
ENLARGED = (0.001, 1.0, 1000.0)
Rows = tuple[list[tuple[Fraction, ...]], list[Fraction]]


def check_properties(subject: TestedCase) -> None:
    """Compare `verify`, its proofs, and `violations` with the truth."""
    import reluscope as rs

    target = subject.case.question
    assert isinstance(target, Target)
    met = _is_met(subject, target)
    allowed = (rs.errors.InputError,) if subject.case.end else ()
    for certify in ("", ", certify=True"):
        if certify and subject.generator.random() < 0.5:
            continue
        call = f"rs.verify(net, {PROPERTY}, budget=rs.Budget(regions=300){certify})"
        refused = (rs.errors.InputError,) if certify and subject.case.has_max else allowed
        found = subject.ask(f"verify{certify}", call, refused)
        if found is not None and met is not None:
            _check_verdict(subject, f"verify{certify}", found, met, call)
            if found.proof is not None:
                _check_proofs(subject, found.proof, target)
    if met is None:
        return
    if subject.case.end:
        return
    limit = f", budget=rs.Budget(regions={target.regions})" if target.regions else ""
    call = f"rs.violations(net, {PROPERTY}{limit})"
    found = subject.ask("violations", call, allowed)
    if found is not None:
        _check_inputs(subject, "violations", found, target, call)


def _is_met(subject: TestedCase, target: Target) -> bool | None:
    """Tell whether some input has outputs in the target, None where that hangs on digits that nobody has."""
    told = {bool(parts) for parts in (_parts(subject, rows) for rows in _through_end(subject, target))}
    return told.pop() if len(told) == 1 else None


def _parts(subject: TestedCase, rows: Rows) -> list[cones.RationalCone]:
    return answers.parts_of(subject.truth, *rows)


def _plain_rows(target: Target) -> Rows:
    return [exact(row) for row in target.normals], list(exact(target.offsets))


def _through_end(subject: TestedCase, target: Target) -> list[Rows]:
    """Return a target on what is before the end of the network; two of them where rounding of it may decide."""
    normals, offsets = _plain_rows(target)
    end = subject.case.end
    width = len(normals[0])
    if not end or (end == "Softmax" and width > 1):  # orders stay
        return [(normals, offsets)]
    (normal,), (offset,) = normals, offsets
    sign = next(entry for entry in normal if entry)
    level = offset / sign
    if end == "Softmax":  # of one output: it is 1
        never = [tuple(Fraction(0) for _ in normal)], [Fraction(0) if sign <= offset else Fraction(-1)]
        return [never]
    low, high = (Fraction(0), Fraction(1)) if end == "Sigmoid" else (Fraction(-1), Fraction(1))
    if not low < level < high:
        holds = (level >= high) == (sign > 0)
        return [([tuple(Fraction(0) for _ in normal)], [Fraction(0 if holds else -1)])]
    middle = low + (high - low) / 2
    if level == middle:
        return [(normals, [Fraction(0)])]
    with localcontext() as context:
        context.prec = 120
        odds = (level - low) / (high - level)
        value = (Decimal(odds.numerator) / Decimal(odds.denominator)).ln()
    before = Fraction(value) / (1 if end == "Sigmoid" else 2)
    near = Fraction(1, 10**100) * max(1, abs(before))
    return [(normals, [(before + shift) * sign]) for shift in (-near, near)]


def _check_verdict(subject: TestedCase, check: str, found: Any, met: bool, call: str) -> None:
    verdict = str(found.verdict)
    if verdict != "OPEN" and (verdict == "VIOLATED") != met:
        subject.fail(f"{check}: verdict", f"{verdict}, truth {'VIOLATED' if met else 'HOLDS'}", call)
        return
    shown = found.counterexample
    if shown is None or subject.case.end:
        return
    point = shown.exact if shown.exact is not None else exact(shown.point)
    target = subject.case.question
    assert isinstance(target, Target)
    lifted = (*point, Fraction(1))
    outside = any(cones.dot(row, lifted) < 0 for row in subject.truth.domain.rows)
    if outside or not _is_in(target, answers.value_at(subject.truth, point)):
        subject.fail(
            f"{check}: counterexample", f"{[float(entry) for entry in point]} is none", f"{call}.counterexample"
        )


def _is_in(target: Target, outputs: Sequence[Fraction]) -> bool:
    normals, offsets = _plain_rows(target)
    return all(cones.dot(row, outputs) <= offset for row, offset in zip(normals, offsets, strict=True))


def _check_proofs(subject: TestedCase, proof: Any, target: Target) -> None:
    """Check a proof, and that it is no proof of what is false."""
    import reluscope as rs

    names = subject.names
    subject.attempt("proof", lambda: rs.testing.check_proof(proof, subject.network, eval(PROPERTY, dict(names))))
    if subject.case.end:
        return
    size = max(
        abs(float(value)) for value in answers.value_at(subject.truth, subject.truth.regions[0].cone.interior_point())
    )
    for factor in ENLARGED:
        larger = Target(target.normals, target.offsets + factor * (size or 1.0) * np.abs(target.normals).max(1))
        if not np.isfinite(larger.offsets).all() or not _parts(subject, _plain_rows(larger)):
            continue
        names = {**names, "target": rs.Polyhedron(larger.normals, larger.offsets)}
        try:
            rs.testing.check_proof(proof, subject.network, eval(PROPERTY, dict(names)))
        except rs.errors.ReluscopeError:
            continue
        except Exception as error:
            subject.fail(f"forged proof: {type(error).__name__}", f"{type(error).__name__}: {error}")
        else:
            subject.fail("forged proof", f"the proof is taken for {larger.source()}, which is violated")


def _check_inputs(subject: TestedCase, check: str, found: Any, target: Target, call: str) -> None:
    """Compare a set of inputs, of some claim, with the truth: its volume, and which points it contains."""
    parts = _parts(subject, _plain_rows(target))
    whole = cones.volume(subject.truth.domain)
    volume = answers.total_volume(parts, subject.dimension)
    finding = subject.attempt(f"{check} volume", found.volume)
    if finding is not None:
        compare(subject, f"{check} volume", finding, volume, volume, whole, f"{call}.volume()")
    if hasattr(found, "share"):
        finding = subject.attempt(f"{check} share", found.share)
        if finding is not None:
            share = volume / whole
            compare(subject, f"{check} share", finding, share, share, Fraction(1), f"{call}.share()")
    if not hasattr(found, "contains"):
        return
    points = points_inside(subject)
    held = subject.attempt(f"{check} contains", lambda: found.contains(points, 0.0))
    thin = max(THIN * subject.diameter, STEPS * float(np.spacing(np.abs(points).max(initial=0.0))))
    near = subject.attempt(f"{check} contains", lambda: found.contains(points, thin))
    if held is None or near is None:
        return
    for point, is_held, is_near in zip(points, held, near, strict=True):
        is_in = _clearly_in(subject, target, exact(point))
        is_lost = is_in is True and not is_near and str(found.claim) == "EXACT"
        # Where signs stayed undecided, pieces are as their maps are read: an ESTIMATE.
        is_false = is_lost or (is_in is False and is_held and str(found.claim) in ("EXACT", "LOWER"))
        if is_false:
            subject.fail(f"{check}: contains", f"{is_held} at {point.tolist()}", f"{call}.contains({point.tolist()})")
            return


def _size(row: Sequence[Fraction], point: Sequence[Fraction]) -> Fraction:
    return sum((abs(one * other) for one, other in zip(row, point, strict=True)), Fraction(0))


def _clearly_in(subject: TestedCase, target: Target, point: tuple[Fraction, ...]) -> bool | None:
    """Tell whether outputs at a point are in the target, None if a step of a millionth of the domain may change it.

    Steps are no shorter than what pieces' rows are rounded to at the point. They are out where one row is missed at all
    ends of steps, by more than rounding: a thin target may be met between them.
    """
    near, least = [point], STEPS * float(np.spacing(max(map(abs, map(float, point)), default=0.0)))
    for vertex in subject.truth.domain.vertices:
        step = [b - a for a, b in zip(point, vertex, strict=True)]
        length = max((float(abs(entry)) for entry in step), default=0.0)
        share = max(Fraction(1, 10**6), Fraction(min(1.0, least / length))) if length else Fraction(0)
        near.append(tuple(a + share * entry for a, entry in zip(point, step, strict=True)))
    outputs = [answers.value_at(subject.truth, one) for one in near]
    if all(_is_in(target, one) for one in outputs):
        return True
    normals, offsets = _plain_rows(target)
    is_missed = (
        all(cones.dot(row, one) - offset > ROUNDED * (abs(offset) + _size(row, one)) for one in outputs)
        for row, offset in zip(normals, offsets, strict=True)
    )
    return False if any(is_missed) else None


# -- images and loops ------------------------------------------------------------------------------------------------


def partition_text(regions: int | None) -> str:
    """Return source text of a partition, of at most some number of regions."""
    return f"rs.partition(net, domain, budget=rs.Budget(regions={regions}))" if regions else "rs.partition(net, domain)"


def check_images(subject: TestedCase) -> None:
    """Compare `image` with the truth: maxima, ends, outputs that are in it, its volume."""
    question = subject.case.question
    assert isinstance(question, Direction)
    call = f"rs.image(net, {partition_text(question.regions) if question.regions else 'domain'})"
    found = subject.ask("image", call)
    if found is None:
        return
    _check_maximum(
        subject, "image maximum", found.maximum, subject.truth, question.direction, f"{call}.maximum(direction)"
    )
    if len(subject.truth.regions[0].outputs) <= 2:
        try:
            volume = answers.image_volume(subject.truth)
        except answers.TooLargeError:
            pass
        else:
            finding = subject.attempt("image volume", found.volume)
            if finding is not None:
                compare(subject, "image volume", finding, volume, volume, _output_scale(subject), f"{call}.volume()")
    outputs = [answers.value_at(subject.truth, exact(point)) for point in points_inside(subject, 6)]
    rounded = np.array([[float(entry) for entry in row] for row in outputs])
    held = subject.attempt("image contains", lambda: found.contains(rounded))
    if held is not None and not all(held) and str(found.claim) == "EXACT":
        missed = rounded[int(np.argmin(held))].tolist()
        subject.fail("image: contains", f"not {missed}, which is an output", f"{call}.contains({missed})")
    beyond = _outputs_beyond(subject, rounded)
    held = subject.attempt("image contains", lambda: found.contains(beyond))
    if held is not None and any(held) and str(found.claim) != "ESTIMATE":
        strange = beyond[int(np.argmax(held))].tolist()
        subject.fail("image: contains", f"{strange}, which is none", f"{call}.contains({strange})")


def _output_scale(subject: TestedCase) -> Fraction:
    """Return the volume of the box around all outputs."""
    total = Fraction(1)
    outputs = len(subject.truth.regions[0].outputs)
    for output in range(outputs):
        row = [Fraction(int(i == output)) for i in range(outputs)]
        total *= answers.largest(subject.truth, row) + answers.largest(subject.truth, [-entry for entry in row])
    return total


def _outputs_beyond(subject: TestedCase, near: np.ndarray) -> np.ndarray:
    """Return points that are no outputs, by a thousandth of the outputs' size: outside of the box around them."""
    outputs = near.shape[1]
    found = []
    for output in range(outputs):
        for sign in (1, -1):
            row = [Fraction(sign * int(i == output)) for i in range(outputs)]
            end = answers.largest(subject.truth, row)
            point = near[0].copy()
            size = max(_size_along(subject.truth, np.ones(outputs)), Fraction(1, 10**9))
            point[output] = sign * float(end + size / 1000)
            found.append(point)
    return np.array(found)


def _check_maximum(subject: TestedCase, check: str, ask: Any, truth: Truth, direction: np.ndarray, call: str) -> None:
    right = answers.largest(truth, exact(direction))
    finding = subject.attempt(check, lambda: ask(direction))
    if finding is not None:
        compare(subject, check, finding, right, right, _size_along(truth, direction), call)


def _size_along(truth: Truth, direction: np.ndarray) -> Fraction:
    """Return the largest sum of the terms of a linear function of the outputs, in absolute values."""
    total = Fraction(0)
    for output, entry in enumerate(exact(direction)):
        row = [entry * int(i == output) for i in range(len(direction))]
        total += max(abs(answers.largest(truth, row)), abs(answers.largest(truth, [-each for each in row])))
    return total


def check_loops(subject: TestedCase) -> None:
    """Compare `reach` with the truth after every step: the largest state, and whether all are in a half-space."""
    loop = subject.case.question
    assert isinstance(loop, Loop)
    call = f"rs.reach(net, plant, domain, {loop.steps})"
    found = subject.ask("reach", call)
    if found is None:
        return
    layers = exact_layers(subject.case.layers, subject.case.num_inputs)
    matrix, control = [exact(row) for row in loop.matrix], [exact(row) for row in loop.control]
    maxima = subject.attempt("reach maximum", lambda: found.maximum(loop.direction))
    within = subject.ask("reach within", f"{call}.within(safe)")
    for step in range(1, loop.steps + 1):
        steps = answers.loop_layers(layers, matrix, control, exact(loop.shift), step)
        truth = Truth(steps, subject.truth.setting, subject.truth.most_cells)
        right = answers.largest(truth, exact(loop.direction))
        if maxima is not None:
            size = _size_along(truth, loop.direction)
            compare(subject, "reach maximum", maxima[step], right, right, size, f"{call}.maximum(direction)[{step}]")
        is_within = right <= Fraction(loop.end)
        if within is not None and within[step] is not None and bool(within[step]) != is_within:
            subject.fail("reach: within", f"{within[step]}, truth {is_within}", f"{call}.within(safe)[{step}]")


# -- preimages -------------------------------------------------------------------------------------------------------


def check_preimages(subject: TestedCase) -> None:
    """Compare preimages of polytopes, classes and features, and approximations, with the truth."""
    target = subject.case.question
    assert isinstance(target, Target)
    where = partition_text(target.regions) if target.regions else "domain"
    for name, call in (
        ("preimage", f"rs.preimages.of(net, target, domain={where})"),
        ("preimage by boxes", 'rs.preimages.of(net, target, domain=domain, method="boxes")'),
        (
            "approximate preimage",
            'rs.preimages.of(net, target, domain=domain, method="approximate", budget=rs.Budget(regions=20))',
        ),
    ):
        found = subject.ask(name, call)
        if found is not None:
            _check_inputs(subject, name, found, target, call)
    _check_class(subject, where)
    cell = subject.truth.regions[int(subject.generator.integers(0, len(subject.truth.regions)))]
    features = answers.value_at(subject.truth, cell.cone.interior_point())
    rounded = np.array([float(entry) for entry in features])
    equal = np.vstack([np.eye(len(rounded)), -np.eye(len(rounded))])
    call = f"rs.preimages.of(net, {rounded.tolist()}, domain={where})"
    found = subject.ask("preimage of features", call)
    if found is not None:
        parts = _parts(subject, _plain_rows(Target(equal, np.concatenate([rounded, -rounded]))))
        volume = answers.total_volume(parts, subject.dimension)
        whole = cones.volume(subject.truth.domain)
        finding = subject.attempt("preimage of features volume", found.volume)
        if finding is not None:
            compare(subject, "preimage of features volume", finding, volume, volume, whole, f"{call}.volume()")


def _check_class(subject: TestedCase, where: str) -> None:
    """Compare the volume of a class: of its closure, where every tie counts."""
    label = int(subject.generator.integers(0, max(2, len(subject.truth.regions[0].outputs))))
    call = f"rs.preimages.of(net, {label}, domain={where})"
    found = subject.ask("preimage of a class", call)
    if found is None:
        return
    volume = Fraction(0)
    for cell in subject.truth.regions:
        forms = answers.compared(cell)
        leads = [tuple(a - b for a, b in zip(forms[label], form, strict=True)) for form in forms]
        part = answers.part_above(cell.cone, leads)
        volume += answers.total_volume([part], subject.dimension) if not part.is_empty else 0
    finding = subject.attempt("preimage of a class volume", found.volume)
    if finding is not None:
        whole = cones.volume(subject.truth.domain)
        compare(subject, "preimage of a class volume", finding, volume, volume, whole, f"{call}.volume()")
