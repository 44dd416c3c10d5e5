"""The run itself: from overrides to a flow, its signals and what it shows."""
