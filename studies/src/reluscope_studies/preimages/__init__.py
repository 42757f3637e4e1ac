"""Preimages as published: an algorithm that says whether one is bounded, where it errs, and omnidirectional rows."""

from reluscope_studies.preimages.omnidirectional import Omnidirectional, is_omnidirectional
from reluscope_studies.preimages.published import Comparison, Error, algorithm_1, compare_with_algorithm_1

__all__ = [
    "Comparison",
    "Error",
    "Omnidirectional",
    "algorithm_1",
    "compare_with_algorithm_1",
    "is_omnidirectional",
]
