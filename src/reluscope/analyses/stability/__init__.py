"""How stable the inverse is: singular values through the layers, and what a gate may do to them."""

from reluscope.analyses.stability.layers import Layer, layers
from reluscope.analyses.stability.lemmas import (
    CorrelationCounts,
    Interlacing,
    RemovedRows,
    correlation_counts,
    lemma8,
    lemma9,
)
from reluscope.analyses.stability.prefix import PrefixMap, prefix_map
from reluscope.analyses.stability.spectra import extremes, jacobian_bytes, spectra
from reluscope.analyses.stability.table import Bounded, Measure, Spectra

__all__ = [
    "Bounded",
    "CorrelationCounts",
    "Interlacing",
    "Layer",
    "Measure",
    "PrefixMap",
    "RemovedRows",
    "Spectra",
    "correlation_counts",
    "extremes",
    "jacobian_bytes",
    "layers",
    "lemma8",
    "lemma9",
    "prefix_map",
    "spectra",
]
