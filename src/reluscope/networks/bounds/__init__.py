"""Bounds on all values of a network over a box of inputs, and the network as a mixed-integer program."""
