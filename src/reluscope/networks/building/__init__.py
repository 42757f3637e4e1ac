"""How networks are put together: one module per family of operators, joined in ``networks/builder.py``."""
