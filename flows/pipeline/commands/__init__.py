"""The subcommands.

A command is a function that returns the exit code. It takes `project` (the folder that holds `conf/`),
`overrides` (Hydra's, such as the benchmark), `screen` (its output) and its own arguments, whose names and
meaning are those of `arguments.py`.
"""
