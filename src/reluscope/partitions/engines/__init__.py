"""From what an engine found to a partition: one module for each kind of domain."""
