"""What a leaderboard's numbers rest on and don't say: all notes, and the main ones for a terminal."""

from flows.stages.notes.every import call_notes, notes, rule_of_three
from flows.stages.notes.main import main_notes

__all__ = ["call_notes", "main_notes", "notes", "rule_of_three"]
