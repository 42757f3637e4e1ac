"""Stability of the inverse: singular values through the layers, and bounds on their change at gates."""

from typing import NoReturn

from reluscope.analyses.stability.layer_jacobians import NetworkLayer, layers
from reluscope.analyses.stability.layer_spectra import extremes, spectra
from reluscope.analyses.stability.prefix import prefix_map
from reluscope.analyses.stability.stability_measures import curve
from reluscope.moved_names import refuse

__all__ = [
    "NetworkLayer",
    "curve",
    "extremes",
    "layers",
    "prefix_map",
    "spectra",
]


def __getattr__(name: str) -> NoReturn:
    raise refuse("reluscope.stability", name)
