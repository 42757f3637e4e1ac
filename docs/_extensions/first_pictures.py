"""The picture that each page about an analysis starts with: the one of a script in `docs/gallery/`."""

# Page of the guide -> the script whose picture it starts with.
FIRST_PICTURES = {
    "annulus": "tiny/decision_polytope",
    "boolean": "tiny/boolean_direction",
    "codespace": "codes/embedding",
    "coefficients": "inputs/coefficients",
    "compression": "networks/merged_regions",
    "counting": "counts/six_definitions",
    "discontinuous": "planes/jumping_plane",
    "explorer": "planes/plane_to_look_at",
    "forecasts": "planes/first_gates",
    "level_sets": "space/level_set_in_space",
    "local": "inputs/likeliest",
    "pictures": "planes/plane_by_class",
    "preimages": "planes/preimages_in_plane",
    "reachability": "verification/reached_outputs",
    "robustness": "inputs/distances",
    "sensitivity": "inputs/saliency",
    "similarity": "networks/similarity",
    "stability": "networks/spectra",
    "topology": "space/persistence",
    "tracking": "networks/training",
    "tropical": "tiny/newton_polygons",
    "verification": "verification/counterexample",
}
