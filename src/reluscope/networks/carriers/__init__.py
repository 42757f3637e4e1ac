"""Kinds of numbers that travel through a network, one module for each."""
