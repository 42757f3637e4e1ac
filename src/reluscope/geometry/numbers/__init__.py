"""Powers of two, scaled rows, norms, and linear equations in fractions."""
