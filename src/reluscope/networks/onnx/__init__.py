"""From ONNX files to networks: files are read, brought to constants and nodes in float64, and lowered node by node."""
