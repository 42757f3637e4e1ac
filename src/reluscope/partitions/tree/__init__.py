"""Regions by a tree of linear programs: any number of inputs, and probes of how many there are."""
