"""What a network can give: the image of a domain, and the states that a closed loop can reach."""

from reluscope.analyses.reachability.image import Image, image

__all__ = ["Image", "image"]
