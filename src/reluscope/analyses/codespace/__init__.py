"""Codes of samples: the cells that they occupy, their distances, which units change, and embeddings."""

from typing import NoReturn

from reluscope.analyses.codespace.adjacency_metric import adjacency
from reluscope.analyses.codespace.class_distances import class_distances, mean_code_distances
from reluscope.analyses.codespace.code_clusters import cluster
from reluscope.analyses.codespace.code_neighbors import nearest_codes
from reluscope.analyses.codespace.duplicates import duplicate_units
from reluscope.analyses.codespace.embedding import Embedding, align, embed, embed_series, embedding_trust
from reluscope.analyses.codespace.half_open_cells import half_open
from reluscope.analyses.codespace.novelty_scores import auroc, novelty
from reluscope.analyses.codespace.numbers_of_codes import distinct_codes
from reluscope.analyses.codespace.occupied_cells import occupancy
from reluscope.analyses.codespace.pair_distances import pair_distances
from reluscope.analyses.codespace.sampled import SampleCodes, correctly_classified, piece_counts, sample_codes
from reluscope.analyses.codespace.usage_of_units import unit_usage
from reluscope.codes.activation_rate import activation_rate
from reluscope.moved_names import refuse

__all__ = [
    "Embedding",
    "SampleCodes",
    "activation_rate",
    "adjacency",
    "align",
    "auroc",
    "class_distances",
    "cluster",
    "correctly_classified",
    "distinct_codes",
    "duplicate_units",
    "embed",
    "embed_series",
    "embedding_trust",
    "half_open",
    "mean_code_distances",
    "nearest_codes",
    "novelty",
    "occupancy",
    "pair_distances",
    "piece_counts",
    "sample_codes",
    "unit_usage",
]


def __getattr__(name: str) -> NoReturn:
    raise refuse("reluscope.codespace", name)
