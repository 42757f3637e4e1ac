"""Commands that repeat what papers report."""
