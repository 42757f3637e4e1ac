"""Studies of papers on the command line: runs, records, pages and comparisons."""
