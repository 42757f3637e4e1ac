"""The explorer on a page of this machine, in a notebook, and in a file."""
