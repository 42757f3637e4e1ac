"""Stability of the inverse: singular values through the layers, and bounds on their change at gates."""

from reluscope.analyses.stability.layer_jacobians import NetworkLayer, layers
from reluscope.analyses.stability.layer_spectra import extremes, jacobian_bytes, spectra
from reluscope.analyses.stability.lemmas import (
    CorrelationCounts,
    Interlacing,
    RemovedRows,
    correlation_counts,
    lemma8,
    lemma9,
)
from reluscope.analyses.stability.prefix import PrefixMap, prefix_map
from reluscope.analyses.stability.stability_measures import curve

__all__ = [
    "CorrelationCounts",
    "Interlacing",
    "NetworkLayer",
    "PrefixMap",
    "RemovedRows",
    "correlation_counts",
    "curve",
    "extremes",
    "jacobian_bytes",
    "layers",
    "lemma8",
    "lemma9",
    "prefix_map",
    "spectra",
]
