"""The site and its figures, and the comparison of two conditions."""
