"""Work on samples in blocks: which are looked at, and the loop that fills a table of findings."""
