"""What a network can give: the image of a domain, and the states that a closed loop can reach."""

from typing import NoReturn

from reluscope.analyses.reachability.closed_loop import Plant
from reluscope.analyses.reachability.cover import Cover
from reluscope.analyses.reachability.images import Image
from reluscope.analyses.reachability.reachable_sets import ReachableSets
from reluscope.moved_names import refuse

__all__ = ["Cover", "Image", "Plant", "ReachableSets"]


def __getattr__(name: str) -> NoReturn:
    raise refuse("reluscope.reachability", name)
