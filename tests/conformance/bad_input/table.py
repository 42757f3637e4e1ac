"""The table: rows of every namespace, and the classes whose objects only the library makes."""

from importlib import import_module

import reluscope as rs

ROOT = rs
_FILES = {"": "nouns", "plots.style": "plots_style"}

# Results: users read them, and build none. Their methods have rows like everything else, but for those that build them.
_RESULTS = """
    Ball Certificate Claim Codes DecisionBoundary Evaluation Explorer GateValues PointStatus
    Finding Finding.of Finding.estimate Findings Findings.of Neighbors Network Partition Region
    bounds.BoundRow codespace.Adjacency
    codespace.ClassFaces codespace.ClassFacets codespace.CodeClusters codespace.Embedding codespace.HalfOpenCell
    codespace.SampleCodes StreamedPartition coefficients.CoefficientMatrices
    compression.MapClusters compression.MergedRegions Finding.within
    compression.PrunedNetwork
    compression.Removal compression.UnitPieces
    datasets.Dataset DecisionSurface Faces Facets LevelSet
    planes.BoundaryCurve planes.ClassAreas planes.ClassIntervals
    similarity.Overlay local.PiecesAlong local.LikeliestPoints local.Directions local.RegionFacets local.Hyperplanes
    local.ClassEnds local.LastOfClass plots.RegionColors
    preimages.Approximation preimages.Check preimages.Farkas preimages.FullRank preimages.PositiveCombination
    preimages.RecessionDirection preimages.SecondPoint preimages.SameFeatures preimages.InvariantSet
    preimages.InputPieces preimages.LocalInverse Polyhedron.side Region.row_errors
    Region.is_whole_within Budget.first_is_due
    Partition.to_table Partition.to_pandas declare_region_quantity measure_regions
    preimages.Decider preimages.PreimageKind preimages.Preimages preimages.GateLayer
    preimages.MixedSystem preimages.PreimagePieces
    reachability.Cover reachability.Image reachability.ReachableSets
    sensitivity.ActiveSubspaces sensitivity.OutputAlong sensitivity.Saliency sensitivity.Trajectory
    similarity.CoefficientMaps similarity.Invariance similarity.Metric similarity.PairQuantity
    stability.PrefixMap
    stability.NetworkLayer
    surfaces.MergedPolygons tracking.Records
    tropical.ExactCell tropical.MaxDifference tropical.NewtonPolygon tropical.NewtonPolygons
    tropical.Pieces tropical.TropicalPolynomial tropical.TropicalRational testing.ReferenceNetwork
    verification.Counterexample verification.Proof verification.Verdict verification.Verified verification.Violations
"""
# What packages of studies hand to the command line; pyright is their reader.
_STUDIES = """
    studies.Film studies.Outcome studies.Picture studies.Record studies.Setting studies.Setting.wants studies.Study
    studies.Table studies.StatementVerdict
"""
# Methods that engines call in inner loops, and that read no arguments.
_ENGINES = """
    Norm.of Norm.check_inputs Norm.size Norm.steepest Norm.ball_sides Norm.size_of_ones Norm.stretch Norm.room
    Norm.size_of_tensor Norm.joined
"""
BUILT_BY_US = frozenset([*_RESULTS.split(), *_STUDIES.split(), *_ENGINES.split()])


def rows_of(namespace):
    """Return the rows of one namespace."""
    return import_module(f"conformance.bad_input.rows_{_FILES.get(namespace, namespace)}").ROWS
