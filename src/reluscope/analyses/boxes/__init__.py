"""Boxes of inputs: bounds of what is asked of the outputs on each, and how boxes are halved."""
