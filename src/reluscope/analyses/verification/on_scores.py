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
    """A property of a network's own outputs, from both sides.

    Parameters
    ----------
    possible : Property
        Where none of its outputs is reached, nothing violates the property.
    certain : Property
        Whatever violates it violates the property.
    """

    possible: Property
    certain: Property


def property_on_scores(network: Network, safe: Property) -> PropertyOnScores:
    """Return a property of a file's outputs as properties of its network's; itself twice if nothing was left off.

    Raises
    ------
    InputError
        If a condition does not go through what was left off.

    Examples
    --------
    >>> import reluscope as rs
    >>> from torch import nn
    >>> net = rs.load(nn.Sequential(nn.Linear(1, 1), nn.Sigmoid()))
    >>> safe = rs.verification.Property([rs.verification.Case([0.0], [1.0], [rs.Polyhedron([[1.0]], [0.95])])])
    >>> possible, certain = property_on_scores(net, safe)
    >>> [one.cases[0].unsafe[0].b[0] for one in (possible, certain)]
    [np.float64(2.9444389791664403), np.float64(2.94443897916644)]
    """
    if network.left_off is None:
        return PropertyOnScores(safe, safe)
    return PropertyOnScores(*(_rounded(network, safe, one) for one in (Rounding.OUTWARDS, Rounding.INWARDS)))


def _rounded(network: Network, safe: Property, rounding: Rounding) -> Property:
    cases = [
        replace(case, unsafe=[on_scores(network.left_off, one, rounding) for one in case.unsafe]) for case in safe.cases
    ]
    return Property(cases)
