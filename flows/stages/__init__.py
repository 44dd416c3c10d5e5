"""Pure functions, one module per stage, composed only by `flows.pipeline`."""
