"""Methods of the graph builder: one module per family of operators, joined in ``networks/building/builder.py``."""
