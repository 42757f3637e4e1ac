"""The questions that the explorer answers, one module each."""
