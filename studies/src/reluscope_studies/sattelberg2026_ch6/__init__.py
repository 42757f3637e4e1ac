"""Studies of the dissertation's chapter 6 on images: slices through images, linear coefficients, active subspaces."""
