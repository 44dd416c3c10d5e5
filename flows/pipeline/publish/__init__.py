"""A benchmark as a folder to publish."""
