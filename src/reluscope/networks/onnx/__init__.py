"""What an ONNX file means for the builder: read, bring to constants and nodes in float64, lower one by one."""
