"""Regions in rational arithmetic, and the certificates that they are all."""
