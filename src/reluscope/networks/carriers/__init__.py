"""What travels through a network: one module for each kind of number."""
