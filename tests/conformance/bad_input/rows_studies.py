"""reluscope.studies: what packages of studies build has no row; see the table."""

ROWS = {}
