"""Pure functions, one module a stage. They meet only in `flows.pipeline`."""
