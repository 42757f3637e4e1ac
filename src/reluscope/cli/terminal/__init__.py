"""Standard output and error, options that all commands share, files that they write, and how they end."""
