"""All metrics by name; the conformance test checks each against what it declares."""

from collections.abc import Mapping
from types import MappingProxyType

from reluscope.analyses.similarity.cka import CKA, DEBIASED_CKA
from reluscope.analyses.similarity.code_partitions import VARIATION_OF_INFORMATION
from reluscope.analyses.similarity.cross_entropies import OUTPUT_CROSS_ENTROPY
from reluscope.analyses.similarity.mapping import MAP_RESIDUAL
from reluscope.analyses.similarity.metric import Metric
from reluscope.analyses.similarity.prediction_agreement import AGREEMENT
from reluscope.analyses.similarity.procrustes import PROCRUSTES
from reluscope.analyses.similarity.scaled_distances import SCALED_DISTANCE, SCALED_DISTANCE_ABSOLUTE

_ALL = (
    MAP_RESIDUAL,
    CKA,
    DEBIASED_CKA,
    PROCRUSTES,
    SCALED_DISTANCE,
    SCALED_DISTANCE_ABSOLUTE,
    OUTPUT_CROSS_ENTROPY,
    AGREEMENT,
    VARIATION_OF_INFORMATION,
)
METRICS: Mapping[str, Metric] = MappingProxyType({metric.name: metric for metric in _ALL})
