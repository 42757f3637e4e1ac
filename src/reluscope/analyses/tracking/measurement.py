"""The measurements of one record: codes and their changes, accuracy, regions on segments, Jacobians, a plane.

All are made by the analyses of the library, and are findings by the names of `QUANTITIES`.
"""

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from torch.linalg import LinAlgError  # pyright: ignore[reportAttributeAccessIssue]

from reluscope.analyses.classification.class_predictions import accuracy_of_outputs, classes_of_outputs, is_close
from reluscope.analyses.classification.cross_entropy import cross_entropy_of_outputs
from reluscope.analyses.codespace.numbers_of_codes import NUM_CODES, distinct_codes
from reluscope.analyses.codespace.sampled import METHOD, SampleCodes
from reluscope.analyses.codespace.usage_of_units import NUM_ALWAYS_ON, NUM_DEAD, unit_usage
from reluscope.analyses.coefficients.jacobian_norms import FROBENIUS_NORM, SPECTRAL_NORM, local_norms
from reluscope.analyses.counting.segment_counts import NUM_REGIONS_ON_SEGMENT, count_along_segments
from reluscope.analyses.tracking.complexity import local_complexity
from reluscope.analyses.tracking.plan import Plan
from reluscope.codes.activation_rate import activation_rate
from reluscope.codes.changes import changed_units
from reluscope.errors import ReluscopeError
from reluscope.findings import Finding
from reluscope.networks.evaluation.rounded_forward import RoundedForward, coded_forward
from reluscope.networks.network import Network
from reluscope.partitions.ask.dispatch import partition
from reluscope.partitions.partition_in_memory import Partition
from reluscope.progress import told
from reluscope.stopping import Stop, is_interrupted

# One finding, or one per gate or segment; a gate in which a quantity is not defined has None.
Found = Finding | tuple[Finding | None, ...]


@dataclass(frozen=True, eq=False)
class Measurement:
    """The measurements of one record."""

    findings: Mapping[str, Found]  # those that could be measured
    sampled: SampleCodes | None = None  # codes of the samples; None if outputs are not finite
    part: Partition | None = None  # of the plane
    notes: tuple[str, ...] = ()  # what could not be measured, and why


def measure(network: Network, plan: Plan, before: SampleCodes | None) -> Measurement:
    """Measure what a record holds.

    A measurement that fails for numerical reasons becomes a note. KeyboardInterrupt on Ctrl-C: half a record is none.
    Costs forward passes, ``min(m, n)`` over the Jacobians' samples, and the plane's partition.
    """
    began = time.perf_counter()
    forward, codes = coded_forward(network.scores, plan.points)
    if not np.isfinite(forward.outputs).all():
        return Measurement({}, notes=("the outputs are not finite, so nothing was measured",))
    sampled = SampleCodes(codes, forward.doubtful, time.perf_counter() - began)
    findings: dict[str, Found] = {**_codes(network, sampled), **_labelled(forward, sampled, plan)}
    if before is not None:
        findings |= _changes(before, sampled)
    notes: list[str] = []
    parts: list[Partition] = []
    end = network.left_off
    if "cross_entropy" in findings and end is not None and not end.is_one_softmax:
        del findings["cross_entropy"]
        notes.append(f"the cross-entropy could not be measured (the model ends with a {end.name}, not a softmax)")

    def attempt(what: str, work: Callable[[], Mapping[str, Found]]) -> None:
        try:
            findings.update(work())
        except (ReluscopeError, LinAlgError) as error:
            notes.append(f"{what} could not be measured ({error})")

    with warnings.catch_warnings(), told():
        warnings.filterwarnings("ignore", "interrupted", UserWarning)
        if len(plan.starts):
            attempt("regions on segments", lambda: _segments(network, plan))
        if len(plan.jacobians):
            attempt("norms of Jacobians", lambda: _norms(network, plan))
        if plan.complexity_radius is not None:
            attempt("local complexity", lambda: local_complexity(network, plan))
        if plan.plane is not None:
            attempt("regions on the plane", lambda: _plane(network, plan, parts))
    return Measurement(findings, sampled, parts[0] if parts else None, tuple(notes))


def _codes(network: Network, sampled: SampleCodes) -> dict[str, Found]:
    found = distinct_codes(sampled).beside(unit_usage(network, sampled))
    assert found.summary is not None
    numbers: dict[str, Found] = {}
    names = ("distinct_codes", "dead_units", "always_on_units")
    for name, quantity in zip(names, (NUM_CODES, NUM_DEAD, NUM_ALWAYS_ON), strict=True):
        numbers[name] = found.summary.finding(quantity)
        numbers[f"{name}_by_gate"] = tuple(found.finding(quantity, row) for row in range(len(found)))
    return numbers | _rates(sampled)


def _rates(sampled: SampleCodes) -> dict[str, Found]:
    rates = [activation_rate(part) for part in sampled.codes.by_gate().values()]
    by_gate = tuple(
        None if rate is None else _share(sampled, float(rate.mean()), int(sampled.doubtful[:, index].sum()))
        for index, rate in enumerate(rates)
    )
    whole = activation_rate(sampled.codes)
    if whole is None:
        return {"activation_rate_by_gate": by_gate}
    return {
        "activation_rate": _share(sampled, float(whole.mean()), int(sampled.in_doubt.sum())),
        "activation_rate_by_gate": by_gate,
    }


def _labelled(forward: RoundedForward, sampled: SampleCodes, plan: Plan) -> dict[str, Found]:
    if plan.labels is None:
        return {}
    right, close = classes_of_outputs(forward.outputs) == plan.labels, is_close(forward)
    certain = right & ~close & ~sampled.in_doubt
    unclear = int(((right & sampled.in_doubt) | close).sum())
    surely = len(sampled.codes[np.flatnonzero(certain)].unique())
    correct = len(sampled.codes[np.flatnonzero(right)].unique())
    found: dict[str, Found] = {
        "accuracy": accuracy_of_outputs(forward, plan.labels),
        "distinct_codes_correct": _within(sampled, correct, min(surely, correct), surely + unclear, unclear),
    }
    if forward.outputs.shape[1] > 1:
        found["cross_entropy"] = cross_entropy_of_outputs(forward, plan.labels)
    return found


def _changes(before: SampleCodes, sampled: SampleCodes) -> dict[str, Found]:
    changed = changed_units(before.codes, sampled.codes)
    doubtful = before.doubtful | sampled.doubtful
    widths = [gate.num_units for gate in sampled.codes.layout]

    def shares(units: np.ndarray, doubt: np.ndarray, width: int) -> tuple[Finding, Finding]:
        unclear = int(doubt.sum())
        return (
            _share(sampled, float((units > 0).mean()), unclear),
            _share(sampled, float(units.mean()), unclear, width),
        )

    by_gate = [shares(changed[:, index], doubtful[:, index], width) for index, width in enumerate(widths)]
    samples, units = shares(changed.sum(axis=1), before.in_doubt | sampled.in_doubt, sum(widths))
    return {
        "changed_samples": samples,
        "changed_units": units,
        "changed_samples_by_gate": tuple(pair[0] for pair in by_gate),
        "changed_units_by_gate": tuple(pair[1] for pair in by_gate),
    }


def _share(sampled: SampleCodes, value: float, unclear: int, most: int = 1) -> Finding:
    """Return a mean over samples of something from 0 to ``most``, which samples in doubt can shift."""
    shift = most * unclear / len(sampled)
    return _within(sampled, value, max(0.0, value - shift), min(float(most), value + shift), unclear)


def _within(sampled: SampleCodes, value: float, lower: float, upper: float, unclear: int) -> Finding:
    """Return a number about the samples, of whose codes rounding could change some."""
    return Finding.of(
        value,
        lower,
        upper,
        domain=sampled.domain,
        method=METHOD,
        num_undecided=unclear,
        work={"seconds": sampled.seconds},
    )


def _segments(network: Network, plan: Plan) -> dict[str, Found]:
    found = count_along_segments(network, plan.starts, plan.ends)
    _pass_on(found.stop)
    counts = tuple(found.finding(NUM_REGIONS_ON_SEGMENT, row) for row in range(len(found)))
    return {"segment_regions": counts, "median_segment_regions": found.median(NUM_REGIONS_ON_SEGMENT)}


def _norms(network: Network, plan: Plan) -> dict[str, Found]:
    norms = local_norms(network, plan.points[plan.jacobians])
    _pass_on(norms.stop)
    spectral, frobenius = norms.median(SPECTRAL_NORM), norms.median(FROBENIUS_NORM)
    if not np.isfinite([spectral.value, frobenius.value]).all():
        raise ReluscopeError("they are not finite")
    return {"spectral_norm": spectral, "frobenius_norm": frobenius}


def _plane(network: Network, plan: Plan, parts: list[Partition]) -> dict[str, Found]:
    assert plan.plane is not None
    part = partition(network, plan.plane, budget=plan.budget)
    _pass_on(part.stop)
    parts.append(part)
    return {"plane_regions": part.finding()}


def _pass_on(stopped: Stop | None) -> None:
    if is_interrupted(stopped):
        raise KeyboardInterrupt
