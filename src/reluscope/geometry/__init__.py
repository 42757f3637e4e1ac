"""Polyhedra, domains, linear programs and splitting: geometry that knows no network."""
