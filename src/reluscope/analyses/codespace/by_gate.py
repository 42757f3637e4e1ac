"""Tables of what is measured of codes: a row for each gate, and as the summary the codes of all gates together."""

from collections.abc import Mapping, Sequence

import numpy as np

from reluscope.analyses.codespace.sampled import SampleCodes
from reluscope.findings import Column, Findings


def doubts_by_gate(sampled: SampleCodes) -> np.ndarray:
    """Return for all gates together and then for each how many samples' codes rounding could change."""
    return np.append(sampled.in_doubt.sum(), sampled.doubtful.sum(axis=0))


def by_gate(
    sampled: SampleCodes,
    columns: Sequence[Column],
    *,
    seconds: float,
    keys: Mapping[str, np.ndarray] | None = None,
    details: Mapping[str, np.ndarray] | None = None,
) -> Findings:
    """Return columns whose first row is about all gates together, and the others about each gate in order.

    ``keys`` are the gates' keys beside their names; ``details`` are about all rows.
    """
    summary = Findings.of(
        *(column[:1] for column in columns),
        domain=sampled.domain,
        num_samples=len(sampled),
        details={name: table[:1] for name, table in (details or {}).items()},
        seconds=seconds,
    )
    return Findings.of(
        *(column[1:] for column in columns),
        keys={"gate": np.array([gate.name for gate in sampled.codes.layout], dtype=np.str_)} | dict(keys or {}),
        domain=sampled.domain,
        num_samples=len(sampled),
        details={name: table[1:] for name, table in (details or {}).items()},
        seconds=seconds,
        summary=summary,
    )
