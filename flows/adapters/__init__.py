"""Everything that touches the world: model providers, stores, files, MLflow, the clock."""
