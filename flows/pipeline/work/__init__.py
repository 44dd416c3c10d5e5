"""What each stage does for one scenario of one condition."""
