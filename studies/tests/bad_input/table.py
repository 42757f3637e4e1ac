"""The table of papers' own objects: rows of every public module, and the classes whose objects no user makes."""

from importlib import import_module

import reluscope_studies

ROOT = reluscope_studies
NAMESPACES = reluscope_studies.OBJECTS
for one in NAMESPACES:
    import_module(f"reluscope_studies.{one}")

_RESULTS = """
    annulus.DecisionRegion annulus.FacetKind annulus.Orthogonality annulus.ShallowNetwork annulus.Shape
    annulus.Solution boolean.Construction boolean.HardFunction boolean.NpnClass boolean.Orderings boolean.ReachedStates
    boolean.SingleUnitState boolean.SmallestKnown boolean.SteadyState boolean.Swaps boolean.ThresholdTest
    interpolation.Interpolant lemmas.CorrelationCounts lemmas.Interlacing lemmas.RemovedRows preimages.Comparison
    preimages.Error preimages.Omnidirectional
    pruning.PruningCurve pruning.SmallestSubnetworks pruning.StochasticPruning stacked.LossFunction stacked.Stack
    stacked.Trained
"""
BUILT_BY_US = frozenset(_RESULTS.split())


def rows_of(namespace):
    """Return the rows of one public module."""
    return import_module(f"bad_input.rows_{namespace}").ROWS
