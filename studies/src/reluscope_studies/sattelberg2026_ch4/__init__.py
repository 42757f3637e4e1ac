"""Sattelberg 2026, chapter 4: how small networks tell a ball from the shell around it."""
