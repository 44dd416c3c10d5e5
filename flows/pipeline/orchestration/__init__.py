"""Prefect: its server, cached tasks and their records."""
