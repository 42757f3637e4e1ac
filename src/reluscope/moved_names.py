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
}

# Command -> distribution that it comes with.
MOVED_COMMANDS = {"boolean": "reluscope-studies"}


def refuse(module: str, name: str, public: Sequence[str] = ()) -> AttributeError:
    """Return the error for a name that a public module lacks, with its new address or the public names."""
    now = MOVED.get(f"{module}.{name}".removeprefix("reluscope."))
    if now is None:
        others = f"; its public names are {', '.join(public)}." if public else ""
        return AttributeError(f"module {module!r} has no attribute {name!r}{others}")
    package = ", which comes with reluscope-studies" if now.startswith("reluscope_studies") else ""
    return AttributeError(f"{module}.{name} has moved: {now}{package}")
