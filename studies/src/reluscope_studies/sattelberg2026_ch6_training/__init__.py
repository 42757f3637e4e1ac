"""Sattelberg 2026, section 6.2: how the regions of small networks move while they learn problems in the plane."""
