"""Reads models of every supported form as networks."""
