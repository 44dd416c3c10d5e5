"""Documents laid out side by side."""

from concurrent.futures import ThreadPoolExecutor

from flows.adapters.pages import render


def render_all(paths, workers=2):
    """Lay out documents, each in its own LibreOffice; return them in order."""
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(render, paths))
