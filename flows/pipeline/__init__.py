"""Prefect flows and tasks. Composition only: the stages and adapters do the work."""
