"""What a network can give: the image of a domain, and the states that a closed loop can reach."""

from reluscope.analyses.reachability.closed_loop import Plant
from reluscope.analyses.reachability.cover import Cover
from reluscope.analyses.reachability.image import Image, image
from reluscope.analyses.reachability.reach import ReachableSets, reach

__all__ = ["Cover", "Image", "Plant", "ReachableSets", "image", "reach"]
