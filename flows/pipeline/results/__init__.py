"""What was graded: read back, scored, written and shown."""
