"""staffbench: do language models make the determinations a competent staff would make?"""

__version__ = "0.1.0"
