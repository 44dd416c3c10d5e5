"""What a paper's tables and figures are made from, and the folders that they are written to."""

from flows.pipeline.results.paper.files import summary_of, write_paper
from flows.pipeline.results.paper.gather import paper_results

__all__ = ["paper_results", "summary_of", "write_paper"]
