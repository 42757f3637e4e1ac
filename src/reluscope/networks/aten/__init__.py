"""Lowering of the operators of PyTorch graphs: one module per family, joined by one table."""
