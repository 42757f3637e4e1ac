"""Operators that ONNX's reference evaluator lacks or gets wrong."""
