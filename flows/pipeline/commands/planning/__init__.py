"""`staffbench plan`: what a run would still call, at what price, and what it could show."""
