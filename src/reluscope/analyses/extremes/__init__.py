"""Extremes of a network over a domain: its largest value, and the region on which it is steepest."""
