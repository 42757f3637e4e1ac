"""Topology of what a network's regions make up: level sets, sublevel sets and decision boundaries."""

from reluscope.analyses.topology.betti import betti
from reluscope.analyses.topology.critical_points import critical_points
from reluscope.analyses.topology.paths import shortest_path
from reluscope.analyses.topology.persistence import persistence

__all__ = ["betti", "critical_points", "persistence", "shortest_path"]
