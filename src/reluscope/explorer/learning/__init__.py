"""Lessons: networks that are trained step by step while they are looked at."""
