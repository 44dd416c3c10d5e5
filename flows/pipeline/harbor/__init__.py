"""Harbor beside us: jobs read and imported, scenarios exported as tasks and run there."""
