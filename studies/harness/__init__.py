"""The harness of all studies: tasks that are run once and stored, counts, estimates, reports."""
