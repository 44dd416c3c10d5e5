"""Scenarios, packets and tasks as they come in, checked."""
