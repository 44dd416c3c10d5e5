"""Builders of .docx, .pdf and .xlsx files whose bytes depend on their sources alone."""
