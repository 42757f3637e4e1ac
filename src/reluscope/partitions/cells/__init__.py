"""Cells with vertices of their own, cut gate by gate: several dimensions, bounded or not."""
