"""The text of VNN-LIB files: expressions in parentheses, and tensors whose entries are variables."""
