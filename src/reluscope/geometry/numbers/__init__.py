"""Powers of two, scaled rows, norms, shared resolutions, and linear equations in fractions."""
