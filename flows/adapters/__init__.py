"""Side effects: model providers, stores, files, MLflow and the clock."""
