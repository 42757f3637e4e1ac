"""Pictures of space: polygons as pixels with exact depth, their edges as lines cut where something hides them."""
