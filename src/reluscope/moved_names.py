"""Public names that moved, with their new addresses, which an AttributeError gives until version 0.3."""

from collections.abc import Sequence

# Old name without ``reluscope.`` -> what is written now.
MOVED = {
    "preimages.Kind": "reluscope.preimages.PreimageKind",
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
    "plots.boolean_direction": "reluscope_studies.pictures.boolean_direction",
}


def refuse(module: str, name: str, public: Sequence[str] = ()) -> AttributeError:
    """Return the error for a name that a public module lacks, with its new address or the public names."""
    now = MOVED.get(f"{module}.{name}".removeprefix("reluscope."))
    if now is None:
        others = f"; its public names are {', '.join(public)}." if public else ""
        return AttributeError(f"module {module!r} has no attribute {name!r}{others}")
    package = ", which comes with reluscope-studies" if now.startswith("reluscope_studies") else ""
    return AttributeError(f"{module}.{name} has moved: {now}{package}")
