"""Running cases by seed and number: each is drawn and checked, and shrunk if it fails."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fuzzer.cases import FuzzCase
from fuzzer.checks_of_distances import check_distances
from fuzzer.checks_of_partitions import CHECKS as DOMAIN_CHECKS
from fuzzer.checks_of_sets import check_images, check_loops, check_preimages, check_properties
from fuzzer.checks_of_shapes import check_boundaries, check_levels, check_merges
from fuzzer.drawn_cases import KINDS as DOMAIN_KINDS
from fuzzer.drawn_cases import draw_case
from fuzzer.drawn_questions import ASKED, draw_asked
from fuzzer.modules import MODULES
from fuzzer.shrinking import smaller
from fuzzer.tested_case import Failure, TestedCase, attempt
from fuzzer.truth import TooLargeError

KINDS = (*DOMAIN_KINDS, *ASKED)
_ASKED_CHECKS: dict[str, Callable[[TestedCase], None]] = {
    "properties": check_properties,
    "distances": check_distances,
    "images": check_images,
    "loops": check_loops,
    "preimages": check_preimages,
    "merges": check_merges,
    "levels": check_levels,
    "boundaries": check_boundaries,
}
CHECKS = {**DOMAIN_CHECKS, **_ASKED_CHECKS}

# How often each check is made; the engines are compared always. A case with a question has its own check.
_SHARES = {
    "partitions": 1.0,
    "certified": 0.5,
    "counts": 0.5,
    "programs": 0.2,
    "files": 0.2,
    "laws": 0.3,
    "regions": 0.5,
    "boundary": 0.5,
}


@dataclass(frozen=True)
class Limits:
    """Limits of the work on a case."""

    most_cells: int = 300  # regions and lower-dimensional pieces the oracle visits
    truth_seconds: float = 4.0  # the oracle's own time, on a busy machine too
    check_seconds: float = 300.0  # processor time of one check; more is a failure


@dataclass(frozen=True)
class CaseOutcome:
    """Result of a case: its failures by check, or none if the oracle had to give up (``is_skipped``)."""

    kind: str
    number: int
    case: FuzzCase
    failures: tuple[tuple[str, Failure], ...] = ()
    is_skipped: bool = False


def run_case(
    seed: int,
    number: int,
    kinds: Sequence[str] = KINDS,
    checks: Sequence[str] = tuple(CHECKS),
    limits: Limits | None = None,
) -> CaseOutcome:
    """Draw one case and make some of the checks."""
    kind = kinds[number % len(kinds)]
    generator = np.random.default_rng([seed, number, KINDS.index(kind)])
    case = draw_asked(kind, generator) if kind in ASKED else draw_case(kind, generator)
    shares = {kind: 1.0} if kind in ASKED else _SHARES
    chosen = [name for name, share in shares.items() if generator.random() < share and name in checks]
    failures: list[tuple[str, Failure]] = []
    for name in chosen:
        try:
            failures += [(name, failure) for failure in check_case(case, name, limits)]
        except TooLargeError:
            return CaseOutcome(kind, number, case, tuple(failures), is_skipped=True)
    return CaseOutcome(kind, number, case, tuple(failures))


def check_case(case: FuzzCase, check: str, limits: Limits | None = None) -> list[Failure]:
    """Make one check of a case.

    Raises TooLargeError if the oracle gives up.
    """
    limits = limits or Limits()
    if not case.is_sound:
        return []
    failures: list[Failure] = []
    names = attempt(failures, "build", case.build)
    if names is None:
        return failures
    truth = case.truth(names["domain"], limits.most_cells, limits.truth_seconds)
    subject = TestedCase(case, truth, names, np.random.default_rng(0), failures)
    if not truth.is_solid or not truth.regions:
        return failures
    before = time.process_time()
    CHECKS[check](subject)
    # Nothing is interrupted: an exception in the middle of a compilation would harm all cases that follow.
    spent = time.process_time() - before
    if spent > limits.check_seconds:
        subject.fail("time", f"{check} takes {spent:.0f} s")
    return subject.failures


def shrink(
    case: FuzzCase, check: str, failure: Failure, seconds: float = 60.0, limits: Limits | None = None
) -> tuple[FuzzCase, Failure]:
    """Return a case as small as it gets within some time, that fails in the same way, and how it fails."""
    deadline = time.thread_time() + seconds
    found = True
    while found:
        found = False
        for candidate in smaller(case):
            if time.thread_time() > deadline:
                return case, failure
            again = _same_failure(candidate, check, failure.signature, limits)
            if again is not None:
                case, failure, found = candidate, again, True
                break
    return case, failure


def _same_failure(case: FuzzCase, check: str, signature: str, limits: Limits | None) -> Failure | None:
    try:
        failures = check_case(case, check, limits)
    except (TooLargeError, OverflowError):
        return None
    return next((failure for failure in failures if failure.signature == signature), None)


def reproduction(case: FuzzCase, failure: Failure) -> str:
    """Return runnable source text for a failure."""
    source = case.source()
    head = f"# {failure.check}\n# {failure.message}\nimport reluscope as rs\n"
    used = [name for name in MODULES if f"{name}(" in source]
    own = f"from fuzzer.modules import {', '.join(used)}  # PYTHONPATH=tests\n" if used else ""
    asked = f"\nprint({failure.call})" if failure.call else ""
    return head + ("from torch import nn\n" + own if "nn." in source else "") + source + asked
