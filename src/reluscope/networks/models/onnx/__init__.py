"""From ONNX files to networks."""
