"""From PyTorch modules and exported programs to networks."""
