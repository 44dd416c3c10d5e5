"""What the readers of several formats share."""
