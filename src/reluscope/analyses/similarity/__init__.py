"""How similar networks are, on shared samples or a whole domain: coefficients, features, outputs, codes, regions."""

from typing import NoReturn

from reluscope.analyses.similarity.cka import debiased_cka, linear_cka
from reluscope.analyses.similarity.comparison import compare
from reluscope.analyses.similarity.cross_entropies import output_cross_entropy
from reluscope.analyses.similarity.gate_features import features
from reluscope.analyses.similarity.mapping import coefficient_maps
from reluscope.analyses.similarity.overlays import overlay
from reluscope.analyses.similarity.prediction_agreement import agreement_of_predictions
from reluscope.analyses.similarity.procrustes import procrustes_distance
from reluscope.analyses.similarity.registered import METRICS
from reluscope.analyses.similarity.scaled_distances import scaled_distance
from reluscope.analyses.similarity.tables import PAIR_QUANTITIES, compared_networks, pair_matrix, pair_title
from reluscope.moved_names import refuse

__all__ = [
    "METRICS",
    "PAIR_QUANTITIES",
    "agreement_of_predictions",
    "coefficient_maps",
    "compare",
    "compared_networks",
    "debiased_cka",
    "features",
    "linear_cka",
    "output_cross_entropy",
    "overlay",
    "pair_matrix",
    "pair_title",
    "procrustes_distance",
    "scaled_distance",
]


def __getattr__(name: str) -> NoReturn:
    raise refuse("reluscope.similarity", name)
