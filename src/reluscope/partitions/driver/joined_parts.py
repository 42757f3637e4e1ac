"""The parts that a walk has kept, put together; where memory does not suffice for all of them, the first of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from reluscope.budget import LACKS, is_lack_of_memory
from reluscope.partitions.driver.walk import Walked
from reluscope.stopping import OUT_OF_MEMORY

# Of so many parts one is kept for a second attempt. It is not all of them, since joining lets go of parts on the way:
# a partition may be too large to be there twice.
ONE_KEPT_OF = 4

Joined = TypeVar("Joined")


def joined_parts(
    walked: Walked, join: Callable[[list[Any]], Joined], left: Callable[[Any], Any] = len
) -> tuple[Joined, Walked]:
    """Return the parts of a walk joined, and the walk with no parts but these.

    ``join`` may empty its list. If memory does not suffice, parts at the end count as left, described by ``left`` as in
    `walk`, and the walk says why it stopped.
    """
    fewer = _fewer(walked, left)
    try:
        return join(walked.parts), walked
    except LACKS as error:
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
        stop=OUT_OF_MEMORY,
    )
