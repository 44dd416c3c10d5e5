"""Compose `conf/` and overrides into validated settings. The only package that uses Hydra."""
