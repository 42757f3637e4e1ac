"""What a network is made of: nodes, gates, input points, affine maps, and what was left off behind the output."""
