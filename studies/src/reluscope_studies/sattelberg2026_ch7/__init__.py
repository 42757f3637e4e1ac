"""Studies of the dissertation's chapter 7: how few affine maps would do, and how similar networks are."""
