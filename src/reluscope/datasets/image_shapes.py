"""Which samples are images, by their shape alone."""

from collections.abc import Sequence


def is_image(shape: Sequence[int]) -> bool:
    """Tell whether samples can be drawn: two axes longer than 1, and one or three channels."""
    return len(shape) in (2, 3) and min(shape[-2:]) > 1 and (len(shape) == 2 or shape[0] in (1, 3))
