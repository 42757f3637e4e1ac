"""Which samples are images, by their shape alone."""

from collections.abc import Sequence


def is_image(shape: Sequence[int]) -> bool:
    """Tell whether samples of a shape can be drawn: two axes longer than 1, and one or three channels.

    Examples
    --------
    >>> is_image((1, 28, 28)), is_image((3, 32, 32)), is_image((5,)), is_image((64, 7, 7))
    (True, True, False, False)
    """
    return len(shape) in (2, 3) and min(shape[-2:]) > 1 and (len(shape) == 2 or shape[0] in (1, 3))
