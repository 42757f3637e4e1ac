"""Boolean functions and the smallest networks for them."""
