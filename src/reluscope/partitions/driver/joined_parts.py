"""The parts that a walk has kept, put together; where memory does not suffice for all of them, the first of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from reluscope.budget import OUT_OF_MEMORY, is_lack_of_memory
from reluscope.partitions.driver.walk import Walked

# Of so many parts one is kept for a second attempt. It is not all of them, since joining lets go of parts on the way:
# a partition may be too large to be there twice.
ONE_KEPT_OF = 4

Joined = TypeVar("Joined")


def joined_parts(
    walked: Walked, join: Callable[[list[Any]], Joined], left: Callable[[Any], Any] = len
) -> tuple[Joined, Walked]:
    """Return the parts of a walk put together, and what the walk is with no other parts than these.

    Parameters
    ----------
    walked : Walked
    join : callable
        Puts a list of parts together, which it may empty on the way.
    left : callable
        What is to be known of a part that is left out, as in `walk`.

    Returns
    -------
    joined
        What ``join`` returned.
    walked : Walked
        The same walk. If memory did not suffice, parts at its end count as left, and it says why it stopped.

    Examples
    --------
    >>> found = Walked(parts=[[1], [2, 3]], num_found=3)
    >>> together, _ = joined_parts(found, lambda parts: sum(parts, []))
    >>> together
    [1, 2, 3]
    """
    fewer = _fewer(walked, left)
    try:
        return join(walked.parts), walked
    except (MemoryError, RuntimeError) as error:
        if fewer is None or not is_lack_of_memory(error):
            raise
    # Not before here: the error holds on to what could not be put together.
    return joined_parts(fewer, join, left)


def _fewer(walked: Walked, left: Callable[[Any], Any]) -> Walked | None:
    if not walked.parts:
        return None
    number = len(walked.parts) // ONE_KEPT_OF
    others = walked.parts[number:]
    return replace(
        walked,
        parts=walked.parts[:number],
        num_found=walked.num_found - sum(map(len, others)),
        left=(*walked.left, *map(left, others)),
        stopped=OUT_OF_MEMORY,
    )
