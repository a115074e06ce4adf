"""mechdesign."""
