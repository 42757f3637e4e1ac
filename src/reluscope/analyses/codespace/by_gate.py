"""Rows of tables about codes: the first is about the codes of all gates together, the others about each gate's."""

import numpy as np

from reluscope.analyses.codespace.sampled import SampleCodes

ALL_GATES = "all gates"


def gate_names(sampled: SampleCodes) -> np.ndarray:
    """Return what the rows are called: all gates, then each gate in order of evaluation."""
    return np.array([ALL_GATES, *(gate.name for gate in sampled.codes.layout)])


def doubts_by_gate(sampled: SampleCodes) -> np.ndarray:
    """Return for all gates and for each how many samples' codes rounding could change."""
    return np.append(sampled.in_doubt.sum(), sampled.doubtful.sum(axis=0))
