"""The subcommands other than `run` and `harbor`."""
