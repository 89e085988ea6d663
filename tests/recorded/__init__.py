"""Results recorded before the pipeline was rebuilt: see ``record.py``."""
