"""How similar networks are on shared samples: by their coefficients, features, outputs and codes."""

from reluscope.analyses.similarity.cka import debiased_cka, linear_cka
from reluscope.analyses.similarity.code_partitions import CodePartitions, variation_of_information
from reluscope.analyses.similarity.comparison import compare
from reluscope.analyses.similarity.cross_entropies import output_cross_entropy
from reluscope.analyses.similarity.gate_features import features
from reluscope.analyses.similarity.mapping import CoefficientMaps, coefficient_maps
from reluscope.analyses.similarity.metric import Invariance, Metric
from reluscope.analyses.similarity.prediction_agreement import agreement_of_predictions
from reluscope.analyses.similarity.procrustes import procrustes_distance
from reluscope.analyses.similarity.registered import METRICS
from reluscope.analyses.similarity.scaled_distances import scaled_distance
from reluscope.analyses.similarity.tables import (
    PAIR_QUANTITIES,
    PairQuantity,
    compared_networks,
    pair_matrix,
    pair_title,
)

__all__ = [
    "METRICS",
    "PAIR_QUANTITIES",
    "CodePartitions",
    "CoefficientMaps",
    "Invariance",
    "Metric",
    "PairQuantity",
    "agreement_of_predictions",
    "coefficient_maps",
    "compare",
    "compared_networks",
    "debiased_cka",
    "features",
    "linear_cka",
    "output_cross_entropy",
    "pair_matrix",
    "pair_title",
    "procrustes_distance",
    "scaled_distance",
    "variation_of_information",
]
