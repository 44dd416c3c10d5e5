"""MissionReport tasks on disk: Harbor task trees, their Parquet index, and what `validate` says of them."""
