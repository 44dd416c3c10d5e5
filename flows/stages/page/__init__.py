"""HTML pages that need nothing but the files beside them.

Text by models, judges and rubric authors is untrusted: it is escaped, invisible characters are made
visible, and every page has a Content-Security-Policy as a second line of defence. The libraries that sort
and filter tables and draw charts are `adapters/browser_libraries.py`'s.
"""
