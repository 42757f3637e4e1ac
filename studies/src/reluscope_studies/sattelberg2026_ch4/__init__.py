"""Sattelberg 2026, chapter 4: how small networks separate a ball from the shell around it."""
