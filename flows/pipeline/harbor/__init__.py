"""Exchange with Harbor: export and run scenarios as tasks, summarize and import jobs."""
