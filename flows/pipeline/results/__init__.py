"""Stored results: loading, scoring, leaderboards and the site."""
