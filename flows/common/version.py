"""The version of staffbench."""

__version__ = "0.1.0"
