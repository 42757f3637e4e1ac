"""The explorer: look through the microscope at a plane, its regions, and what the network is in each."""

from reluscope.explorer.explorer import Explorer, explore

__all__ = ["Explorer", "explore"]
