"""Numbers of regions."""

from typing import NoReturn

from reluscope.analyses.counting.definitions import DEFINITIONS
from reluscope.analyses.counting.segment_counts import count_along_segments
from reluscope.moved_names import refuse

__all__ = ["DEFINITIONS", "count_along_segments"]


def __getattr__(name: str) -> NoReturn:
    raise refuse("reluscope.counting", name)
