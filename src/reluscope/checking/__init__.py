"""Checks of what the library claims, by code that shares nothing with what makes the claims."""
