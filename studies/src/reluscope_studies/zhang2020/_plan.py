"""The plan of the paper's two comparisons: which networks are trained, and which questions are asked."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

from reluscope_studies.fitting import Fit
from reluscope_studies.zhang2020._networks import KINDS, Architecture, Variant
from reluscope_studies.zhang2020._questions import Inquiry

# By measure, rate and kind, as the paper prints it.
Published = Mapping[tuple[str, float], tuple[float, float, float]]


@dataclass(frozen=True)
class Plan:
    """What is trained and what is asked.

    Parameters
    ----------
    name : str
        Of the study, before those of its pictures.
    architecture : Architecture
    fit : Fit
        Its rate is replaced.
    rates : tuple of float
    replicates : int
    inquiry : Inquiry
    with_facets : bool
        Whether angles are also measured between facets alone, which have to be found first.
    published : mapping
        The paper's numbers, for sizes at which they can be compared.
    """

    name: str
    architecture: Architecture
    fit: Fit
    rates: tuple[float, ...]
    replicates: int
    inquiry: Inquiry
    with_facets: bool
    published: Published

    @property
    def compared(self) -> list[Variant]:
        """The networks of the first replicate."""
        return [Variant(kind, rate) for rate, kind in product(self.rates, KINDS)]

    def replicas(self, variant: Variant) -> list[Variant]:
        """Return the networks that differ from one in their seed only."""
        return [replace(variant, replicate=number) for number in range(self.replicates)]
