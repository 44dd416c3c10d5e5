"""The work of each stage for one scenario of one condition."""
