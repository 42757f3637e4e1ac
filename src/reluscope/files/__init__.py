"""Files that are written whole, carry a digest, and are read without trust."""
