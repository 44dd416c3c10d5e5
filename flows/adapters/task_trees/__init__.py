"""MissionReport tasks on disk: Harbor task trees, their Parquet index and validation."""
