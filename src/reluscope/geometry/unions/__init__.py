"""Unions and differences of polyhedra: volumes, surfaces, and the object that answers for all of its members."""
