"""How similar networks are on shared samples: by their coefficients, features, outputs and codes."""

from reluscope.analyses.similarity.agreement import agreement_of_predictions
from reluscope.analyses.similarity.cka import debiased_cka, linear_cka
from reluscope.analyses.similarity.code_partitions import CodePartitions, variation_of_information
from reluscope.analyses.similarity.comparison import compare
from reluscope.analyses.similarity.cross_entropies import output_cross_entropy
from reluscope.analyses.similarity.gate_features import features
from reluscope.analyses.similarity.mapping import CoefficientMaps, coefficient_maps
from reluscope.analyses.similarity.metric import Invariance, Metric
from reluscope.analyses.similarity.procrustes import procrustes_distance
from reluscope.analyses.similarity.registered import METRICS
from reluscope.analyses.similarity.scaled_distances import scaled_distance
from reluscope.analyses.similarity.tables import PairTable, Similarities

__all__ = [
    "METRICS",
    "CodePartitions",
    "CoefficientMaps",
    "Invariance",
    "Metric",
    "PairTable",
    "Similarities",
    "agreement_of_predictions",
    "coefficient_maps",
    "compare",
    "debiased_cka",
    "features",
    "linear_cka",
    "output_cross_entropy",
    "procrustes_distance",
    "scaled_distance",
    "variation_of_information",
]
