"""Files that are written atomically, carry a digest, and are checked when they are read."""
