"""Pictures of what is known of points and their regions."""
