"""Parts of analyses: programs, exact arithmetic, best-first search, networks built node by node, objects in a line."""

from reluscope.budget import TimeBudget
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus
from reluscope.geometry.programs.rational_program import CONSTANT, Form, deepest, highest, negative, whole_form
from reluscope.networks.building.builder import GraphBuilder
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.networks.graph.left_off import refuse_left_off
from reluscope.partitions.driver.best_first import BestFirst, Branch
from reluscope.shown import Shown

__all__ = [
    "CONSTANT",
    "BestFirst",
    "Branch",
    "Form",
    "GraphBuilder",
    "LinearProgram",
    "ProgramStatus",
    "RationalNetwork",
    "Shown",
    "TimeBudget",
    "deepest",
    "highest",
    "negative",
    "refuse_left_off",
    "whole_form",
]
