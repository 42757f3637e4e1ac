"""Topology of what a network's regions make up: level sets, sublevel sets and decision boundaries."""

from reluscope.analyses.topology.betti import betti

__all__ = ["betti"]
