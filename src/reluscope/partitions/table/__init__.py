"""The table of regions: codes, corners, neighbours, sizes, boundedness, and which region a point lies in."""
