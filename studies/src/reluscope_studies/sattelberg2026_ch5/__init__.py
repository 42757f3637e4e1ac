"""Sattelberg 2026, chapter 5: networks as collections of affine maps, on XOR, on sine, and by hand."""
