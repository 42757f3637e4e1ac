"""Linear regions of points as convex bodies: inscribed balls and volumes."""
