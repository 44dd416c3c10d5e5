"""What each subcommand does, `run` and `harbor` aside."""
