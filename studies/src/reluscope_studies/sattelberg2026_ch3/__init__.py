"""Sattelberg 2026, chapter 3: small networks for Boolean functions."""
