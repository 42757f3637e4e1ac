"""Public names and commands that moved, with their new addresses, which errors give until version 0.3."""

from collections.abc import Sequence

# Old name without ``reluscope.`` -> what is written now.
MOVED = {
    "preimages.Kind": "reluscope.preimages.PreimageKind",
    "robustness.Norm": "reluscope.Norm",
    "studies.Verdict": "reluscope.studies.StatementVerdict",
    "boolean": "reluscope_studies.boolean",
    "annulus": "reluscope_studies.annulus",
    "stacked": "reluscope_studies.stacked",
    "plots.decision_polygon": "reluscope_studies.pictures.decision_polygon",
    "plots.decision_polytope": "reluscope_studies.pictures.decision_polytope",
    "plots.folding": "reluscope_studies.pictures.folding",
    "plots.pruning_curves": "reluscope_studies.pictures.pruning_curves",
    "compression.PruningCurve": "reluscope_studies.pruning.PruningCurve",
    "compression.SmallestSubnetworks": "reluscope_studies.pruning.SmallestSubnetworks",
    "compression.StochasticPruning": "reluscope_studies.pruning.StochasticPruning",
    "compression.prune_by_magnitude": "reluscope_studies.pruning.prune_by_magnitude",
    "compression.prune_channels": "reluscope_studies.pruning.prune_channels",
    "compression.prune_exhaustively": "reluscope_studies.pruning.prune_exhaustively",
    "compression.prune_stochastically": "reluscope_studies.pruning.prune_stochastically",
    "stability.CorrelationCounts": "reluscope_studies.lemmas.CorrelationCounts",
    "stability.Interlacing": "reluscope_studies.lemmas.Interlacing",
    "stability.RemovedRows": "reluscope_studies.lemmas.RemovedRows",
    "stability.correlation_counts": "reluscope_studies.lemmas.correlation_counts",
    "stability.lemma8": "reluscope_studies.lemmas.lemma8",
    "stability.lemma9": "reluscope_studies.lemmas.lemma9",
    "preimages.Comparison": "reluscope_studies.preimages.Comparison",
    "preimages.Error": "reluscope_studies.preimages.Error",
    "preimages.Omnidirectional": "reluscope_studies.preimages.Omnidirectional",
    "preimages.algorithm_1": "reluscope_studies.preimages.algorithm_1",
    "preimages.compare_with_algorithm_1": "reluscope_studies.preimages.compare_with_algorithm_1",
    "preimages.is_omnidirectional": "reluscope_studies.preimages.is_omnidirectional",
    "tropical.Interpolant": "reluscope_studies.interpolation.Interpolant",
    "tropical.error_upper": "reluscope_studies.interpolation.error_upper",
    "tropical.errors_at": "reluscope_studies.interpolation.errors_at",
    "tropical.interpolate": "reluscope_studies.interpolation.interpolate",
    "tropical.least_squares": "reluscope_studies.interpolation.least_squares",
    "plots.correlation_counts": "reluscope_studies.pictures.correlation_counts",
    "plots.boolean_direction": "reluscope_studies.pictures.boolean_direction",
    "bounds.activation_upper": "reluscope_studies.bounds.activation_upper",
    "bounds.arora_lower": "reluscope_studies.bounds.arora_lower",
    "bounds.central_arrangement": "reluscope_studies.bounds.central_arrangement",
    "bounds.expected_breakpoints": "reluscope_studies.bounds.expected_breakpoints",
    "bounds.hinz_upper": "reluscope_studies.bounds.hinz_upper",
    "bounds.maxout_serra_upper": "reluscope_studies.bounds.maxout_serra_upper",
    "bounds.maxout_single_layer": "reluscope_studies.bounds.maxout_single_layer",
    "bounds.montufar_lower": "reluscope_studies.bounds.montufar_lower",
    "bounds.montufar_upper": "reluscope_studies.bounds.montufar_upper",
    "bounds.naive_upper": "reluscope_studies.bounds.naive_upper",
    "bounds.pascanu_lower": "reluscope_studies.bounds.pascanu_lower",
    "bounds.product_upper": "reluscope_studies.bounds.product_upper",
    "bounds.serra_lower": "reluscope_studies.bounds.serra_lower",
    "bounds.serra_upper": "reluscope_studies.bounds.serra_upper",
    "bounds.zaslavsky": "reluscope_studies.bounds.zaslavsky",
    "codespace.count_distinct": "reluscope.codespace.distinct_codes",
    "codespace.count_distinct_by_class": "reluscope.codespace.distinct_codes",
    "preimages.of_class": "reluscope.preimages.of",
    "preimages.of_features": "reluscope.preimages.of",
    "preimages.of_polytope": "reluscope.preimages.of",
    "preimages.of_property": "reluscope.preimages.of",
    "preimages.approximate": "reluscope.preimages.of",
    "decision_surface": "reluscope.decision_boundary",
    "FoundRegions": "reluscope.regions",
    "find_regions": "reluscope.regions",
    "planes.map_norms": "reluscope.measure_regions",
    "sensitivity.cross_polytope_complexity": "reluscope.sensitivity.local_complexity",
    "sensitivity.jacobian_norms": "reluscope.coefficients.local_norms",
    "sensitivity.kink_density": "reluscope.sensitivity.local_complexity",
    "counting.count_lower_by_parity": "reluscope_studies.bounds.count_lower_by_parity",
    "tracking.Tracker": "reluscope.Tracker",
    "counting.count": "reluscope.count",
    "reachability.image": "reluscope.image",
    "reachability.reach": "reluscope.reach",
    "verification.verify": "reluscope.verify",
    "verification.violations": "reluscope.violations",
    "similarity.CodePartitions": "reluscope.similarity.compare",
    "similarity.variation_of_information": "reluscope.similarity.compare",
    "stability.jacobian_bytes": "reluscope.stability.spectra",
    "datasets.read_arrays": "reluscope.datasets.open_dataset",
    "studies.MAX_PICTURE_BYTES": "reluscope.extending.pictures.MAX_PICTURE_BYTES",
}

# Function and an argument that it no longer takes -> what is written now.
MOVED_ARGUMENTS = {
    ("partition", "certify"): "reluscope.certify(reluscope.partition(network, domain))",
    ("partition", "out"): "reluscope.stream(network, domain, path)",
    ("table", "box"): "domain=",
    ("activation_upper", "box"): "domain=",
    ("UnionOfPolyhedra.contains", "y"): "x=",
    ("Image.count", "y"): "x=",
    ("UnionOfPolyhedra.maximum", "c"): "direction=",
}

# Command -> distribution that it comes with.
MOVED_COMMANDS = {"boolean": "reluscope-studies"}

# Type without ``reluscope.`` -> what returns it, on whose page it is documented, and the module that defines it.
RETURNED = {
    "DecisionSurface": ("reluscope.decision_boundary", "reluscope.partitions.levels.decision_surfaces"),
    "Explorer": ("reluscope.explore", "reluscope.explorer.explorer"),
    "Facets": ("reluscope.Partition.facets", "reluscope.partitions.facets"),
    "Faces": ("reluscope.Partition.faces", "reluscope.partitions.faces.faces"),
    "GateValues": ("reluscope.Evaluation.gates", "reluscope.networks.point_evaluation"),
    "Neighbors": ("reluscope.neighbors", "reluscope.regions.neighbors"),
    "Ball": ("reluscope.Polyhedron.insphere", "reluscope.geometry.polyhedra.interior"),
    "bounds.BoundRow": ("reluscope.bounds.table", "reluscope.analyses.bounds.bounds_table"),
    "codespace.Adjacency": ("reluscope.codespace.adjacency", "reluscope.analyses.codespace.adjacency_metric"),
    "codespace.ClassFaces": ("reluscope.codespace.half_open", "reluscope.analyses.codespace.half_open_cells"),
    "codespace.ClassFacets": ("reluscope.codespace.half_open", "reluscope.analyses.codespace.half_open_cells"),
    "codespace.CodeClusters": ("reluscope.codespace.cluster", "reluscope.analyses.codespace.code_clusters"),
    "codespace.HalfOpenCell": ("reluscope.codespace.half_open", "reluscope.analyses.codespace.half_open_cells"),
    "compression.MapClusters": ("reluscope.compression.cluster_maps", "reluscope.analyses.compression.map_clusters"),
    "compression.PrunedNetwork": ("reluscope.compression.prune_exact", "reluscope.analyses.compression.pruning"),
    "compression.Removal": ("reluscope.compression.prune_exact", "reluscope.analyses.compression.removals"),
    "compression.UnitPieces": ("reluscope.compression.unit_pieces", "reluscope.analyses.compression.pieces_on_domain"),
    "local.ClassEnds": ("reluscope.local.last_of_class", "reluscope.analyses.local.class_ends"),
    "local.Hyperplanes": ("reluscope.local.hyperplanes", "reluscope.analyses.local.hyperplanes"),
    "local.LastOfClass": ("reluscope.local.last_of_class", "reluscope.analyses.local.class_ends"),
    "local.LikeliestPoints": ("reluscope.local.likeliest_in_regions", "reluscope.analyses.local.likeliest_points"),
    "local.PiecesAlong": ("reluscope.local.pieces_along", "reluscope.analyses.local.along"),
    "local.RegionFacets": ("reluscope.local.region_facets", "reluscope.analyses.local.facets_of_regions"),
    "planes.ClassAreas": ("reluscope.planes.class_areas", "reluscope.analyses.planes.class_areas"),
    "planes.ClassIntervals": ("reluscope.planes.class_intervals", "reluscope.analyses.planes.class_intervals"),
    "preimages.Check": ("reluscope.preimages.classify", "reluscope.analyses.preimages.kind_certificates"),
    "preimages.Farkas": ("reluscope.preimages.classify", "reluscope.analyses.preimages.kind_certificates"),
    "preimages.FullRank": ("reluscope.preimages.classify", "reluscope.analyses.preimages.kind_certificates"),
    "preimages.PositiveCombination": ("reluscope.preimages.classify", "reluscope.analyses.preimages.kind_certificates"),
    "preimages.RecessionDirection": ("reluscope.preimages.classify", "reluscope.analyses.preimages.kind_certificates"),
    "preimages.SecondPoint": ("reluscope.preimages.classify", "reluscope.analyses.preimages.kind_certificates"),
    "preimages.InvariantSet": ("reluscope.preimages.invariant_set", "reluscope.analyses.preimages.invariant_set"),
    "preimages.LocalInverse": ("reluscope.preimages.local_inverse", "reluscope.analyses.preimages.inverses"),
    "preimages.MixedSystem": ("reluscope.preimages.system", "reluscope.analyses.preimages.mixed_system"),
    "sensitivity.Saliency": ("reluscope.sensitivity.saliency", "reluscope.analyses.sensitivity.saliency_maps"),
    "similarity.Overlay": ("reluscope.similarity.overlay", "reluscope.analyses.similarity.overlays"),
    "similarity.CoefficientMaps": ("reluscope.similarity.coefficient_maps", "reluscope.analyses.similarity.mapping"),
    "similarity.Invariance": ("reluscope.similarity.METRICS", "reluscope.analyses.similarity.metric"),
    "similarity.Metric": ("reluscope.similarity.METRICS", "reluscope.analyses.similarity.metric"),
    "similarity.PairQuantity": ("reluscope.similarity.PAIR_QUANTITIES", "reluscope.analyses.similarity.tables"),
    "stability.PrefixMap": ("reluscope.stability.prefix_map", "reluscope.analyses.stability.prefix"),
    "surfaces.MergedPolygons": ("reluscope.surfaces.merge_coplanar", "reluscope.analyses.surfaces.merged_polygons"),
    "testing.ReferenceNetwork": ("reluscope.testing.reference_networks", "reluscope.testing.references"),
    "tropical.ExactCell": ("reluscope.tropical.pieces", "reluscope.analyses.tropical.rational_regions"),
    "tropical.MaxDifference": ("reluscope.tropical.to_module", "reluscope.analyses.tropical.to_module"),
    "tropical.NewtonPolygon": ("reluscope.tropical.newton_polygons", "reluscope.analyses.tropical.newton"),
    "tropical.NewtonPolygons": ("reluscope.tropical.newton_polygons", "reluscope.analyses.tropical.newton"),
    "tropical.Pieces": ("reluscope.tropical.pieces", "reluscope.analyses.tropical.piece_table"),
    "verification.Counterexample": ("reluscope.verification.replay", "reluscope.analyses.verification.verdict"),
    "verification.Verified": ("reluscope.verify", "reluscope.analyses.verification.verdict"),
}


def refuse_argument(function: str, name: str) -> None:
    """Raise TypeError with what is written now, if a function no longer takes an argument."""
    if now := MOVED_ARGUMENTS.get((function, name)):
        raise TypeError(f"{function}() takes no {name}= any more: write {now}")


def refuse(module: str, name: str, public: Sequence[str] = ()) -> AttributeError:
    """Return the error for a name that a public module lacks, with its new address or the public names."""
    asked = f"{module}.{name}".removeprefix("reluscope.")
    if asked in RETURNED:
        return AttributeError(f"{module}.{name} is no public name: {RETURNED[asked][0]} returns it and documents it")
    now = MOVED.get(asked)
    if now is None:
        others = f"; its public names are {', '.join(public)}." if public else ""
        return AttributeError(f"module {module!r} has no attribute {name!r}{others}")
    package = ", which comes with reluscope-studies" if now.startswith("reluscope_studies") else ""
    return AttributeError(f"{module}.{name} has moved: {now}{package}")
