"""Double words: numbers of about 106 bits as unevaluated sums of two floats, entry by entry of tensors.

A sum of two floats and what rounding takes from it are floats again, and so are a product and its rounding (Dekker,
"A floating-point technique for extending the available precision", 1971; Knuth, "The Art of Computer Programming",
volume 2). Nothing here relies on fused operations, so that all processors give the same bits.
"""

from typing import NamedTuple

from torch import Tensor

# Rounding of one operation on double words, relative to its result, or to its operands where it is a sum: each drops
# a product or two of small parts, and the sums of small parts are rounded once or twice.
ROUNDING = 2.0**-103
# Halves of the digits of a float: factors whose products are exact.
_SPLITTER = 2.0**27 + 1


class DoubleWord(NamedTuple):
    """Numbers ``high + low``, with ``|low|`` at most half a unit in the last place of ``high``."""

    high: Tensor
    low: Tensor


def two_sum(a: Tensor, b: Tensor) -> DoubleWord:
    """Return the sum of floats without any rounding."""
    total = a + b
    of_b = total - a
    return DoubleWord(total, (a - (total - of_b)) + (b - of_b))


def two_product(a: Tensor, b: Tensor) -> DoubleWord:
    """Return the product of floats without any rounding, unless it underflows or overflows."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return DoubleWord(product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low)


def _halves(a: Tensor) -> tuple[Tensor, Tensor]:
    scaled = _SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high


def plus(value: DoubleWord, term: Tensor) -> DoubleWord:
    """Return the sum of a double word and a float."""
    high, low = two_sum(value.high, term)
    return two_sum(high, low + value.low)


def times(value: DoubleWord, factor: Tensor) -> DoubleWord:
    """Return the product of a double word and a float."""
    high, low = two_product(value.high, factor)
    return two_sum(high, low + value.low * factor)
