"""`conf/` and overrides to checked settings. The only package that knows Hydra."""
