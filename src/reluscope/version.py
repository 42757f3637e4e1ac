"""The version of the package, for whoever states it in what they write."""

__version__ = "0.1.0"
