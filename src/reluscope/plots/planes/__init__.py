"""Pictures of regions on lines and planes."""
