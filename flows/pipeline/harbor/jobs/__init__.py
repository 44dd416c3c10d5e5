"""A finished Harbor job: its summary, its attempts as our tables, its reports graded anew."""
