"""Names of array dimensions, in one place.

n inputs, m outputs, u units, k candidates of a max unit, h half-spaces, r regions, v vertices, f facets, s samples,
d dimensions of the domain. Array arguments are annotated ``Float[np.ndarray, "s n"]`` with these letters.
"""
