"""Parts of analyses: programs, exact arithmetic, best-first search, networks built node by node, objects in a line."""

from reluscope.analyses.classification.class_predictions import ACCURACY, accuracy
from reluscope.analyses.preimages.bounded import boundedness
from reluscope.analyses.preimages.kind_certificates import PositiveCombination, RecessionDirection
from reluscope.analyses.preimages.kinds import PreimageKind, Preimages
from reluscope.analyses.preimages.layer import GateLayer, LayerLike, check_rows
from reluscope.analyses.preimages.mixed_system import MixedSystem, read_outputs, system
from reluscope.analyses.preimages.null_cones import row_lengths
from reluscope.analyses.preimages.ranks import null_space
from reluscope.analyses.preimages.reading_layers import read_layer
from reluscope.budget import TimeBudget
from reluscope.findings import Column, Kind, declare
from reluscope.findings.derived import CONFIDENCE
from reluscope.geometry.numbers.rational_equations import reduced
from reluscope.geometry.polyhedra.nearest_point import nearest_point
from reluscope.geometry.programs.linear_program import LinearProgram, ProgramStatus
from reluscope.geometry.programs.rational_program import CONSTANT, Form, deepest, highest, negative, whole_form
from reluscope.networks.building.builder import GraphBuilder
from reluscope.networks.evaluation.rounded_forward import rounded_forward
from reluscope.networks.fractions.rational import RationalNetwork
from reluscope.networks.graph.devices import read_device
from reluscope.networks.graph.left_off import refuse_left_off
from reluscope.networks.graph.nodes import Pointwise
from reluscope.networks.graph.points import Points
from reluscope.networks.passes.maps import Derivatives
from reluscope.partitions.driver.best_first import BestFirst, Branch
from reluscope.progress import Progress, ProgressFunction, share_done
from reluscope.shown import Shown
from reluscope.single_threaded import one_thread

__all__ = [
    "ACCURACY",
    "CONFIDENCE",
    "CONSTANT",
    "BestFirst",
    "Branch",
    "Column",
    "Derivatives",
    "Form",
    "GateLayer",
    "GraphBuilder",
    "Kind",
    "LayerLike",
    "LinearProgram",
    "MixedSystem",
    "Points",
    "Pointwise",
    "PositiveCombination",
    "PreimageKind",
    "Preimages",
    "ProgramStatus",
    "Progress",
    "ProgressFunction",
    "RationalNetwork",
    "RecessionDirection",
    "Shown",
    "TimeBudget",
    "accuracy",
    "boundedness",
    "check_rows",
    "declare",
    "deepest",
    "highest",
    "nearest_point",
    "negative",
    "null_space",
    "one_thread",
    "read_device",
    "read_layer",
    "read_outputs",
    "reduced",
    "refuse_left_off",
    "rounded_forward",
    "row_lengths",
    "share_done",
    "system",
    "whole_form",
]
