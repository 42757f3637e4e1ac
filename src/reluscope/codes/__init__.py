"""Codes: which piece every unit of every gate uses, for a set of points, packed into 64-bit words.

The code of a point is a vector of small integers, one for each unit (for a ReLU network of bits). Points with equal
codes lie in the same activation region; the number of units on which two codes differ is their Hamming distance.
"""

from reluscope.codes.layout import CodeLayout, GateLayout
from reluscope.codes.packed import Codes

__all__ = ["CodeLayout", "Codes", "GateLayout"]
