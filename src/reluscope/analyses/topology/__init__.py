"""Topology of what a network's regions make up: level sets, sublevel sets and decision boundaries."""

from reluscope.analyses.topology.betti import betti
from reluscope.analyses.topology.persistence import persistence

__all__ = ["betti", "persistence"]
