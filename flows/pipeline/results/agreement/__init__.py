"""Agreement of judges with labels, with one another and with themselves."""
