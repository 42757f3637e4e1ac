"""Pictures of codes of samples."""
