"""What travels through a network, stage by stage: numbers, intervals, affine forms, derivatives, bounds on rounding."""
