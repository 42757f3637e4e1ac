"""A property of a file's outputs as two of its network's, where the file ends with a sigmoid, a softmax or the like.

Numbers that go through such a function are rounded. What is to be ruled out holds all unsafe outputs, rounded outwards;
what is violated for sure is unsafe whatever rounding does, rounded inwards. Between the two lies about one float64.
"""

from dataclasses import replace
from typing import NamedTuple

from reluscope.analyses.verification.property import Property
from reluscope.networks.file_outputs import Rounding, on_scores
from reluscope.networks.network import Network


class PropertyOnScores(NamedTuple):
    """A property of a network's own outputs, from both sides."""

    possible: Property  # if nothing violates it, the property holds
    certain: Property  # whatever violates this violates the property


def property_on_scores(network: Network, safe: Property) -> PropertyOnScores:
    """Return a property of a file's outputs as two properties of its network's outputs.

    They are the given one, twice, if nothing was left off the end of the file. A condition that does not go through
    what was left off raises InputError.
    """
    if network.left_off is None:
        return PropertyOnScores(safe, safe)
    return PropertyOnScores(*(_rounded(network, safe, one) for one in (Rounding.OUTWARDS, Rounding.INWARDS)))


def _rounded(network: Network, safe: Property, rounding: Rounding) -> Property:
    cases = [
        replace(case, unsafe=[on_scores(network.left_off, one, rounding) for one in case.unsafe]) for case in safe.cases
    ]
    return replace(safe, cases=cases)
