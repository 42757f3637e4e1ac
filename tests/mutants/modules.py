"""Modules whose claims, rounding, intervals, seeds and budgets are put to the test, and the tests that belong to each.

The examples in a module's docstrings always belong to it. Selections are narrow: a fault should be seen in seconds.
"""

A, T = "analyses", "tests/analyses"

TESTS: dict[str, tuple[str, ...]] = {
    "networks/stages": ("tests/networks/test_stages.py", f"{T}/test_rounding_terms.py"),
    "networks/rounding": ("tests/networks/test_rounding.py", f"{T}/test_rounding_terms.py"),
    "networks/carriers/maps": ("tests/networks/test_slopes_along.py",),
    "networks/carriers/boxes": ("tests/networks/test_ranges.py",),
    "networks/evaluation": ("tests/networks/test_evaluation.py", "tests/networks/test_map_errors.py"),
    "regions/nearest": (
        "tests/regions/test_rounding_of_early_stages.py",
        "tests/regions/test_nearest.py",
        f"{T}/robustness/test_boundary.py",
    ),
    "budget": ("tests/test_budget.py",),
    "partitions/shown_regions": ("tests/partitions/test_shown_regions.py",),
    "geometry/convex_questions": ("tests/geometry/test_convex_questions.py",),
    "networks/rounded_forward": (f"{T}/test_rounding_terms.py", "tests/networks/test_rounded_forward.py"),
    f"{A}/inscribed_balls": (f"{T}/test_inscribed_balls.py",),
    f"{A}/classification/classes": (f"{T}/test_claims_of_points.py", f"{T}/test_classification.py"),
    f"{A}/classification/cross_entropy": (f"{T}/similarity/test_cross_entropies.py", f"{T}/test_cross_entropy.py"),
    f"{A}/regression": (f"{T}/test_claims_of_points.py", f"{T}/test_regression.py"),
    f"{A}/volumes": (f"{T}/test_claims_of_points.py", f"{T}/test_volumes.py"),
    f"{A}/annulus/region_radii": (f"{T}/annulus/test_region_radii.py",),
    f"{A}/bounds/activation": (f"{T}/bounds/test_activation_bound.py",),
    f"{A}/codespace/clusters": (f"{T}/codespace/test_clusters_and_embedding.py",),
    f"{A}/codespace/sampled": (f"{T}/codespace/test_distances_and_usage.py", f"{T}/codespace/test_distinct.py"),
    f"{A}/coefficients/norms": (
        f"{T}/test_claims_of_points.py",
        f"{T}/coefficients/test_local_maps.py",
        "tests/networks/test_map_errors.py",
    ),
    f"{A}/coefficients/margins": (f"{T}/coefficients/test_local_maps.py",),
    f"{A}/counting/segments": (f"{T}/test_segments.py",),
    f"{A}/local/shares": (f"{T}/local/test_shares.py",),
    f"{A}/preimages/region_distances": (f"{T}/preimages/test_region_distances.py",),
    f"{A}/robustness/within": (f"{T}/robustness/test_rounding_of_distances.py", f"{T}/robustness/test_within.py"),
    f"{A}/robustness/boundary": (f"{T}/robustness/test_rounding_of_distances.py", f"{T}/robustness/test_boundary.py"),
    f"{A}/robustness/quantities": (f"{T}/robustness/test_rounding_of_distances.py",),
    f"{A}/robustness/certified": (f"{T}/robustness/test_certified.py",),
    f"{A}/robustness/decision": (f"{T}/robustness/test_rounding_of_distances.py",),
    f"{A}/robustness/search": (f"{T}/robustness/test_search_frontier.py",),
    f"{A}/robustness/changes": (
        f"{T}/robustness/test_rounding_of_distances.py",
        f"{T}/robustness/test_decision.py::test_outputs_that_touch_do_not_count_and_equal_ones_go_to_the_lower",
        f"{T}/robustness/test_decision.py::test_outputs_that_touch_right_before_they_cross",
        f"{T}/robustness/test_decision.py::test_the_absolute_value_from_its_kink_and_beside_it",
    ),
    f"{A}/sensitivity/gradient_covariance": (f"{T}/sensitivity/test_gradient_covariance.py",),
    f"{A}/similarity/cross_entropies": (f"{T}/similarity/test_cross_entropies.py",),
    f"{A}/similarity/moments": (f"{T}/similarity/test_moments.py",),
    f"{A}/stability/measures": (f"{T}/test_stability_measures.py",),
    f"{A}/stability/jacobians": (f"{T}/test_stability_bounds.py", f"{T}/test_stability.py"),
    f"{A}/stability/spectra": (f"{T}/test_stability_bounds.py",),
    f"{A}/stability/singular_values": (f"{T}/test_stability_bounds.py", f"{T}/test_stability.py"),
    f"{A}/tracking/measurement": (f"{T}/tracking/test_measured_doubts.py", f"{T}/tracking/test_measured.py"),
    f"{A}/tropical/agreement": (f"{T}/tropical/test_agreement.py",),
}
