"""The picture that each page about an analysis starts with: the one of a script in `docs/gallery/`."""

# Page of the guide -> the script whose picture it starts with.
FIRST_PICTURES = {
    "annulus": "decision_polytope",
    "boolean": "boolean_direction",
    "codespace": "embedding",
    "coefficients": "coefficients",
    "compression": "merged_regions",
    "counting": "six_definitions",
    "discontinuous": "jumping_plane",
    "explorer": "plane_to_look_at",
    "forecasts": "first_gates",
    "level_sets": "level_set_in_space",
    "local": "likeliest",
    "pictures": "plane_by_class",
    "preimages": "preimages_in_plane",
    "reachability": "reached_outputs",
    "robustness": "distances",
    "sensitivity": "saliency",
    "similarity": "similarity",
    "stability": "spectra",
    "topology": "persistence",
    "tracking": "training",
    "tropical": "newton_polygons",
    "verification": "counterexample",
}
